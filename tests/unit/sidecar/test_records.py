"""Lines of JSONL: a bad one is named and does not stop the rest, and nothing of it is repeated."""

import asyncio
import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest import records
from retrieval_sidecar.ingest.lines import LONGEST_LINE
from retrieval_sidecar.ingest.passages import split
from retrieval_sidecar.ingest.records import Item, RecordBatch, read_records
from tests.support.pieces import pieces
from tests.support.small_organization import item

BERLIN, LOS_ANGELES = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles")


def line(external_id: str = "a", /, **changes: Any) -> str:
    return json.dumps(item(external_id, "Title", "Content.") | changes)


def read(content: str | bytes, zone: ZoneInfo = BERLIN) -> list[tuple[int, Item | InvalidRequest]]:
    async def entries() -> list[tuple[int, Item | InvalidRequest]]:
        raw = content.encode() if isinstance(content, str) else content
        return [
            (each.line, each.found)
            async for batch in read_records(pieces(raw, 65_536 if len(raw) > 10_000 else 7), zone)
            for each in batch.records
        ]

    return asyncio.run(entries())


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
def test_lines_are_read_and_numbered_whatever_ends_them(content: str, numbers: list[int]) -> None:
    entries = read(content)
    assert [number for number, _ in entries] == numbers
    assert [outcome(entry) for _, entry in entries] == ["a", "b"]


def test_a_line_separator_within_a_text_ends_no_line() -> None:
    raw = json.dumps(item("a", "Title", "One\u2028two\u0085three."), ensure_ascii=False)
    ((number, entry),) = read(raw)
    assert isinstance(entry, Item)
    assert (number, entry.content) == (1, "One\u2028two\u0085three.")


def test_an_empty_file_has_no_items() -> None:
    assert read("") == []


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
def test_a_line_that_is_not_json_is_named_by_number_and_the_rest_is_read(broken: bytes) -> None:
    entries = read(b"\n".join([line("a").encode(), broken, line("c").encode()]))
    assert [(number, outcome(entry)) for number, entry in entries] == [(1, "a"), (2, ["line"]), (3, "c")]


def test_broken_json_is_named_with_its_column() -> None:
    ((_, entry),) = read('{"title": }')
    assert isinstance(entry, InvalidRequest)
    assert "column 11" in entry.problems[0].message


def test_a_utf_16_file_is_refused_by_name() -> None:
    (first, *_) = read(line("a").encode("utf-16"))
    assert isinstance(first[1], InvalidRequest)
    assert [(problem.field, problem.message) for problem in first[1].problems] == [("line", "is not UTF-8")]


@pytest.mark.parametrize("other", ["[]", "null", "1", '"text"'])
def test_a_line_that_is_no_object_is_refused(other: str) -> None:
    assert outcome(read(other)[0][1]) == ["document"]


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
def test_what_is_wrong_is_named_by_field(changes: dict[str, Any], fields: list[str]) -> None:
    (_, entry), (_, after) = read(line("a", **changes) + "\n" + line("b"))
    assert outcome(entry) == fields
    assert outcome(after) == "b"


def test_nesting_that_postgresql_would_refuse_is_refused_here() -> None:
    deep = line("a")[:-1] + ', "note": ' + "[" * 900 + "]" * 900 + "}"
    assert outcome(read(deep)[0][1]) == ["note"]


def test_a_missing_field_is_named() -> None:
    assert outcome(read("{}")[0][1]) == [
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
    window: dict[str, str], zone: ZoneInfo, *, is_item: bool
) -> None:
    ((_, entry),) = read(line("a", **window), zone)
    assert isinstance(entry, Item) is is_item


def test_unknown_fields_are_kept_as_metadata() -> None:
    ((_, entry),) = read(line("a", langauge="ar", price={"amount": 3, "tags": [None, "x"]}))
    assert isinstance(entry, Item)
    assert entry.metadata == {"langauge": "ar", "price": {"amount": 3, "tags": [None, "x"]}}


@settings(max_examples=200)
@given(st.binary(max_size=80))
def test_any_bytes_are_lines_and_never_an_error(content: bytes) -> None:
    assert all(isinstance(entry, InvalidRequest) for _, entry in read(content))


def batches(content: bytes, *, start: int = 0) -> list[RecordBatch]:
    async def found() -> list[RecordBatch]:
        return [batch async for batch in read_records(pieces(content), BERLIN, start=start)]

    return asyncio.run(found())


def numbers(found: list[RecordBatch]) -> list[list[int]]:
    return [[record.line for record in batch.records] for batch in found]


def test_batches_are_bounded_by_lines_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = line("a"), line("b", content="x" * 1000)
    monkeypatch.setattr(records, "BATCH_LINES", 3)
    monkeypatch.setattr(records, "BATCH_BYTES", 3 * len(short))
    found = batches("\n".join([*[short] * 4, long, long, short]).encode())
    assert numbers(found) == [[1, 2], [3, 4], [5], [6], [7]]
    monkeypatch.setattr(records, "BATCH_BYTES", 10_000)
    found = batches("\n".join([*[short] * 4, long, long, short]).encode())
    assert numbers(found) == [[1, 2, 3], [4, 5, 6], [7]]
    assert [batch.is_last for batch in found] == [False, False, True]


