"""The demo's organization holds together: what a file names exists, and every case is there."""

import hashlib
import json
import re
from collections import Counter
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

import phonenumbers
import pocketsphinx
import pytest
import yaml

SAMPLE = Path(__file__).parents[2] / "demo" / "sample"
# Fixed, so that the sample means the same in every year: it was written in 2026.
TODAY = date(2026, 12, 1)

Row = dict[str, Any]

REQUIRED = {
    "external_id", "title", "language", "region_code", "status", "content", "source_hash",
}  # fmt: skip
ITEM_FIELDS = REQUIRED | {
    "base", "folder", "visibility", "channels", "segments", "valid_from", "valid_until",
    "source_url",
}  # fmt: skip
# Facts that no item of another language states: an answer with them has crossed languages.
ONLY_IN = {
    "baby-room": "214",
    "blood-donation": "DK-7",
    "birth-course": "11:10",
    "guest-room": "22:30",
    "psychologist-russian": "15:20",
    "arabic-interpreter": "14:45",
    "halal-meals": "317",
    "visa-letter": "VL-88-S",
}


def _lines(name: str) -> list[Row]:
    return [json.loads(line) for line in (SAMPLE / name).read_text("utf-8").splitlines()]


def _yaml(name: str) -> Row:
    loaded: Row = yaml.safe_load((SAMPLE / name).read_text("utf-8"))
    return loaded


ORGANIZATION = _yaml("organization.yaml")
ITEMS = _lines("items.jsonl")
CALLS: list[Row] = _yaml("questions.yaml")["calls"]
EVAL = _lines("eval.jsonl")

BY_ID = {item["external_id"]: item for item in ITEMS}
AGENTS = {agent["key"]: agent for agent in ORGANIZATION["agents"]}
AGENT_OF_NUMBER = {n: agent for agent in AGENTS.values() for n in agent["numbers"]}
SEGMENTS_OF = {c["phone"]: set(c["segments"]) for c in ORGANIZATION["contacts"]}
QUESTIONS = [(call, question) for call in CALLS for question in call["questions"]]


def _keys(section: str) -> set[str]:
    keys = [row["key"] for row in ORGANIZATION[section]]
    assert len(keys) == len(set(keys))
    return set(keys)


def _day(item: Row, field: str) -> date | None:
    return date.fromisoformat(item[field][:10]) if item.get(field) else None


def _valid(item: Row) -> bool:
    start, last = _day(item, "valid_from"), _day(item, "valid_until")
    return (start is None or start <= TODAY) and (last is None or last >= TODAY)


def _may_hear(item: Row, agent: Row, caller: str | None) -> bool:
    scope = agent["knowledge_scope"]
    in_scope = scope == "all" or (
        item["external_id"] in scope["items"]
        or item.get("folder") in scope["folders"]
        or item.get("base", "clinic") in scope["bases"]
    )
    segments = set(item.get("segments", []))
    return (
        in_scope
        and item["status"] == "published"
        and item.get("visibility", "public") == "public"
        and "phone" in item.get("channels", ["phone"])
        and _valid(item)
        and (not segments or bool(segments & SEGMENTS_OF.get(caller or "", set())))
    )


def _is_canonical(folder: str) -> bool:
    kind, _, rest = folder.partition(":")
    parts = rest.split("/") if kind == "integration" else [rest]
    return (
        kind in {"website", "workflow", "upload", "integration"}
        and len(parts) == (2 if kind == "integration" else 1)
        and (bool(rest) or kind == "workflow")
        and all(quote(unquote(part), safe="") == part for part in parts)
    )


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["external_id"])
def test_item_is_well_formed(item: Row) -> None:
    assert item.keys() >= REQUIRED
    assert item.keys() <= ITEM_FIELDS
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item["external_id"])
    assert item["region_code"] in {"DE", "GLOBAL"}
    assert item["status"] in {"published", "draft"}
    assert item.get("visibility", "public") in {"public", "internal"}
    assert set(item.get("channels", ["phone"])) <= {"phone", "chat"}
    assert item.get("base", "clinic") in _keys("knowledge_bases")
    assert set(item.get("segments", [])) <= _keys("segments")
    assert "folder" not in item or _is_canonical(item["folder"])
    assert item["source_hash"] == hashlib.sha256(item["content"].encode()).hexdigest()
    assert 2 <= len(re.findall(r"[.!?؟](?=\s|$)", item["content"])) <= 8
    start, last = _day(item, "valid_from"), _day(item, "valid_until")
    assert start is None or last is None or start <= last


