"""What every handler reads from a request: token, deadline, path and body, each checked against the contract."""

import re
from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError
from pydantic import ValidationError

from contracts.model import ContractModel
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.errors import FieldProblem, InvalidRequest, PayloadTooLarge, UnsupportedMedia

MAX_BODY_BYTES = 4 * 1024 * 1024  # a full batch of events, each of the longest text
_MAX_DEADLINE_MS = 60_000
# An answer is short however long the request was.
_MAX_PROBLEMS, _MAX_FIELD_NAME = 20, 200

Model = TypeVar("Model", bound=ContractModel)


def read_deadline(request: web.Request) -> Deadline:
    """From X-Deadline-Ms, or the longest there is."""
    values = request.headers.getall("X-Deadline-Ms", [])
    if not values:
        return Deadline.after(LONGEST_S)
    text = values[0]
    # int() also reads other scripts' digits, signs and underscores, which the contract does not allow.
    milliseconds = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if len(values) > 1 or not 1 <= milliseconds <= _MAX_DEADLINE_MS:
        raise InvalidRequest.of("X-Deadline-Ms", f"must be a whole number from 1 to {_MAX_DEADLINE_MS}")
    return Deadline.after(milliseconds / 1000)


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
    """The body as a contract model.

    Raises:
        InvalidRequest: naming each field, the first twenty of them.
        UnsupportedMedia, PayloadTooLarge, DeadlineExceeded: as they say.
    """
    if request.content_type != "application/json":
        raise UnsupportedMedia
    if (request.charset or "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMedia
    if request.query:
        raise InvalidRequest([FieldProblem(name, "is not a parameter") for name in dict.fromkeys(request.query)])
    try:
        async with deadline.enforced():
            body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise PayloadTooLarge(MAX_BODY_BYTES) from None
    except RequestPayloadError:
        raise InvalidRequest.of("body", "cannot be read as its Content-Encoding says") from None
    try:
        return model.from_wire(body)
    except ValidationError as error:
        raise InvalidRequest(_problems(error)) from None


def _problems(error: ValidationError) -> Sequence[FieldProblem]:
    return [
        FieldProblem(".".join(map(str, problem["loc"]))[:_MAX_FIELD_NAME] or "body", problem["msg"])
        for problem in error.errors(include_input=False, include_url=False, include_context=False)[:_MAX_PROBLEMS]
    ]