def test_what_is_read_after_any_batch_is_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BATCH_LINES", 2)
    content = ("\ufeff" + line("a") + "\r\n\r\n{\n" + line("b") + "\n\n" + line("c") + "\n\n\n").encode()
    whole = batches(content)
    assert numbers(whole) == [[1], [3, 4], [6], []]
    assert whole[-1].end == len(content)
    for place, batch in enumerate(whole):
        rest = batches(content, start=batch.end)
        assert [each for each in numbers(rest) if each] == [each for each in numbers(whole[place + 1 :]) if each]
        assert (rest[-1].end, rest[-1].is_last) == (len(content), True)


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\n", b"\xef\xbb\xbf"])
def test_a_file_without_lines_is_one_empty_batch(content: bytes) -> None:
    ((records_found, end, is_last),) = [(each.records, each.end, each.is_last) for each in batches(content)]
    assert (list(records_found), end, is_last) == ([], len(content), True)


def test_a_line_that_is_too_long_is_refused_and_the_next_is_read() -> None:
    long = line("a", content="x" * LONGEST_LINE)
    (first, found), (second, after) = read(long + "\n" + line("b"))
    assert isinstance(found, InvalidRequest)
    assert [(each.field, each.message) for each in found.problems] == [
        ("line", "is longer than 4000000 bytes: make several items of it")
    ]
    assert (first, second, outcome(after)) == (1, 2, "b")


def test_the_longest_content_fits_a_line_in_any_script() -> None:
    raw = line("a", content="\u0639" * 500_000)
    assert len(raw) > 3_000_000
    assert outcome(read(raw)[0][1]) == "a"


SENTINEL = "xylophone"


@pytest.mark.parametrize(
    "broken",
    [
        "{" + SENTINEL,
        '{"title": "' + SENTINEL,
        '{"title": "\\' + SENTINEL + '"}',
        *(
            line(**{"external_id": SENTINEL} | {field: value})
            for field in ("title", "language", "region_code", "status", "visibility", "folder", "source_url")
            for value in (SENTINEL + " \x00", [SENTINEL], {SENTINEL: SENTINEL})
        ),
        *(line(valid_from=value) for value in (SENTINEL, "2026-13-45 " + SENTINEL, SENTINEL[:10].ljust(10, "x"))),
        line(valid_until="2026-01-31T18:00:00 " + SENTINEL),
        line(schedule={"mon": [[SENTINEL, "10:00"]]}),
        line(channels=[SENTINEL]),
        line(keywords=[[SENTINEL]]),
        line(note=SENTINEL + "\x00"),
    ],
)
def test_no_reason_repeats_what_stands_in_the_line(broken: str) -> None:
    ((_, found),) = read(broken)
    assert isinstance(found, InvalidRequest)
    assert SENTINEL[:9] not in "".join(problem.message for problem in found.problems)


def test_of_a_line_not_more_than_ten_problems_are_told() -> None:
    ((_, found),) = read(line(channels=["fax"] * 1000))
    assert isinstance(found, InvalidRequest)
    assert len(found.problems) == 10


def parsed(**changes: Any) -> Item:
    ((_, found),) = read(line(**changes))
    assert isinstance(found, Item)
    return found


def test_questions_and_answers_are_parts_of_the_text() -> None:
    found = parsed(
        title="Parking",
        question="Where can I\npark?",
        short_answer="In the garage.",
        content="The garage is under the house.",
        full_answer="You can park in the garage under the house, at any time.",
        keywords=["car", "garage", "parking lot"],
        source_context="Visitor guide, page 7",
        note="kept",
    )
    assert found.text == (
        "## Where can I park?\n\nIn the garage.\n\nThe garage is under the house.\n\n"
        "You can park in the garage under the house, at any time.\n\ncar, garage, parking lot\n\nVisitor guide, page 7"
    )
    assert found.metadata == {
        "question": "Where can I\npark?",
        "short_answer": "In the garage.",
        "full_answer": "You can park in the garage under the house, at any time.",
        "keywords": ["car", "garage", "parking lot"],
        "source_context": "Visitor guide, page 7",
        "note": "kept",
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"question": None, "keywords": []},
        {"question": " ", "keywords": ""},
        {"question": "Parking", "short_answer": "It costs three euros.", "keywords": "three euros"},
    ],
)
def test_what_is_said_already_is_not_said_again(changes: dict[str, Any]) -> None:
    content = "Parking here:  it is open.\n\nIt costs three euros. "
    assert parsed(title="Parking", content=content, **changes).text == content


def test_a_question_that_is_too_long_for_a_heading_is_a_paragraph() -> None:
    question = "Where " + "exactly " * 40 + "can I park?"
    assert parsed(question=question).text == f"{question}\n\nContent."


def test_every_passage_of_a_long_answer_is_embedded_with_its_question() -> None:
    answer = " ".join(f"Sentence {n} of the long answer says something." for n in range(100))
    found = parsed(question="Where can I park?", content=answer)
    passages = split(found.title, found.text)
    assert len(passages) > 2
    assert all("Where can I park?" in passage.embedded_text for passage in passages)


@pytest.mark.parametrize("language", ["en", "tlh", "xx"])
def test_any_code_of_a_language_is_one(language: str) -> None:
    assert parsed(language=language).language == language
