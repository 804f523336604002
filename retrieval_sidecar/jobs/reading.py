"""From what was added to the text that is in it."""

import asyncio
import hashlib
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from retrieval_sidecar.database import Connection
from retrieval_sidecar.extraction.process import extract
from retrieval_sidecar.fetching.content import MediaType
from retrieval_sidecar.fetching.fetch import Fetched, fetch_page
from retrieval_sidecar.fetching.limits import FetchLimits
from retrieval_sidecar.jobs.runs import Found, Run
from retrieval_sidecar.sources import contents
from retrieval_sidecar.sources.limits import SourceLimits

Fetch = Callable[[str, Path, FetchLimits], Awaitable[Fetched]]


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a source as Markdown, and what the source turned out to be."""

    markdown: str
    found: Found
    content_hash: bytes


class Reader:
    """Reads files, pages and pasted texts, one file at a time.

    Reading one may take the memory of `limits.extraction` twice over: however many jobs a process has under way, this
    is what it needs of it.
    """

    def __init__(self, limits: SourceLimits, fetch: Fetch = fetch_page) -> None:
        self._limits = limits
        self._fetch = fetch
        self._one_at_a_time = asyncio.Semaphore(1)

    async def read(self, connection: Connection, run: Run) -> Text:
        """The text of the source of a run. Raises ExtractionFailed and PageFailure."""
        if run.kind == "text":
            return await self._pasted(connection, run)
        with tempfile.TemporaryDirectory(prefix="answerline-job-") as directory:
            if run.kind == "url":
                return await self._page(run, Path(directory))
            return await self._file(connection, run, Path(directory) / "file")

    async def _pasted(self, connection: Connection, run: Run) -> Text:
        content = b"".join([part async for part in contents.read(connection, run.organization_id, run.source_id)])
        return Text(content.decode(), Found(content_type="text/markdown"), hashlib.sha256(content).digest())

    async def _file(self, connection: Connection, run: Run, path: Path) -> Text:
        digest = hashlib.sha256()
        with await asyncio.to_thread(path.open, "wb") as file:
            async for part in contents.read(connection, run.organization_id, run.source_id):
                digest.update(part)
                await asyncio.to_thread(file.write, part)
        async with self._one_at_a_time:
            extracted = await extract(path, self._limits.extraction)
        found = Found(content_type=extracted.media_type, title=extracted.title)
        return Text(extracted.markdown, found, digest.digest())

    async def _page(self, run: Run, directory: Path) -> Text:
        fetched = await self._fetch(run.url or "", directory, self._limits.fetching)
        is_page = fetched.media_type is MediaType.HTML
        async with self._one_at_a_time:
            extracted = await extract(fetched.path, self._limits.extraction, charset=fetched.charset, page=is_page)
        body = await asyncio.to_thread(fetched.path.read_bytes)
        digest = hashlib.sha256(body).digest()
        found = Found(extracted.media_type, fetched.size, digest, extracted.title)
        return Text(extracted.markdown, found, digest)
