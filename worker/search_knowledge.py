"""The tool `search_knowledge`: at most four seconds, and always words that the model can use."""

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

import structlog
from livekit.agents import RunContext, function_tool
from livekit.agents.llm import RawFunctionTool, RealtimeModel

from contracts import tracing
from contracts.voice import ErrorEvent, SearchEvent, SearchRequest, SearchResponse, SubQuestion
from worker import metrics
from worker.call import CallDeps
from worker.deadline import Clock, Deadline
from worker.errors import SidecarError
from worker.messages import line
from worker.prefetch import first_useful
from worker.question import LONGEST, MOST_PARTS, Question, Suggestion, read_question
from worker.search_guard import Search
from worker.sidecar_client import Attempts
from worker.text import language_of, storable
from worker.timeline import now
from worker.tool_output import Status, spoken_without_model, with_answer, without_answer
from worker.waiting import SearchLimits, while_waiting

NAME: Final = "search_knowledge"
_LONGEST_UTTERANCE: Final = 4000

Context: TypeAlias = RunContext[CallDeps]
KnowledgeTool: TypeAlias = RawFunctionTool[..., Any]

SCHEMA: Final = {
    "name": NAME,
    "description": (
        "Searches the organisation's own knowledge. It is your only source of facts: call it for"
        " every question about the organisation, its people, products, services, prices, codes,"
        " dates, opening hours, places, rules or procedures, before you answer, even if you think"
        " that you know, and again for each new question. Do not announce it. Not needed for"
        " greetings and thanks."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": (
                    "The caller's question in the caller's own language, complete in itself, in at"
                    f" most {LONGEST} characters. Keep names, codes and numbers as they were said; leave"
                    " out greetings and small talk."
                ),
            },
            "sub_questions": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MOST_PARTS,
                "description": (
                    "Only where the caller asked several things at once: each of them as a short question"
                    " that is complete in itself. Leave it out for a single question. Never read it aloud."
                ),
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Searched:
    """What became of one call of the tool."""

    status: Status
    output: str
    search_id: UUID | None = None
    result_ids: tuple[UUID, ...] = ()


def get_knowledge_tools(limits: SearchLimits | None = None, clock: Clock = monotonic) -> list[KnowledgeTool]:
    """The tools by which the agent reaches the knowledge; scope and session are the call's own."""
    bounds = limits or SearchLimits()

    @function_tool(raw_schema=SCHEMA)
    async def search_knowledge(raw_arguments: dict[str, object], ctx: Context) -> str:
        deps = ctx.userdata
        deadline = Deadline.after(bounds.total, clock)
        attempts = Attempts()
        searched = _Searched("aborted", without_answer("aborted", deps.language))
        try:
            with deps.turns.search(NAME) as span:
                searched = await _search(raw_arguments, ctx, bounds, deadline, attempts)
                span.set_attributes(_noted(deps, searched, attempts))
        except Exception:
            # a fault of ours must not reach the model as "an internal error occurred"
            log.exception("search_failed", session_id=str(deps.ids.session_id))
            searched = _unavailable(ctx)
        finally:
            # also where the call was torn down in the middle: one event for each call of the tool
            ms = (bounds.total - (deadline.at - clock())) * 1000
            _record(deps, searched, attempts, ms)
        return searched.output

    return [search_knowledge]


async def _search(
    arguments: dict[str, object],
    ctx: Context,
    limits: SearchLimits,
    deadline: Deadline,
    attempts: Attempts,
) -> _Searched:
    deps = ctx.userdata
    question = read_question(arguments, deps.language)
    if isinstance(question, Suggestion):
        log.info("search_arguments_refused", session_id=str(deps.ids.session_id), count=len(arguments))
        return _Searched("invalid_query", without_answer("invalid_query", deps.language, hint=question.text))
    noted = deps.guard.judge(ctx.speech_handle.id, question, deps.language)
    if noted == "unavailable":
        return _unavailable(ctx)
    if isinstance(noted, str):
        return _Searched(noted, without_answer(noted, deps.language))
    http_deadline = Deadline(deadline.at - (limits.total - limits.http), deadline.clock)
    request = _request(question, deps, _utterance(ctx))
    search = asyncio.create_task(_ask(deps, question, request, http_deadline, attempts))
    try:
        await while_waiting(search, ctx, limits, deadline)
        if search.done():
            return _answered(search, ctx, question, noted)
        if ctx.speech_handle.interrupted:
            return _Searched("aborted", without_answer("aborted", deps.language))
        noted.failed = True
        return _unavailable(ctx)
    finally:
        # closes the connection, by which the sidecar learns that nobody waits any more
        search.cancel()


