"""Whether the calls did what they should: held against what was stored and what was heard, not what was meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from demo.evidence import Event, Evidence, StoredCall
from demo.held import Asked, HeldCall


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with what came of it; `faults` is empty when it did what it should."""

    asked: Asked
    events: tuple[Event, ...]
    faults: tuple[str, ...]


def judge(call: HeldCall, evidence: Evidence) -> tuple[list[Answered], list[str]]:
    """Each question with its faults, and the faults of the call as a whole."""
    stored = evidence.calls.get(call.call_id)
    faults = [call.trouble] if call.trouble else []
    if not call.greeting_heard:
        faults.append("nothing was heard after the call was answered")
    if call.planned.expect_greeting == "unknown_number":
        if stored is not None:
            faults.append("a session was opened for a number that no agent answers")
        if not call.ended_by_agent:
            faults.append("the call was not ended")
        return [], faults
    if stored is None:
        return [], [*faults, "no session was stored"]
    if stored.status != "completed":
        faults.append(f"the session's terminal status is {stored.status}")
    if len(call.asked) < len(call.planned.questions):
        faults.append(f"{len(call.planned.questions) - len(call.asked)} questions were not asked")
    return [
        Answered(asked, events, tuple(_faults(asked, events, evidence)))
        for asked, events in _by_question(call.asked, stored)
    ], faults


def agent_text(events: Iterable[Event]) -> str:
    """What the agent said, by the stored timeline."""
    return " ".join(
        str(event.data["text"]) for event in events if event.type == "turn" and event.data["role"] == "agent"
    )


def _by_question(asked: Sequence[Asked], stored: StoredCall) -> Iterable[tuple[Asked, tuple[Event, ...]]]:
    for index, each in enumerate(asked):
        until = asked[index + 1].spoken_from if index + 1 < len(asked) else None
        events = (event for event in stored.events if event.at >= each.spoken_from)
        yield each, tuple(event for event in events if until is None or event.at < until)


def _faults(asked: Asked, events: Sequence[Event], evidence: Evidence) -> Iterable[str]:
    question = asked.question
    if asked.heard_from is None:
        yield "no answer was heard"
    searches = [event for event in events if event.type == "kb.search"]
    if not searches:
        yield "nothing was searched"
    for event in searches[-1:]:
        if event.data["outcome"] != question.expect.status:
            yield f"the search came to {event.data['outcome']}, not {question.expect.status}"
        found = [evidence.external_ids.get(each, "?") for each in event.data["resultIds"]]
        if question.expect.external_id and found[:1] != [question.expect.external_id]:
            yield f"found {', '.join(found) or 'nothing'}, not {question.expect.external_id} first"
        if question.expect.status != "ok" and found:
            yield f"was given {', '.join(found)}"
    said = agent_text(events)
    yield from (f"{text!r} was not said" for text in question.hear if text not in said)
    yield from (f"{text!r} was said" for text in question.never_hear if text in said)