def test_items_cover_the_cases() -> None:
    assert len(ITEMS) >= 72
    assert len(BY_ID) == len(ITEMS)
    languages = Counter(item["language"] for item in ITEMS)
    assert languages.keys() == {"en", "ar", "ru", "kk"}
    assert languages["ar"] >= 8
    assert languages["ru"] >= 8
    assert languages["kk"] >= 2
    assert languages["en"] > len(ITEMS) / 2
    assert len({item["folder"] for item in ITEMS if "folder" in item}) >= 5
    assert sum(item.get("segments") == ["members"] for item in ITEMS) >= 4
    assert sum(item["status"] == "draft" for item in ITEMS) >= 3
    assert sum((_day(item, "valid_until") or TODAY) < TODAY for item in ITEMS) >= 3
    assert any((_day(item, "valid_from") or TODAY).year == 2031 for item in ITEMS)
    assert any(item.get("visibility") == "internal" for item in ITEMS)
    channels = {tuple(item["channels"]) for item in ITEMS if "channels" in item}
    assert channels >= {("chat",), ("phone", "chat")}
    assert {item.get("base", "clinic") for item in ITEMS} == _keys("knowledge_bases")


@pytest.mark.parametrize(("external_id", "fact"), ONLY_IN.items())
def test_fact_is_stated_in_one_language_only(external_id: str, fact: str) -> None:
    stated = BY_ID[external_id]
    assert stated["language"] in {"ar", "ru"}
    assert fact in stated["content"]
    others = [item for item in ITEMS if item["language"] != stated["language"]]
    assert not [item["external_id"] for item in others if fact in item["content"]]


@pytest.mark.parametrize("outdated", ["mri-knee-2024", "check-up-full-2024", "single-room-2024"])
def test_outdated_price_has_a_successor(outdated: str) -> None:
    old, new = BY_ID[outdated], BY_ID[outdated.removesuffix("-2024")]
    assert not _valid(old)
    assert _valid(new)
    old_price, new_price = (re.findall(r"€\d+", item["content"])[0] for item in (old, new))
    assert old_price != new_price
    still_said = [item for item in ITEMS if item is not old and old_price in item["content"]]
    assert not still_said


def test_organization_refers_to_what_exists() -> None:
    organization = ORGANIZATION["organization"]
    UUID(organization["id"])
    assert organization["language_fallbacks"] == {"kk": ["ru"], "uk": ["ru"]}
    segments, directories = _keys("segments"), _keys("instruction_directories")
    assert len(segments) >= 2
    assert {"members"} in SEGMENTS_OF.values()
    assert set() in SEGMENTS_OF.values()
    assert set().union(*SEGMENTS_OF.values()) <= segments
    parents = {row["key"]: row["parent"] for row in ORGANIZATION["instruction_directories"]}
    assert {parent for parent in parents.values() if parent} <= directories
    assert any(parents.values())
    assert any(parents[i["directory"]] for i in ORGANIZATION["instructions"])
    assert {i["directory"] for i in ORGANIZATION["instructions"]} <= directories
    assert {key for i in ORGANIZATION["instructions"] for key in i["segments"]} <= segments


def test_instructions_cover_the_cases() -> None:
    instructions = ORGANIZATION["instructions"]
    assert len(_keys("instructions")) >= 8
    assert [i["status"] for i in instructions if i["dynamic"]] == ["published"]
    assert sum(i["status"] == "draft" for i in instructions) == 1
    assert any(i["segments"] for i in instructions)


def test_agents_refer_to_what_exists() -> None:
    assert len({UUID(agent["id"]) for agent in AGENTS.values()}) == len(AGENTS) == 2
    folders = {item.get("folder") for item in ITEMS}
    for agent in AGENTS.values():
        assert agent["knowledge_mode"] == "search"
        instruction_scope, knowledge_scope = agent["instruction_scope"], agent["knowledge_scope"]
        if instruction_scope != "all":
            assert set(instruction_scope["instructions"]) <= _keys("instructions")
            assert set(instruction_scope["directories"]) <= _keys("instruction_directories")
        if knowledge_scope != "all":
            assert set(knowledge_scope["items"]) <= BY_ID.keys()
            assert set(knowledge_scope["folders"]) <= folders
            assert set(knowledge_scope["bases"]) <= _keys("knowledge_bases")
    assert AGENTS["front-desk"]["knowledge_scope"] == "all"
    reach = {i["external_id"] for i in ITEMS if _may_hear(i, AGENTS["pharmacy"], None)}
    assert len(reach) >= 10
    assert {BY_ID[external_id].get("base") for external_id in reach} == {"pharmacy"}


