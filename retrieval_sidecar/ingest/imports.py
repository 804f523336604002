"""JSONL imports: a file of any length into a source, batch by batch, each line accounted for."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import NotFound, Unavailable
from retrieval_sidecar.ingest.facts import refresh_facts_of_items
from retrieval_sidecar.ingest.items import Place, Written, prepare, write_items
from retrieval_sidecar.ingest.records import Item, RecordBatch, read_records
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest", "imports.sql")
_MOST_REJECTIONS = 1_000  # lines of a run that are told one by one
_LONGEST_FIELD = 200  # characters: a field that is not known may have any name
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


async def import_lines(
    connection: Connection,
    organization_id: UUID,
    source_id: UUID,
    run_id: UUID,
    content: AsyncIterator[bytes],
) -> None:
    """Read a file's lines into the items of a source; index the source afterwards.

    The lines of a batch, the run's counters and how far it has come are one change. A run that was interrupted goes on
    from there, and its counters come to what they would have been: each line that is not blank is created, updated,
    unchanged or rejected once. The same file again changes nothing; of a file in which one item has changed, that item
    is written. Items that the file does not have any more stay.

    What a line must hold is said by `records.Item`. A line that is not taken does not stop the others: it is not UTF-8
    or JSON, longer than `lines.LONGEST_LINE` (of which no more is ever held), lacks a field or has a wrong one, names a
    segment that is not there, or has the id of an earlier line of the file that was taken. Why is kept for the first
    1,000 such lines of a run, with the line's number and the field, and without what stands there. A byte order mark is
    passed over, and so are blank lines; a line ends with LF, CRLF or CR. `base`, which names a base of an
    organization.yaml, is kept as metadata: an import's items stand in the base of its source.

    Args:
        content: all of the file, in pieces of any size, from its beginning.

    Raises:
        NotFound: the source or the run has been deleted, or the run was ended by whoever gave the source another
            content; nothing more is written.
        Unavailable: another process reads the same import; what this one has read of the batch is not written.
    """
    scope = {"organization_id": organization_id, "source_id": source_id, "run_id": run_id}
    cursor = await connection.execute(_SQL["begun"], scope)
    begun = await cursor.fetchone()
    if begun is None:
        raise NotFound
    zone, base_id, start = ZoneInfo(begun[0]), begun[1], begun[2]
    folder_key = str(FolderKey("base", (str(base_id),)))

    def place_of(item: Item) -> Place:
        return Place(source_id, folder_key, {} if item.base is None else {"base": item.base})

    async def take_ids(external_ids: Sequence[str]) -> set[str]:
        cursor = await connection.execute(_SQL["take_ids"], scope | {"external_ids": list(external_ids)})
        return {row[0] async for row in cursor}

    await prepare(connection)
    async for batch in read_records(content, zone, start=start):
        async with change(connection, organization_id):
            # The run's row first: where it is gone, so is the source.
            await require_row(connection, _SQL["begun"], scope)
            written = await write_items(
                connection, organization_id, batch.records, zone=zone, place_of=place_of, take_ids=take_ids
            )
            await refresh_facts_of_items(connection, organization_id, written.updated)
            await _account(connection, scope, batch, start, written)
            if batch.is_last:
                await connection.execute(_SQL["forget_ids"], scope)
        start = batch.end


async def _account(
    connection: Connection, scope: dict[str, Any], batch: RecordBatch, start: int, written: Written
) -> None:
    counts = {
        "start": start,
        "end": batch.end,
        "lines": len(batch.records),
        "created": written.created,
        "updated": len(written.updated),
        "unchanged": written.unchanged,
        "rejected": len(written.rejected),
    }
    cursor = await connection.execute(_SQL["account"], scope | counts)
    row = await cursor.fetchone()
    if row is None:
        raise Unavailable("Another process reads this import.")
    told = [
        (line, _storable(problem.field), problem.message)
        for line, why in written.rejected[: max(0, _MOST_REJECTIONS - row[0])]
        for problem in why.problems
    ]
    if told:
        lines, fields, reasons = map(list, zip(*told, strict=True))
        await connection.execute(_SQL["reject"], scope | {"lines": lines, "fields": fields, "reasons": reasons})


def _storable(field: str) -> str:
    return _UNSTORABLE.sub("�", field)[:_LONGEST_FIELD]
