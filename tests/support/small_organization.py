"""An organization as small as the tests of scope need: what each item is for stands in its id."""

from hashlib import sha256
from typing import Any
from uuid import UUID

ORGANIZATION_ID = UUID("11111111-1111-4111-8111-111111111111")
OPEN_NUMBER, SELECTED_NUMBER, EMPTY_NUMBER = "+15555550001", "+15555550002", "+15555550003"
MEMBER, STRANGER = "+15555550101", "+15555550102"


def organization(**changes: Any) -> dict[str, Any]:
    """What organization.yaml holds: an agent for everything, one for a selection, one whose selection is gone."""
    return {
        "organization": {
            "id": str(ORGANIZATION_ID),
            "name": "Harbour Shop",
            "time_zone": "Europe/Berlin",
            "default_language": "en",
            "default_region": "DE",
        },
        "segments": [{"key": "members", "name": "Members"}, {"key": "staff", "name": "Staff"}],
        "contacts": [
            {"phone": MEMBER, "name": "Robin Vale", "segments": ["members"]},
            {"phone": STRANGER, "name": "Kim Osei", "segments": []},
        ],
        "instruction_directories": [
            {"key": "root", "name": "Rules"},
            {"key": "nested", "name": "Returns", "parent": "root"},
        ],
        "instructions": [
            instruction("rule-returns", "nested", "Returns policy", "Offer a voucher when a return is late."),
            instruction("rule-dynamic", "root", "Tone of voice", "Be brief.", dynamic=True),
            instruction("rule-draft", "root", "Secret discount", "Zebra discount of ninety percent.", status="draft"),
        ],
        "knowledge_bases": [{"key": "main", "name": "Main"}, {"key": "other", "name": "Other"}],
        "agents": [
            agent("open", 1, OPEN_NUMBER),
            agent(
                "selected",
                2,
                SELECTED_NUMBER,
                instruction_scope={"directories": ["root"]},
                knowledge_scope={"items": ["parking"], "folders": ["upload:Prices"]},
            ),
            agent("empty", 3, EMPTY_NUMBER, instruction_scope={}, knowledge_scope={}),
        ],
    } | changes


def agent(key: str, number: int, phone: str, **changes: Any) -> dict[str, Any]:
    return {
        "key": key,
        "id": str(UUID(int=number, version=4)),
        "name": key,
        "numbers": [phone],
        "language": "en",
        "region": "DE",
        "greeting": "Hello.",
        "prompt": "You answer the phone of a shop.",
        "handoff_number": "+15555550999",
    } | changes


def instruction(key: str, directory: str, title: str, content: str, **changes: Any) -> dict[str, Any]:
    return {
        "key": key,
        "directory": directory,
        "title": title,
        "content": content,
        "language": "en",
        "status": "published",
    } | changes


def item(external_id: str, title: str, content: str, **changes: Any) -> dict[str, Any]:
    return {
        "external_id": external_id,
        "title": title,
        "content": content,
        "language": "en",
        "region_code": "DE",
        "status": "published",
        "source_hash": sha256(content.encode()).hexdigest(),
    } | changes


def items() -> list[dict[str, Any]]:
    """What items.jsonl holds."""
    return [
        item("parking", "Parking garage", "Parking in the garage costs three euros an hour."),
        item("voucher", "Gift voucher", "A gift voucher is sold at the counter.", folder="upload:Prices"),
        item("terminal", "Card terminal", "The card terminal opens with PIN-44-X.", base="other"),
        item("lounge", "Member lounge", "The lounge password is orchid.", segments=["members"]),
        item("staffroom", "Staff kitchen", "The kitchen password is walnut.", segments=["staff"]),
        item("draft", "Unicorn sale", "The unicorn sale begins soon.", status="draft"),
        item("internal", "Salary table", "The salary table is confidential.", visibility="internal"),
        item("chat", "Chat gimmick", "The chat gimmick is a dancing robot.", channels=["chat"]),
        item("expired", "Autumn discount", "The autumn discount is ten percent.", valid_until="2026-11-30"),
        item("future", "Spring catalogue", "The spring catalogue is printed.", valid_from="2027-03-01"),
        item("weekdays", "Repair desk", "The repair desk mends watches.", schedule={"tue": [["09:00", "17:00"]]}),
    ]
