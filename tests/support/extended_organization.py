"""The small organization with more of everything, and another organization beside it."""

from typing import Any
from uuid import UUID

from tests.support.small_organization import agent, instruction, item, items, organization

FOREIGN_ID = UUID("22222222-2222-4222-8222-222222222222")
FOREIGN_NUMBER = "+15555550900"
FOREIGN_AGENT = str(UUID(int=9, version=4))
GUIDED, TOLD, BOTH = "+15555550011", "+15555550012", "+15555550013"


def extended_organization() -> dict[str, Any]:
    """The small organization with an agent for each mix of modes and an instruction for members."""
    document = organization()
    instructions = {"instructions": ["rule-returns"], "directories": ["nested"]}
    knowledge = {"items": ["parking"], "folders": ["upload:Prices", "upload:Old%20prices"], "bases": ["other"]}
    document["agents"] += [
        agent("guided", 11, GUIDED, instruction_scope=instructions),
        agent("told", 12, TOLD, knowledge_scope=knowledge, region=None, language="ru", handoff_number=None),
        agent("both", 13, BOTH, instruction_scope=instructions, knowledge_scope=knowledge),
    ]
    document["instructions"] += [
        instruction("members-only", "root", "A word for members", "Thank them.", dynamic=True, segments=["members"]),
        instruction("dynamic-draft", "root", "Not yet", "Nothing.", dynamic=True, status="draft"),
    ]
    return document


def extended_items() -> list[dict[str, Any]]:
    return [
        *items(),
        item("old", "Old voucher", "The old voucher is void.", folder="upload:Old%20prices"),
        item("dial-de", "Service line", "The service line closes at noon.", region_code="DE"),
        item("dial-kz", "Service line", "The service line closes at noon.", region_code="KZ"),
        item(
            "link",
            "Opening hours",
            "The shop opens at nine. It closes at six.",
            source_url="https://shop.example/hours",
        ),
        item("russian", "Доставка", "Доставка по городу бесплатна.", language="ru"),
    ]


def foreign_organization() -> dict[str, Any]:
    identity = organization()["organization"] | {"id": str(FOREIGN_ID), "name": "Another shop"}
    foreign = agent("foreign", 9, FOREIGN_NUMBER)
    return organization(organization=identity, agents=[foreign], instructions=[], instruction_directories=[])


def foreign_items() -> list[dict[str, Any]]:
    return [item("secret", "Parking garage", "Parking in the other garage is free.")]
