"""An organization's files: a bad line is named and does not stop the rest."""

import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.organization_file import Item, OrganizationFile, read_items
from tests.support.small_organization import agent, item, organization

BERLIN, LOS_ANGELES = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles")


def line(external_id: str = "a", /, **changes: Any) -> str:
    return json.dumps(item(external_id, "Title", "Content.") | changes)


def read(path: Path, content: str | bytes, zone: ZoneInfo = BERLIN) -> list[tuple[int, Item | InvalidRequest]]:
    file = path / "items.jsonl"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_items(file, zone))


def outcome(entry: Item | InvalidRequest) -> str | list[str]:
    """The item's id, or the fields that are wrong."""
    return entry.external_id if isinstance(entry, Item) else [problem.field for problem in entry.problems]


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        pytest.param(line("a") + "\n" + line("b"), [1, 2], id="no line end at the end"),
        pytest.param(line("a") + "\r\n" + line("b") + "\r\n", [1, 2], id="CRLF"),
        pytest.param(line("a") + "\r" + line("b") + "\r", [1, 2], id="CR alone"),
        pytest.param("\n" + line("a") + "\n  \n\t\n" + line("b") + "\n\n", [2, 5], id="blank lines"),
        pytest.param("\ufeff" + line("a") + "\r\n" + line("b"), [1, 2], id="byte order mark"),
    ],
)
def test_lines_are_read_and_numbered_whatever_ends_them(tmp_path: Path, content: str, numbers: list[int]) -> None:
    entries = read(tmp_path, content)
    assert [number for number, _ in entries] == numbers
    assert [outcome(entry) for _, entry in entries] == ["a", "b"]


def test_a_line_separator_within_a_text_ends_no_line(tmp_path: Path) -> None:
    raw = json.dumps(item("a", "Title", "One\u2028two\u0085three."), ensure_ascii=False)
    ((number, entry),) = read(tmp_path, raw)
    assert isinstance(entry, Item)
    assert (number, entry.content) == (1, "One\u2028two\u0085three.")


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    assert read(tmp_path, "") == []


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"{", id="cut short"),
        pytest.param(b'{"external_id": "b",}', id="comma too many"),
        pytest.param(b"external_id,title", id="CSV"),
        pytest.param(line("b").encode()[:-1] + b', "note": "\xe9"}', id="Latin-1"),
        pytest.param(b"\x00", id="NUL byte"),
        pytest.param(b'{"n": ' + b"9" * 5000 + b"}", id="a number without end"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="nested without end"),
    ],
)
def test_a_line_that_is_not_json_is_named_by_number_and_the_rest_is_read(tmp_path: Path, broken: bytes) -> None:
    entries = read(tmp_path, b"\n".join([line("a").encode(), broken, line("c").encode()]))
    assert [(number, outcome(entry)) for number, entry in entries] == [(1, "a"), (2, ["line"]), (3, "c")]


def test_broken_json_is_named_with_its_column(tmp_path: Path) -> None:
    ((_, entry),) = read(tmp_path, '{"title": }')
    assert isinstance(entry, InvalidRequest)
    assert "column 11" in entry.problems[0].message


def test_a_utf_16_file_is_refused_by_name(tmp_path: Path) -> None:
    (first, *_) = read(tmp_path, line("a").encode("utf-16"))
    assert isinstance(first[1], InvalidRequest)
    assert [(problem.field, problem.message) for problem in first[1].problems] == [("line", "is not UTF-8")]


@pytest.mark.parametrize("other", ["[]", "null", "1", '"text"'])
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, other: str) -> None:
    assert outcome(read(tmp_path, other)[0][1]) == ["document"]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"language": "english"}, ["language"]),
        ({"language": "EN"}, ["language"]),
        ({"region_code": "Germany"}, ["region_code"]),
        ({"status": "live"}, ["status"]),
        ({"status": True}, ["status"]),
        ({"external_id": 3}, ["external_id"]),
        ({"external_id": ""}, ["external_id"]),
        ({"title": "x" * 1001}, ["title"]),
        ({"title": " \u200b"}, ["title"]),
        ({"content": " \n"}, ["content"]),
        ({"content": None}, ["content"]),
        ({"content": "x" * 500_001}, ["content"]),
        ({"visibility": "secret"}, ["visibility"]),
        ({"channels": ["fax"]}, ["channels.0"]),
        ({"folder": "upload:Price list"}, ["folder"]),
        ({"source_url": "javascript:alert(1)"}, ["source_url"]),
        ({"valid_from": "soon"}, ["valid_from"]),
        ({"valid_until": "2026-02-30"}, ["valid_until"]),
        ({"valid_until": "2026-01-31T18:00:00"}, ["valid_until"]),
        ({"schedule": {"someday": [["09:00", "10:00"]]}}, ["schedule"]),
        ({"schedule": {"mon": [["9", "10:00"]]}}, ["schedule"]),
        ({"schedule": {"mon": [["09:00"]]}}, ["schedule.mon.0.1"]),
        ({"title": "a\x00b"}, ["title"]),
        ({"note": {"deep": ["a\x00b"]}}, ["note"]),
        ({"no\x00te": 1}, ["no\x00te"]),
        ({"title": "\ud83d"}, ["title"]),
        ({"note": "\ud83d"}, ["note"]),
        ({"note": float("nan")}, ["note"]),
        ({"note": [float("inf")]}, ["note"]),
        ({"valid_from": "2026-02-01", "valid_until": "2026-01-31"}, ["valid_until"]),
        ({"language": "english", "status": "live"}, ["language", "status"]),
    ],
)
def test_what_is_wrong_is_named_by_field(tmp_path: Path, changes: dict[str, Any], fields: list[str]) -> None:
    (_, entry), (_, after) = read(tmp_path, line("a", **changes) + "\n" + line("b"))
    assert outcome(entry) == fields
    assert outcome(after) == "b"


