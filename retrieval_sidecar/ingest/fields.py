"""What the fields of an organization's files and of an import's lines may hold, and how a wrong one is named."""

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, ValidationError

from retrieval_sidecar.errors import FieldProblem
from retrieval_sidecar.knowledge.validity import open_minutes, start_of
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.text.normalize import for_embedding

_UTC = ZoneInfo("UTC")
_BEGINNING = 200  # characters: where most texts show already that they hold something
Hours = dict[str, list[tuple[str, str]]]


def _folder_key(value: str) -> str:
    if FolderKey.parse(value) is None:
        raise ValueError("must be a canonical folder key, such as upload:Price%20list")
    return value


def _visible(value: str) -> str:
    if not for_embedding(value[:_BEGINNING]) and not for_embedding(value):
        raise ValueError("must hold something visible")
    return value


def _moment(value: str) -> str:
    try:
        start_of(value, _UTC)
    except ValueError:
        # Not the library's own words, which repeat the value.
        raise ValueError(
            "must be a date, such as 2026-01-31, or a time with an offset, such as 2026-01-31T18:00:00+01:00"
        ) from None
    return value


def _hours(value: Hours) -> Hours:
    open_minutes(value)
    return value


Folder = Annotated[str, AfterValidator(_folder_key)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Region = Annotated[str, Field(pattern=r"^([A-Z]{2}|GLOBAL)$")]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=500_000), AfterValidator(_visible)]
Moment = Annotated[str, AfterValidator(_moment)]
WeeklyHours = Annotated[Hours, AfterValidator(_hours)]


def problems(error: ValidationError) -> list[FieldProblem]:
    """Each wrong field and what is allowed there; nothing of what stands there."""
    return [
        FieldProblem(".".join(map(str, problem["loc"])) or "document", problem["msg"].removeprefix("Value error, "))
        for problem in error.errors(include_input=False, include_url=False)
    ]
