"""What was uploaded, as it came: taken from the net onto this disk, kept in the database, read from there again."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import BinaryIO
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import PayloadTooLarge
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.sources")
_PART_BYTES = 1024 * 1024
_IN_MEMORY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A content that has come in whole. `sha256` is of all of it."""

    file: BinaryIO
    size: int
    sha256: bytes

    def count_lines(self) -> int:
        """How many ends of lines it has, of the kind that it has most of; takes a second for a gigabyte."""
        self.file.seek(0)
        ends = {b"\n": 0, b"\r": 0}
        while piece := self.file.read(_PART_BYTES):
            for end in ends:
                ends[end] += piece.count(end)
        return max(ends.values())


@asynccontextmanager
async def received(content: AsyncIterator[bytes], most: int, setting: str) -> AsyncIterator[Upload]:
    """Take a content in, however slowly it comes, before any lock is taken; nothing is left of it afterwards.

    Args:
        content: in pieces of any length.
        most: bytes.
        setting: the variable that says how many.

    Raises:
        PayloadTooLarge: with the first piece over `most`; no more is read.
    """
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES, prefix="answerline-upload-") as file:
        digest, size = hashlib.sha256(), 0
        async for piece in content:
            size += len(piece)
            if size > most:
                raise PayloadTooLarge(most, setting=setting)
            digest.update(piece)
            await asyncio.to_thread(file.write, piece)
        yield Upload(file, size, digest.digest())  # type: ignore[arg-type] # a file in all but name


async def store(connection: Connection, organization_id: UUID, source_id: UUID, upload: Upload) -> None:
    """Keep a content with its source, in place of another; belongs into the transaction that changes the source."""
    await connection.execute(_SQL["forget_parts"], {"organization_id": organization_id, "source_id": source_id})
    upload.file.seek(0)
    async with connection.cursor() as cursor, cursor.copy(_SQL["copy_parts"]) as copy:
        copy.set_types(["uuid", "uuid", "int4", "bytea"])
        part = 0
        while piece := await asyncio.to_thread(upload.file.read, _PART_BYTES):
            await copy.write_row((organization_id, source_id, part, piece))
            part += 1


async def read(connection: Connection, organization_id: UUID, source_id: UUID) -> AsyncIterator[bytes]:
    """The content of a source, piece by piece; nothing of one that has none.

    It is not held while it is read: who writes what came of it looks there whether the reading is still wanted.
    """
    part = 0
    while True:
        parameters = {"organization_id": organization_id, "source_id": source_id, "part": part}
        row = await (await connection.execute(_SQL["read_part"], parameters, binary=True)).fetchone()
        if row is None:
            return
        yield row[0]
        part += 1
