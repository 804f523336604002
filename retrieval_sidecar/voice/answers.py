"""From a search's outcome to the contract's answer and to its row in the search log."""

from typing import Any, Literal

from contracts.voice import Citation, PartIndex, SearchResponse, SearchResult, SearchTimings
from retrieval_sidecar.scope.resolve import SessionKey
from retrieval_sidecar.search.answer_text import answer_text, cut
from retrieval_sidecar.search.service import Found, Outcome
from retrieval_sidecar.text.redact import redact

MAX_CONTENT_CHARACTERS = 2000

Mode = Literal["all", "selected"]
_NOTHING: dict[str, dict[str, Any]] = {
    "no_match": {
        "reason_code": "no_relevant_knowledge",
        "message_key": "knowledge.no_match",
    },
    "restricted_empty": {
        "reason_code": "scope_empty",
        "message_key": "knowledge.scope_empty",
    },
    "ok": {},
}


def to_response(outcome: Outcome, *, has_parts: bool) -> SearchResponse:
    """The answer to a worker: nothing in it that was not given."""
    results = [_result(found, has_parts=has_parts) for found in outcome.results]
    return SearchResponse(
        search_id=outcome.search_id,
        status=outcome.status,
        **_NOTHING[outcome.status],
        instruction_mode=_mode(restricted=outcome.scope.instruction_keys is not None),
        knowledge_mode=_mode(restricted=outcome.scope.knowledge is not None),
        results=results,
        citations=[Citation(id=result.id, title=result.title, source_url=result.source_url) for result in results],
        answer_text=_answer(outcome),
        language=outcome.question.asked_in,
        degraded=outcome.degraded,
        cross_language_fallback=_is_cross_language(outcome),
        timings=SearchTimings(
            embed_ms=round(outcome.embed_ms, 1),
            search_ms=round(outcome.search_ms, 1),
            total_ms=round(outcome.total_ms, 1),
        ),
    )


def to_log_row(key: SessionKey, query: str, region: str, outcome: Outcome) -> dict[str, Any]:
    """What the search log keeps: ids, counts and times, and the query with what identifies a person taken out."""
    top = outcome.results[0].ranked if outcome.results else None
    return {
        "organization_id": key.organization_id,
        "search_id": outcome.search_id,
        "session_id": key.session_id,
        "at": outcome.scope.now,
        "query_redacted": redact(query),
        "language": outcome.question.asked_in,
        "region_code": region,
        "status": outcome.status,
        "result_count": len(outcome.results),
        "citation_count": len(outcome.results),
        "result_ids": [found.ranked.candidate.id for found in outcome.results],
        "top_score": top.score if top else None,
        "top_relevance": top.relevance if top else None,
        "cross_language_fallback": _is_cross_language(outcome),
        "degraded": outcome.degraded,
        "embed_ms": outcome.embed_ms,
        "search_ms": outcome.search_ms,
        "total_ms": outcome.total_ms,
    }


def _mode(*, restricted: bool) -> Mode:
    return "selected" if restricted else "all"


def _result(found: Found, *, has_parts: bool) -> SearchResult:
    candidate = found.ranked.candidate
    return SearchResult(
        type="instruction" if candidate.is_instruction else "knowledge",
        id=candidate.id,
        chunk_index=candidate.chunk_index,
        title=candidate.title,
        content=cut(candidate.content, MAX_CONTENT_CHARACTERS),
        source_url=candidate.source_url,
        language=candidate.language,
        score=round(found.ranked.score, 4),
        relevance=round(found.ranked.relevance, 4),
        parts=[PartIndex(part) for part in found.parts] if has_parts else None,
    )


def _is_cross_language(outcome: Outcome) -> bool:
    if not outcome.results:
        return False
    return outcome.results[0].ranked.candidate.language != outcome.question.asked_in


def _answer(outcome: Outcome) -> str | None:
    if not outcome.results:
        return None
    best = outcome.results[0].ranked.candidate
    return answer_text(
        best.content,
        question=outcome.question.text,
        language=best.language,
        asked_in=outcome.question.asked_in,
    )
