"""What every handler reads from a request: token, deadline, path and body, each checked against the contract."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from aiohttp import web
from pydantic import ValidationError

from contracts.model import ContractModel
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.errors import FieldProblem, InvalidRequest, UnsupportedMedia

MAX_BODY_BYTES = 4 * 1024 * 1024  # a full batch of events, each of the longest text
_MAX_DEADLINE_MS = 60_000

Model = TypeVar("Model", bound=ContractModel)


def read_deadline(request: web.Request) -> Deadline:
    """From X-Deadline-Ms, or the longest there is."""
    values = request.headers.getall("X-Deadline-Ms", [])
    if not values:
        return Deadline.after(LONGEST_S)
    text = values[0]
    # int() also reads other scripts' digits, signs and underscores, which the contract does not allow.
    if len(values) > 1 or not (text.isascii() and text.isdigit()):
        raise _bad_deadline()
    milliseconds = int(text)
    if not 1 <= milliseconds <= _MAX_DEADLINE_MS:
        raise _bad_deadline()
    return Deadline.after(milliseconds / 1000)


def _bad_deadline() -> InvalidRequest:
    return InvalidRequest.of("X-Deadline-Ms", f"must be a whole number from 1 to {_MAX_DEADLINE_MS}")


def read_session_id(request: web.Request) -> UUID:
    text = request.match_info["sessionId"]
    try:
        parsed = UUID(text)
    except ValueError:
        parsed = None
    if parsed is None or str(parsed) != text.lower():
        raise InvalidRequest.of("sessionId", "must be a UUID")
    return parsed


async def read_body(request: web.Request, model: type[Model], deadline: Deadline) -> Model:
    """The body as a contract model. Raises InvalidRequest with each field, UnsupportedMedia or DeadlineExceeded."""
    if request.content_type != "application/json":
        raise UnsupportedMedia
    if (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMedia
    if request.query:
        raise InvalidRequest([FieldProblem(name, "is not a parameter") for name in request.query])
    async with deadline.enforced():
        body = await request.read()
    try:
        return model.from_wire(body)
    except ValidationError as error:
        raise InvalidRequest(_problems(error)) from None


def _problems(error: ValidationError) -> Sequence[FieldProblem]:
    return [
        FieldProblem(".".join(map(str, problem["loc"])) or "body", problem["msg"])
        for problem in error.errors(include_input=False, include_url=False, include_context=False)
    ]
