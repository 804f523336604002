"""The base of every generated contract model."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, from_json

_ENOUGH = 20  # faults of one body to name: nobody reads on, and a body of nulls has millions
# pydantic reads more than the document allows: UUIDs in braces, seconds since 1970, a space instead of the T.
_FORMATS = (
    (UUID, re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"), "must be a UUID with four hyphens"),
    (
        datetime,
        re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:]{8}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"),
        "must be a time as in RFC 3339, such as 2026-11-30T20:15:07Z",
    ),
)


class ContractModel(BaseModel):
    """A JSON object of a contract: exact fields, immutable, snake case here and camel case on the wire."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)

    @classmethod
    def from_wire(cls, body: bytes | str, *, unknown: Literal["forbid", "ignore"] = "forbid") -> Self:
        """Read JSON as strictly as the OpenAPI document does.

        Args:
            unknown: what becomes of fields that are not known here. A server forbids them; a client ignores them, for
                a server of a newer minor version may have added some.

        Beside what the fields say: they have the wire's names, no value is coerced from another type, a field may be
        left out but is never `null`, ids and times are written as the document's formats have them, and no string
        holds NUL, which PostgreSQL cannot store.

        Raises:
            pydantic.ValidationError: with the path of each field that does not fit.
        """
        parsed = _parsed(body)
        if errors := list(islice(_unstorable(parsed, ()), _ENOUGH)):
            raise ValidationError.from_exception_data(cls.__name__, errors, input_type="json")
        model = cls.model_validate_json(body, strict=True, extra=unknown, by_alias=True, by_name=False)
        if errors := _misformatted(parsed, model.model_dump(by_alias=True, exclude_unset=True), ()):
            raise ValidationError.from_exception_data(cls.__name__, errors, input_type="json")
        return model

    def to_wire(self) -> str:
        """Write JSON with the wire's names, leaving out what is absent."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


def _parsed(body: bytes | str) -> Any:
    try:
        return from_json(body)
    except ValueError:
        return {}  # the model's own parser reports broken JSON, with its place


def _unstorable(value: Any, path: tuple[str | int, ...]) -> Iterator[InitErrorDetails]:
    if value is None:
        rule = PydanticCustomError("null", "may be left out, but not null")
        yield InitErrorDetails(type=rule, loc=path, input=None)
    elif isinstance(value, str) and "\x00" in value:
        rule = PydanticCustomError("nul", "must not hold the character NUL")
        yield InitErrorDetails(type=rule, loc=path, input=None)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _unstorable(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unstorable(inner, (*path, index))


def _misformatted(written: Any, read: Any, path: tuple[str | int, ...]) -> list[InitErrorDetails]:
    if isinstance(read, dict):
        return [e for name, inner in read.items() for e in _misformatted(written[name], inner, (*path, name))]
    if isinstance(read, list):
        return [e for index, inner in enumerate(read) for e in _misformatted(written[index], inner, (*path, index))]
    return [
        InitErrorDetails(type=PydanticCustomError("format", rule), loc=path, input=None)
        for kind, pattern, rule in _FORMATS
        if isinstance(read, kind) and not pattern.fullmatch(written)
    ]
