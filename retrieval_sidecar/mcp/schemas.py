"""The tools' arguments and answers as JSON Schema."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from contracts.model import ContractModel


class _AsOnTheWire(GenerateJsonSchema):
    """What may be left out is left out and never null, as everywhere in the contracts."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def schema_of(model: type[ContractModel]) -> dict[str, Any]:
    """The schema of a model, as it is read and written."""
    return model.model_json_schema(schema_generator=_AsOnTheWire)