def test_nesting_that_postgresql_would_refuse_is_refused_here(tmp_path: Path) -> None:
    deep = line("a")[:-1] + ', "note": ' + "[" * 900 + "]" * 900 + "}"
    assert outcome(read(tmp_path, deep)[0][1]) == ["note"]


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    assert outcome(read(tmp_path, "{}")[0][1]) == [
        "external_id", "title", "language", "region_code", "status", "content", "source_hash",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("window", "zone", "is_item"),
    [
        ({"valid_from": "2026-02-01", "valid_until": "2026-02-01"}, BERLIN, True),
        ({"valid_until": "9999-12-31"}, BERLIN, True),
        ({"valid_from": "0001-01-01", "valid_until": "9999-12-31"}, LOS_ANGELES, True),
        # Five in the morning in Greenwich is before the day begins in Los Angeles, and after it does in Berlin.
        ({"valid_from": "2026-02-01", "valid_until": "2026-02-01T05:00:00Z"}, BERLIN, True),
        ({"valid_from": "2026-02-01", "valid_until": "2026-02-01T05:00:00Z"}, LOS_ANGELES, False),
        ({"valid_from": "2026-02-01T05:00:00Z", "valid_until": "2026-02-01T05:00:00Z"}, BERLIN, False),
    ],
)
def test_a_window_must_be_open_for_some_time_in_the_organizations_zone(
    tmp_path: Path, window: dict[str, str], zone: ZoneInfo, *, is_item: bool
) -> None:
    ((_, entry),) = read(tmp_path, line("a", **window), zone)
    assert isinstance(entry, Item) is is_item


def test_unknown_fields_are_kept_as_metadata(tmp_path: Path) -> None:
    ((_, entry),) = read(tmp_path, line("a", langauge="ar", price={"amount": 3, "tags": [None, "x"]}))
    assert isinstance(entry, Item)
    assert entry.metadata == {"langauge": "ar", "price": {"amount": 3, "tags": [None, "x"]}}


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80))
def test_any_bytes_are_lines_and_never_an_error(tmp_path: Path, content: bytes) -> None:
    assert all(isinstance(entry, InvalidRequest) for _, entry in read(tmp_path, content))


def organization_file(path: Path, content: str | bytes | dict[str, Any]) -> OrganizationFile:
    if isinstance(content, dict):
        content = yaml.safe_dump(content)
    file = path / "organization.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return OrganizationFile.read(file)


def test_an_organization_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    plain = organization_file(tmp_path, organization())
    assert organization_file(tmp_path, b"\xef\xbb\xbf" + yaml.safe_dump(organization()).encode()) == plain


@pytest.mark.parametrize(
    ("content", "field"),
    [
        pytest.param("a: [", "organization.yaml", id="no YAML"),
        pytest.param(b"name: \xe9", "organization.yaml", id="no UTF-8"),
        pytest.param('name: "a\\0b"', "organization.yaml", id="NUL"),
        pytest.param("name: &a [*a]", "organization.yaml", id="holds itself"),
        pytest.param("!!python/name:os.system {}", "organization.yaml", id="a foreign tag"),
        pytest.param("", "document", id="empty"),
        pytest.param("[]", "document", id="a list"),
        pytest.param(organization(contacts=[{"phone": "555 0101", "name": "R"}]), "contacts.0.phone", id="not E.164"),
        pytest.param(organization(contacts=[{"phone": "+1555 5550101", "name": "R"}]), "contacts.0.phone", id="spaces"),
        pytest.param(organization(contacts=[{"phone": "+15550101", "name": "R"}]), "contacts.0.phone", id="local"),
        pytest.param(organization(agents=[agent("a", 1, "anonymous")]), "agents.0.numbers.0", id="number of an agent"),
        pytest.param(organization(agents=[agent("a", 1, "+15555550001", scope={})]), "agents.0.scope", id="misspelt"),
        pytest.param(
            organization(agents=[agent("a", 1, "+15555550001", knowledge_scope={"folders": ["Prices"]})]),
            "agents.0.knowledge_scope.KnowledgeSelection.folders.0",
            id="folder key",
        ),
        pytest.param(organization(knowledge_bases=[]), "knowledge_bases", id="no knowledge base"),
    ],
)
def test_a_wrong_organization_is_refused_by_field(tmp_path: Path, content: str | dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        organization_file(tmp_path, content)
    assert field in [problem.field for problem in raised.value.problems]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "UTC+3", "../etc/passwd"])
def test_only_a_time_zone_that_exists_is_one(tmp_path: Path, zone: str) -> None:
    document = organization()
    document["organization"]["time_zone"] = zone
    with pytest.raises(InvalidRequest) as raised:
        organization_file(tmp_path, document)
    assert [problem.field for problem in raised.value.problems] == ["organization.time_zone"]