async def _ask(
    deps: CallDeps, question: Question, request: SearchRequest, deadline: Deadline, attempts: Attempts
) -> SearchResponse:
    """What the search ahead has found, if there was one for this question; else ask now."""

    async def search() -> SearchResponse:
        return await deps.client.search(deps.ids.session_id, request, deadline, attempts)

    ahead = deps.prefetch.take(question) if deps.prefetch else None
    return await (first_useful(ahead, search) if ahead else search())


async def search_ahead(deps: CallDeps, question: Question) -> SearchResponse:
    """Search for what the caller said, before the model asks.

    Raises:
        SidecarError: when there is no answer.
    """
    request = _request(question, deps, question.query)
    with deps.turns.step("search_ahead"):
        return await deps.client.search(deps.ids.session_id, request, Deadline.after(SearchLimits().http), Attempts())


def _request(question: Question, deps: CallDeps, utterance: str | None) -> SearchRequest:
    return SearchRequest(
        org_id=deps.ids.org_id,
        agent_id=deps.ids.agent_id,
        query=question.query,
        utterance=utterance,
        sub_questions=[SubQuestion(part) for part in question.parts] or None,
        language=language_of(question.query, deps.asks_in),
        region_code=deps.region_code,
    )


def _answered(search: asyncio.Task[SearchResponse], ctx: Context, question: Question, noted: Search) -> _Searched:
    deps = ctx.userdata
    try:
        response = search.result()
    except SidecarError as error:
        log.warning("search_unavailable", session_id=str(deps.ids.session_id), code=error.code)
        noted.failed = True
        return _unavailable(ctx)
    deps.fallback.text = spoken_without_model(response, deps.language)
    return _Searched(
        response.status,
        with_answer(
            response, deps.language, question, person=deps.handoff.after(response.status, ctx.speech_handle.id)
        ),
        response.search_id,
        tuple(result.id for result in response.results),
    )


def _unavailable(ctx: Context) -> _Searched:
    deps = ctx.userdata
    deps.fallback.text = line("knowledge.unavailable", deps.language)
    person = deps.handoff.after("unavailable", ctx.speech_handle.id)
    return _Searched("unavailable", without_answer("unavailable", deps.language, person=person))


def _utterance(ctx: Context) -> str | None:
    """The caller's last words, if they are known yet: a code that the model dropped still counts for the keywords."""
    realtime = isinstance(ctx.session.llm, RealtimeModel)
    said = ctx.session.current_agent.realtime_llm_session.chat_ctx if realtime else ctx.session.history
    for message in reversed(said.messages()):
        if message.role == "user":
            return storable(message.text_content or "")[-_LONGEST_UTTERANCE:] or None
    return None


def _noted(deps: CallDeps, searched: _Searched, attempts: Attempts) -> dict[str, tracing.Value]:
    """What a trace says of a search; no attempts: it was answered ahead."""
    return {
        "answerline.session.id": str(deps.ids.session_id),
        "answerline.search.id": str(searched.search_id or ""),
        "answerline.search.status": searched.status,
        "answerline.search.results": len(searched.result_ids),
        "answerline.search.attempts": attempts.count,
    }


def _record(deps: CallDeps, searched: _Searched, attempts: Attempts, ms: float) -> None:
    ahead = "true" if searched.search_id and attempts.count == 0 else "false"
    metrics.note(metrics.SEARCHES, max(0.0, ms) / 1000, status=searched.status, ahead=ahead)
    log.info(
        "searched",
        session_id=str(deps.ids.session_id),
        outcome=searched.status,
        results=len(searched.result_ids),
        ms=round(ms),
        attempts=attempts.count,
    )
    if searched.status == "already_searched" or searched.status == "enough_searched":  # noqa: PLR1714 - mypy reads it
        # no search, and the contract has no outcome for it; the timeline should tell it all the same
        deps.timeline.add(ErrorEvent(id=uuid4(), at=now(), source="worker", code=searched.status))
        return
    deps.timeline.add(
        SearchEvent(
            id=uuid4(),
            at=now(),
            search_id=searched.search_id,
            outcome=searched.status,
            result_ids=list(searched.result_ids),
            ms=max(0.0, ms),
            attempts=attempts.count,
        )
    )