def test_numbers_are_e164_and_nobodys() -> None:
    owned = [
        *SEGMENTS_OF,
        *(n for a in AGENTS.values() for n in [*a["numbers"], a["handoff_number"]]),
    ]
    assert len(owned) == len(set(owned))
    for number in {*owned, *(call[end] for call in CALLS for end in ("called", "caller"))}:
        assert re.fullmatch(r"\+1555\d{7}", number)
        parsed = phonenumbers.parse(number)
        assert phonenumbers.is_possible_number(parsed)
        assert phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164) == number


@pytest.mark.parametrize(("call", "question"), QUESTIONS)
def test_question_can_be_answered_as_expected(call: Row, question: Row) -> None:
    agent, expect = AGENT_OF_NUMBER[call["called"]], question["expect"]
    reachable = [item for item in ITEMS if _may_hear(item, agent, call["caller"])]
    if expect["status"] == "ok":
        answer = BY_ID[expect["external_id"]]
        assert answer in reachable
        assert question["hear"]
        assert [fact for fact in question["hear"] if fact not in answer["content"]] == []
        if question["kind"] == "other_language":
            assert answer["language"] != agent["language"]
    else:
        assert expect == {"status": "no_match"}
        assert question["hear"] == []
    for secret in question["never_hear"]:
        assert [item for item in ITEMS if secret in item["content"]]
        assert not [item["external_id"] for item in reachable if secret in item["content"]]


def test_calls_cover_the_cases() -> None:
    assert 8 <= len(QUESTIONS) <= 9
    heard = {(q["kind"], q["expect"]["status"]) for _, q in QUESTIONS}
    assert heard == {
        ("plain", "ok"),
        ("exact_code", "ok"),
        ("other_language", "ok"),
        ("not_covered", "no_match"),
        ("members_only", "ok"),
        ("members_only", "no_match"),
        ("out_of_scope", "no_match"),
    }
    answered = {q["say"] for _, q in QUESTIONS if q["expect"]["status"] == "ok"}
    for call, question in QUESTIONS:
        if question["kind"] in {"members_only", "out_of_scope"}:
            # The same words get an answer in another call: what refuses is scope, not the sentence.
            assert question["say"] in answered
        if question["expect"]["status"] == "no_match" and question["kind"] == "members_only":
            assert call["caller"] not in SEGMENTS_OF
    silent = [call for call in CALLS if not call["questions"]]
    assert [call["expect_greeting"] for call in silent] == ["unknown_number"]
    assert silent[0]["called"] not in AGENT_OF_NUMBER


def test_questions_suit_a_grammar() -> None:
    sentences = {question["say"] for _, question in QUESTIONS}
    dictionary = Path(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"))
    known = {line.split(maxsplit=1)[0] for line in dictionary.read_text("utf-8").splitlines()}
    for sentence in sentences:
        assert re.fullmatch(r"[a-z]+( [a-z]+){4,11}", sentence)
        assert set(sentence.split()) <= known
    for one, other in combinations(sentences, 2):
        a, b = set(one.split()), set(other.split())
        assert len(a & b) / len(a | b) < 0.4


@pytest.mark.parametrize("row", EVAL, ids=lambda row: row["id"])
def test_evaluation_question_is_well_formed(row: Row) -> None:
    assert row.keys() == {"id", "text", "lang", "agent", "caller", "relevant", "kind"}
    assert row["caller"] is None or row["caller"] in SEGMENTS_OF
    agent = AGENTS[row["agent"]]
    for external_id in row["relevant"]:
        assert _may_hear(BY_ID[external_id], agent, row["caller"])
    refused = row["kind"] in {"not_covered", "near_miss", "out_of_scope", "draft"}
    assert row["kind"] == "members_only" or refused == (not row["relevant"])


def test_evaluation_set_covers_the_cases() -> None:
    assert len({row["id"] for row in EVAL}) == len(EVAL) == 60
    languages = Counter(row["lang"] for row in EVAL)
    assert languages.keys() == {"en", "ar", "ru", "kk"}
    assert languages["kk"] == 4
    assert min(languages["ar"], languages["ru"]) >= 9
    assert 13 <= sum(not row["relevant"] for row in EVAL) <= 17
    said = {question["say"] for _, question in QUESTIONS}
    assert not said & {re.sub(r"[^a-z ]", "", row["text"].lower()) for row in EVAL}
