"""From what there is to what the contract says of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from contracts import management as wire
from retrieval_sidecar.management.audit import Entry
from retrieval_sidecar.search.answer_text import cut
from retrieval_sidecar.search.ranking import Ranked
from retrieval_sidecar.search.relevance import GIVEN, GIVEN_BY_WORDS
from retrieval_sidecar.search.service import Outcome
from retrieval_sidecar.search.withheld import NotGiven, Reason
from retrieval_sidecar.sources.bases import Base
from retrieval_sidecar.sources.sources import Rejection, Run, Source, SourcePassage

_MAX_AGENTS = 100
_MAX_TEXT = 2000

Origin = tuple[UUID, UUID, str]
"""The base, the source and its name."""


def to_base(base: Base) -> wire.KnowledgeBase:
    return wire.KnowledgeBase(
        id=base.base_id,
        name=base.name,
        owner_type=base.owner_type,
        team_id=base.owner_id if base.owner_type == "team" else None,
        published=base.for_agents,
        source_count=base.sources,
        item_count=base.items,
        chunk_count=base.passages,
        characters=base.characters,
        agent_count=len(base.agents),
        agents=[wire.AgentReference(id=each.agent_id, name=each.name) for each in base.agents[:_MAX_AGENTS]],
    )


def to_source(source: Source, rejections: Sequence[Rejection] | None = None) -> wire.Source:
    return wire.Source(
        id=source.source_id,
        kb_id=source.base_id,
        kind=source.kind,
        name=source.name,
        url=source.url,
        content_type=source.content_type,
        size=source.size_bytes,
        status=source.status,
        is_searchable=source.is_searchable,
        error=source.error,
        error_code=source.error_code,
        item_count=source.items,
        chunk_count=source.passages,
        characters=source.characters,
        created_at=_utc(source.created_at),
        created_by=source.created_by,
        processed_at=_utc(source.processed_at) if source.processed_at else None,
        reading=to_reading(source.run, rejections) if source.run else None,
    )


def to_reading(run: Run, rejections: Sequence[Rejection] | None = None) -> wire.Reading:
    return wire.Reading(
        status=run.status,
        started_at=_utc(run.started_at),
        ended_at=_utc(run.ended_at) if run.ended_at else None,
        lines_read=run.lines_read,
        created=run.created,
        updated=run.updated,
        unchanged=run.unchanged,
        rejected=run.rejected,
        texts_embedded=run.texts_embedded,
        texts=run.texts,
        rejections=None
        if rejections is None
        else [wire.Rejection(line=each.line, field=each.field, reason=each.reason) for each in rejections],
    )


def to_passage(passage: SourcePassage) -> wire.Passage:
    return wire.Passage(
        item_id=passage.item_id,
        chunk_index=passage.position[1],
        title=passage.title,
        heading=passage.heading or None,
        language=passage.language,
        text=cut(passage.content, _MAX_TEXT),
    )


def to_search(outcome: Outcome, origins: Mapping[UUID, Origin], limit: int) -> wire.SearchResponse:
    """What a call would be given, in its order; then what came near, as far as there is room."""
    given = [found.ranked for found in outcome.results]
    ids = {each.candidate.passage_id for each in given}
    rest = [each for each in outcome.considered if each.candidate.passage_id not in ids]
    # An item that was deleted since has no origin any more.
    results = [
        _result(each, origins, relevant=relevant)
        for ranking, relevant in ((given, True), (rest, False))
        for each in ranking
        if each.candidate.is_instruction or each.candidate.id in origins
    ]
    return wire.SearchResponse(
        status=outcome.status,
        results=results[:limit],
        degraded=outcome.degraded,
        min_score=GIVEN,
        latency_ms=round(outcome.total_ms, 1),
        embed_ms=round(outcome.embed_ms, 1),
        search_ms=round(outcome.search_ms, 1),
    )


def to_trial(
    outcome: Outcome, not_given: Sequence[NotGiven], origins: Mapping[UUID, Origin], explain_ms: float | None
) -> wire.TrialResponse:
    """What a call would be given, in its order; then what it would not.

    Args:
        explain_ms: how long it took to find what was not searched; None where that was given up.
    """
    told = [(found.ranked, None) for found in outcome.results]
    return wire.TrialResponse(
        status=outcome.status,
        language=outcome.question.asked_in,
        instruction_mode="all" if outcome.scope.instruction_keys is None else "selected",
        knowledge_mode="all" if outcome.scope.knowledge is None else "selected",
        results=[
            _trial_result(ranked, origins, reasons)
            for ranked, reasons in (*told, *((each.ranked, each.reasons) for each in not_given))
            if ranked.candidate.is_instruction or ranked.candidate.id in origins
        ],
        is_complete=explain_ms is not None,
        degraded=outcome.degraded,
        min_score=GIVEN,
        min_score_by_keyword=GIVEN_BY_WORDS,
        embed_ms=round(outcome.embed_ms, 1),
        search_ms=round(outcome.search_ms, 1),
        latency_ms=round(outcome.total_ms, 1),
        explain_ms=None if explain_ms is None else round(explain_ms, 1),
    )


def to_search_of_call(row: Mapping[str, Any]) -> wire.CallSearch:
    """From a row of the search log."""
    told = {name: row[name] for name in row if name not in ("search_id", "query_redacted", "at")}
    return wire.CallSearch(id=row["search_id"], at=_utc(row["at"]), query=row["query_redacted"], **told)


def to_entry(entry: Entry) -> wire.AuditEntry:
    change = entry.change
    return wire.AuditEntry(
        id=entry.entry_id,
        at=_utc(entry.at),
        actor=entry.actor,
        action=change.action,
        object_type=change.object_type,
        object_id=change.object_id,
        before=None if change.before is None else dict(change.before),
        after=None if change.after is None else dict(change.after),
    )


def known_by(source: Source, *, named: bool) -> dict[str, Any]:
    """What the audit log keeps of a source; no name where not all who read the log can see the source."""
    name = {"name": source.name} if named else {}
    return {"kb_id": str(source.base_id), "kind": source.kind, **name, "size": source.size_bytes}


def _utc(time: datetime) -> datetime:
    """A time as the contract has it, whatever zone the database's server is set to."""
    return time.astimezone(UTC)


