"""The base of every generated contract model."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, from_json


class ContractModel(BaseModel):
    """A JSON object of a contract: exact fields, immutable, snake case here and camel case on the wire."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)

    @classmethod
    def from_wire(cls, body: bytes | str, *, unknown: Literal["forbid", "ignore"] = "forbid") -> Self:
        """Read JSON as strictly as the OpenAPI document does.

        Args:
            unknown: what becomes of fields that are not known here. A server forbids them; a client ignores them, for
                a server of a newer minor version may have added some.

        Beside what the fields say: no value is coerced from another type, a field may be left out but is never
        `null`, and no string holds NUL, which PostgreSQL cannot store.

        Raises:
            pydantic.ValidationError: with the path of each field that does not fit.
        """
        errors = list(_unstorable(_parsed(body), ()))
        if errors:
            raise ValidationError.from_exception_data(cls.__name__, errors, input_type="json")
        return cls.model_validate_json(body, strict=True, extra=unknown)

    def to_wire(self) -> str:
        """Write JSON with the wire's names, leaving out what is absent."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


def _parsed(body: bytes | str) -> Any:
    try:
        return from_json(body)
    except ValueError:
        return {}  # the model's own parser reports broken JSON, with its place


def _unstorable(value: Any, path: tuple[str | int, ...]) -> list[InitErrorDetails]:
    if value is None:
        rule = PydanticCustomError("null", "may be left out, but not null")
    elif isinstance(value, str) and "\x00" in value:
        rule = PydanticCustomError("nul", "must not hold the character NUL")
    elif isinstance(value, dict):
        return [e for name, inner in value.items() for e in _unstorable(inner, (*path, name))]
    elif isinstance(value, list):
        return [e for index, inner in enumerate(value) for e in _unstorable(inner, (*path, index))]
    else:
        return []
    return [InitErrorDetails(type=rule, loc=path, input=None)]
