"""The demo's verdict: a call that did not do what it should is told from one that did."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from demo.evidence import Event, Evidence, StoredCall
from demo.held import Asked, HeldCall
from demo.scenario import Expectation, PlannedCall, Question, Scenario
from demo.verdict import judge

START = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
QUESTION = Question(
    say="what is the code",
    kind="exact_code",
    expect=Expectation(status="ok", external_id="door"),
    hear=["LF-27-B"],
    never_hear=["MX-99-Z"],
)
PLANNED = PlannedCall(name="a call", called="+15555550100", caller="+15555550141", questions=[QUESTION])
ITEM = "00000000-0000-4000-8000-000000000001"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def held(**changes: Any) -> HeldCall:
    asked = Asked(question=QUESTION, spoken_from=at(5), spoken_until=at(7), heard_from=at(8), heard_until=at(12))
    call = HeldCall(planned=PLANNED, call_id="c", dialled_at=START, greeting_heard=True, asked=[asked])
    return call.model_copy(update=changes)


def turn(seconds: float, text: str) -> Event:
    return Event("turn", at(seconds), {"role": "agent", "text": text})


def searched(outcome: str = "ok", *ids: str) -> Event:
    return Event("kb.search", at(7.5), {"outcome": outcome, "resultIds": list(ids), "ms": 20})


def evidence(*events: Event, status: str = "completed") -> Evidence:
    stored = StoredCall(UUID(int=1), status, "caller_hung_up", {}, tuple(sorted(events, key=lambda event: event.at)))
    return Evidence({"c": stored}, {ITEM: "door"})


GOOD = (turn(1, "Hello."), searched("ok", ITEM), turn(8, "The code is LF-27-B."))


def faults(call: HeldCall, found: Evidence) -> list[str]:
    answered, of_call = judge(call, found)
    return of_call + [fault for each in answered for fault in each.faults]


def test_a_call_that_did_what_it_should_has_no_faults() -> None:
    assert faults(held(), evidence(*GOOD)) == []


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ((turn(8, "The code is LF-27-B."),), "nothing was searched"),
        ((searched("no_match"), turn(8, "LF-27-B")), "the search came to no_match, not ok"),
        ((searched("ok", "other"), turn(8, "LF-27-B")), "found ?, not door first"),
        ((searched("ok", ITEM), turn(8, "The code is secret.")), "'LF-27-B' was not said"),
        ((searched("ok", ITEM), turn(8, "LF-27-B or MX-99-Z")), "'MX-99-Z' was said"),
        ((searched("ok", ITEM), turn(1, "LF-27-B")), "'LF-27-B' was not said"),
    ],
)
def test_each_fault_is_named(events: tuple[Event, ...], fault: str) -> None:
    assert fault in faults(held(), evidence(*events))


@pytest.mark.parametrize(
    ("changes", "status", "fault"),
    [
        ({"greeting_heard": False}, "completed", "nothing was heard after the call was answered"),
        ({"asked": []}, "completed", "1 questions were not asked"),
        ({"trouble": "the line broke"}, "completed", "the line broke"),
        ({}, "lost", "the session's terminal status is lost"),
        ({"call_id": "unknown"}, "completed", "no session was stored"),
    ],
)
def test_faults_of_the_call_are_named(changes: dict[str, Any], status: str, fault: str) -> None:
    assert fault in faults(held(**changes), evidence(*GOOD, status=status))


def test_silence_is_a_fault() -> None:
    silent = held().asked[0].model_copy(update={"heard_from": None, "heard_until": None})
    assert "no answer was heard" in faults(held(asked=[silent]), evidence(*GOOD))


def test_what_may_not_be_found_may_not_be_given() -> None:
    question = QUESTION.model_copy(update={"expect": Expectation(status="no_match"), "hear": []})
    asked = held().asked[0].model_copy(update={"question": question})
    assert "was given door" in faults(held(asked=[asked]), evidence(*GOOD))


def test_a_number_that_nobody_answers_must_be_told_and_the_call_ended() -> None:
    planned = PLANNED.model_copy(update={"questions": [], "expect_greeting": "unknown_number"})
    nobody = Evidence({}, {})
    assert faults(held(planned=planned, asked=[], ended_by_agent=True), nobody) == []
    assert faults(held(planned=planned, asked=[]), nobody) == ["the call was not ended"]
    opened = replace(nobody, calls=evidence().calls)
    told = faults(held(planned=planned, asked=[], ended_by_agent=True), opened)
    assert told == ["a session was opened for a number that no agent answers"]


def test_the_samples_questions_can_be_read() -> None:
    scenario = Scenario.read()
    assert {question.kind for call in scenario.calls for question in call.questions} >= {
        "exact_code",
        "other_language",
        "not_covered",
        "members_only",
        "out_of_scope",
    }
    assert len(scenario.sentences()) == len(set(scenario.sentences()))