def _trial_result(ranked: Ranked, origins: Mapping[UUID, Origin], reasons: Sequence[Reason] | None) -> wire.TrialResult:
    candidate = ranked.candidate
    return wire.TrialResult(
        **_found(ranked, origins),
        source_url=candidate.source_url,
        meaning=None if candidate.meaning is None else round(candidate.meaning, 4),
        keywords=sorted(candidate.matched),
        code=candidate.code,
        given=reasons is None,
        why_not=None if reasons is None else list(reasons),
    )


def _result(ranked: Ranked, origins: Mapping[UUID, Origin], *, relevant: bool) -> wire.SearchResult:
    return wire.SearchResult(**_found(ranked, origins), relevant=relevant)


def _found(ranked: Ranked, origins: Mapping[UUID, Origin]) -> dict[str, Any]:
    """What every result tells of a passage and of where it comes from."""
    candidate = ranked.candidate
    base_id, source_id, source_name = (None, None, None) if candidate.is_instruction else origins[candidate.id]
    return {
        "type": "instruction" if candidate.is_instruction else "knowledge",
        "kb_id": base_id,
        "source_id": source_id,
        "source_name": source_name,
        "id": candidate.id,
        "chunk_index": candidate.chunk_index,
        "title": candidate.title,
        "language": candidate.language,
        "text": cut(candidate.content, _MAX_TEXT),
        "score": round(ranked.relevance, 4),
        "keyword": round(candidate.words, 4),
    }
