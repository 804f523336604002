"""What the tools say of themselves is what they take and give."""

from uuid import UUID

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from contracts import management as wire
from retrieval_sidecar.management.keys import PERMISSIONS
from retrieval_sidecar.mcp.schemas import schema_of
from retrieval_sidecar.mcp.tools import TOOLS, UpdateArguments, _bounded, _without

AGENT, ITEM = UUID(int=1, version=4), UUID(int=2, version=4)
ETAG = f'"{"a" * 64}"'


@pytest.mark.parametrize("name", TOOLS)
def test_an_argument_may_be_left_out_and_is_never_null(name: str) -> None:
    tool = TOOLS[name]
    schema = schema_of(tool.arguments)
    assert "null" not in str(schema)
    assert tool.permission in PERMISSIONS
    for field in set(schema["properties"]) - set(schema.get("required", ())):
        given = {each: _good(each) for each in schema["required"]} if "required" in schema else {}
        assert Draft202012Validator(schema).is_valid(given)
        assert not Draft202012Validator(schema).is_valid(given | {field: None})


def _good(field: str) -> str:
    return {"etag": ETAG, "query": "parking"}.get(field, str(AGENT))


def test_only_the_lists_that_are_supplied_go_on() -> None:
    asked = UpdateArguments(agent_id=AGENT, etag=ETAG, knowledge_item_ids=[ITEM], instruction_ids=[])
    body = _without(asked, wire.KnowledgeSourcesRequest)
    assert body.to_wire() == f'{{"instruction_ids":[],"knowledge_item_ids":["{ITEM}"]}}'


@pytest.mark.parametrize("many", [200, 201])
def test_what_is_given_back_is_bounded_and_says_so(many: int) -> None:
    folder = wire.FolderSummary(key="upload:a", name="a", item_count=0, is_selected=True, selected_item_count=0)
    sources = wire.KnowledgeSources(
        instruction_scope=wire.InstructionScope(mode="all", instruction_ids=[], directory_ids=[]),
        knowledge_scope=wire.KnowledgeScope(mode="selected", item_ids=[ITEM] * 500, folder_keys=[]),
        directories=[],
        folders=[folder] * many,
    )
    bounded = _bounded(sources, ETAG)
    assert len(bounded.folders) == 200
    assert (bounded.has_more_folders, bounded.has_more_directories) == (many > 200, False)
    assert len(bounded.knowledge_scope.item_ids) == 500, "an editor must see all that it might drop"


def test_an_etag_is_no_header_of_ones_own() -> None:
    with pytest.raises(ValidationError):
        UpdateArguments(agent_id=AGENT, etag=f"{ETAG}\r\nX-API-Key: x", knowledge_item_ids=[])
