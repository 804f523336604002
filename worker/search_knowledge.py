"""The tool `search_knowledge`: at most four seconds, and always words that the model can use."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

import structlog
from livekit.agents import RunContext, function_tool
from livekit.agents.llm import RawFunctionTool
from livekit.agents.voice import SpeechHandle

from contracts.voice import SearchEvent, SearchRequest, SearchResponse
from worker.call import CallDeps
from worker.deadline import Clock, Deadline
from worker.errors import SidecarError
from worker.messages import line
from worker.sidecar_client import Attempts
from worker.text import language_of, says_something, storable
from worker.timeline import now
from worker.tool_output import Outcome, with_answer, without_answer

NAME: Final = "search_knowledge"
_LONGEST_QUERY: Final = 500
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
                    " most 500 characters. Keep names, codes and numbers as they were said; leave"
                    " out greetings and small talk."
                ),
            }
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Seconds of the tool's wall clock.

    Attributes:
        total: until the model has its output, whatever happens.
        http: until the sidecar must have answered, retry included; less than `total`, so that one
            of the two decides.
        grace: what a nearly finished search still gets after the caller spoke: an "mm-hm" should
            not throw it away.
        filler: how long silence lasts before the caller is asked to wait.
    """

    total: float = 4.0
    http: float = 3.8
    grace: float = 0.7
    filler: float = 0.7


@dataclass(frozen=True, slots=True)
class _Searched:
    """What became of one call of the tool."""

    outcome: Outcome
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
            searched = await _search(raw_arguments, ctx, bounds, deadline, attempts)
        except Exception:
            # a fault of ours must not reach the model as "an internal error occurred"
            log.exception("search_failed", session_id=str(deps.ids.session_id))
            searched = _without_answer("unavailable", deps)
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
    query = _query(arguments)
    if query is None:
        log.info("search_arguments_refused", session_id=str(deps.ids.session_id), count=len(arguments))
        return _without_answer("invalid_query", deps)
    http_deadline = Deadline(deadline.at - (limits.total - limits.http), deadline.clock)
    request = SearchRequest(
        org_id=deps.ids.org_id,
        agent_id=deps.ids.agent_id,
        query=query,
        utterance=_utterance(ctx),
        language=language_of(query, deps.asks_in),
    )
    search = asyncio.create_task(deps.client.search(deps.ids.session_id, request, http_deadline, attempts))
    try:
        async with _filler(ctx, limits.filler):
            await _wait(search, ctx.speech_handle, deadline)
        if ctx.speech_handle.interrupted and not search.done():
            await asyncio.wait({search}, timeout=min(limits.grace, deadline.remaining()))
        if search.done():
            return _answered(search, deps)
        return _without_answer("aborted" if ctx.speech_handle.interrupted else "unavailable", deps)
    finally:
        # closes the connection, by which the sidecar learns that nobody waits any more
        search.cancel()


async def _wait(search: asyncio.Task[SearchResponse], speech: SpeechHandle, deadline: Deadline) -> None:
    """Return when the search is done, the caller has spoken, or nothing is left of the deadline."""
    done_or_late = asyncio.create_task(asyncio.wait({search}, timeout=deadline.remaining()))
    try:
        await speech.wait_if_not_interrupted([done_or_late])
    finally:
        done_or_late.cancel()


def _answered(search: asyncio.Task[SearchResponse], deps: CallDeps) -> _Searched:
    try:
        response = search.result()
    except SidecarError as error:
        log.warning("search_unavailable", session_id=str(deps.ids.session_id), code=error.code)
        return _without_answer("unavailable", deps)
    return _Searched(
        response.status,
        with_answer(response, deps.language),
        response.search_id,
        tuple(result.id for result in response.results),
    )


def _without_answer(outcome: Outcome, deps: CallDeps) -> _Searched:
    return _Searched(outcome, without_answer(outcome, deps.language))


def _query(arguments: dict[str, object]) -> str | None:
    """The question, or `None` where the arguments are anything else than one readable question."""
    query = arguments.get("query")
    if not isinstance(query, str) or len(arguments) != 1:
        return None
    query = storable(query).strip()
    return query if says_something(query) and len(query) <= _LONGEST_QUERY else None


def _utterance(ctx: Context) -> str | None:
    """The caller's last words: a code that the model dropped still counts for the keywords."""
    for message in reversed(ctx.session.history.messages()):
        if message.role == "user":
            return storable(message.text_content or "")[-_LONGEST_UTTERANCE:] or None
    return None


@contextlib.asynccontextmanager
async def _filler(ctx: Context, delay: float) -> AsyncIterator[None]:
    """Ask the caller to wait, once, after that much silence; nothing where nobody can hear it."""
    if ctx.session.output.audio is None:
        yield
        return
    wait = line("search.wait", ctx.userdata.language)

    def say(_step: int) -> SpeechHandle:
        return ctx.session.say(wait, add_to_chat_ctx=False)

    async with ctx.with_filler(say, delay=delay):
        yield


def _record(deps: CallDeps, searched: _Searched, attempts: Attempts, ms: float) -> None:
    deps.timeline.add(
        SearchEvent(
            id=uuid4(),
            at=now(),
            search_id=searched.search_id,
            outcome=searched.outcome,
            result_ids=list(searched.result_ids),
            ms=max(0.0, ms),
            attempts=attempts.count,
        )
    )
    log.info(
        "searched",
        session_id=str(deps.ids.session_id),
        outcome=searched.outcome,
        results=len(searched.result_ids),
        ms=round(ms),
        attempts=attempts.count,
    )
