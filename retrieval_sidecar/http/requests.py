"""What handlers read from a request, each part checked against the contract."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError
from pydantic import ValidationError

from contracts.model import ContractModel
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.errors import FieldProblem, InvalidRequest, PayloadTooLarge, UnsupportedMedia

# An answer is short however long the request was.
_MAX_PROBLEMS, _MAX_FIELD_NAME = 20, 200

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

Model = TypeVar("Model", bound=ContractModel)


@dataclass(frozen=True, slots=True)
class Window:
    """From when, included, until when, excluded; None where the address does not say."""

    begin: datetime | None
    end: datetime | None


def read_id(request: web.Request, name: str) -> UUID:
    """The id that stands in the path under this name. Raises InvalidRequest."""
    return _uuid(name, request.match_info[name])


def read_id_parameter(request: web.Request, name: str) -> UUID | None:
    """The id that the address asks for under this name; None where it does not. Raises InvalidRequest."""
    return _uuid(name, request.query[name]) if name in request.query else None


def read_choice(request: web.Request, name: str, choices: Sequence[str]) -> str | None:
    """The one of these that the address asks for under this name; None where it does not. Raises InvalidRequest."""
    chosen = request.query.get(name)
    if chosen is not None and chosen not in choices:
        raise InvalidRequest.of(name, f"must be one of: {', '.join(choices)}")
    return chosen


def read_time_parameter(request: web.Request, name: str) -> datetime | None:
    """The time that the address asks for under this name; None where it does not. Raises InvalidRequest."""
    if name not in request.query:
        return None
    text = request.query[name]
    try:
        time = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
        if time is not None:
            time.astimezone(UTC)  # a time at the ends of what there is may have none
    except (ValueError, OverflowError):
        time = None
    if time is None:
        raise InvalidRequest.of(name, "must be a time with its offset (RFC 3339), such as 2026-12-01T08:00:00Z")
    return time


def read_window(request: web.Request) -> Window:
    """What `from` and `to` of the address say. Raises InvalidRequest."""
    begin, end = read_time_parameter(request, "from"), read_time_parameter(request, "to")
    if begin is not None and end is not None and begin >= end:
        raise InvalidRequest.of("to", "must be later than from")
    return Window(begin, end)


def _uuid(name: str, text: str) -> UUID:
    try:
        parsed = UUID(text)
    except ValueError:
        parsed = None
    if parsed is None or str(parsed) != text.lower():
        raise InvalidRequest.of(name, "must be a UUID")
    return parsed


def refuse_parameters(request: web.Request, *known: str) -> None:
    """Raise InvalidRequest for what the address asks beside these, and for one of these that is asked twice."""
    unknown = [
        FieldProblem(name[:_MAX_FIELD_NAME], "is not a parameter") for name in request.query if name not in known
    ]
    twice = [FieldProblem(name, "may be given once") for name in known if len(request.query.getall(name, [])) > 1]
    if problems := dict.fromkeys(unknown + twice):
        raise InvalidRequest(list(problems)[:_MAX_PROBLEMS])


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
    refuse_parameters(request)
    try:
        async with deadline.enforced():
            body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise PayloadTooLarge(request.client_max_size) from None
    except RequestPayloadError:
        raise InvalidRequest.of("body", "cannot be read as its Content-Encoding says") from None
    try:
        return model.from_wire(body)
    except ValidationError as error:
        raise InvalidRequest(field_problems(error)) from None


async def read_change(request: web.Request, model: type[Model], deadline: Deadline) -> dict[str, Any]:
    """What a body says of some fields of a thing, by their names here; at least one. Raises as `read_body` does."""
    wanted = (await read_body(request, model, deadline)).model_dump(exclude_unset=True)
    if not wanted:
        raise InvalidRequest.of("body", f"must hold one or more of: {', '.join(model.model_fields)}")
    return wanted


def field_problems(error: ValidationError) -> Sequence[FieldProblem]:
    """What does not fit, without what was sent: the first twenty."""
    return [
        FieldProblem(".".join(map(str, problem["loc"]))[:_MAX_FIELD_NAME] or "body", problem["msg"])
        for problem in error.errors(include_input=False, include_url=False, include_context=False)[:_MAX_PROBLEMS]
    ]
