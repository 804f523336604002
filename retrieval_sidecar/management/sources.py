"""Operations on the sources of a knowledge base."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Protocol
from uuid import UUID

import structlog
from aiohttp import web
from procrastinate.exceptions import ProcrastinateException

from contracts.management import PageRequest, PassagePage, SourcePage, TextRequest
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import DeadlineExceeded, PayloadTooLarge, SidecarError
from retrieval_sidecar.gate import Gate
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import known_by, to_passage, to_source
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_name, is_position, read_page
from retrieval_sidecar.management.reach import own_source_within, require_base, require_own_base, source_within
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.management.uploads import read_file
from retrieval_sidecar.sources.contents import Upload, received
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.sources import (
    Kind,
    NewSource,
    Rejection,
    Source,
    SourcePassage,
    add_source,
    delete_source,
    list_sources,
    passages_of,
    rejections_of,
    request_reprocess,
    require_room,
)

log = structlog.get_logger()

# An id is none of the words that stand in its place where something is added.
_SOURCE = "{source_id:(?!(?:file|jsonl|url|text)$)[^/]+}"
_PATIENCE_S = 1.0
_FORM_BYTES = 64 * 1024  # what a form has around its file, at most


class Queue(Protocol):
    """Where the jobs are put that read sources, and that index what was changed by hand."""

    async def request(self, organization_id: UUID, source_id: UUID) -> object: ...

    async def request_documents(self, organization_id: UUID) -> object: ...


class SourceHandlers:
    """One method an operation, named as in the contract."""

    def __init__(
        self, transactions: Transactions, queue: Queue, limits: SourceLimits, *, uploads: int, upload_s: float
    ) -> None:
        """Make them.

        Args:
            uploads: how many are taken at once; each needs room on this disk.
            upload_s: seconds that one may take to come in, and again to be stored.
        """
        self._transactions = transactions
        self._queue = queue
        self._limits = limits
        self._uploads = Gate(uploads, 0, name="uploads")
        self._upload_s = upload_s

    def operations(self) -> list[Operation]:
        sources = "/knowledge-bases/{kb_id}/sources"
        source = f"{sources}/{_SOURCE}"
        return [
            Operation("GET", sources, "agents.view", self.list_sources),
            Operation("POST", f"{sources}/file", "agents.edit", self.add_file),
            Operation("POST", f"{sources}/jsonl", "agents.edit", self.add_import),
            Operation("POST", f"{sources}/url", "agents.edit", self.add_page),
            Operation("POST", f"{sources}/text", "agents.edit", self.add_text),
            Operation("GET", source, "agents.view", self.get_source),
            Operation("DELETE", source, "agents.edit", self.delete_source),
            Operation("POST", f"{source}/reprocess", "agents.edit", self.reprocess_source),
            Operation("GET", f"{source}/passages", "agents.view", self.list_passages),
        ]

    async def list_sources(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Source]:
            await require_base(connection, caller, base_id)
            return await list_sources(
                connection, caller.organization_id, base_id, after=asked.after or "", limit=asked.wanted
            )

        page = asked.of(await self._transactions.read(listed), lambda source: source.name)
        return answer(SourcePage(items=[to_source(each) for each in page.rows], next_cursor=page.next_cursor))

    async def add_file(self, request: web.Request, caller: Caller) -> web.Response:
        return await self._add_upload(request, caller, "file")

    async def add_import(self, request: web.Request, caller: Caller) -> web.Response:
        return await self._add_upload(request, caller, "jsonl")

    async def add_page(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        body = await read_body(request, PageRequest, deadline_in(READ_S))
        new = NewSource("url", body.name, body.url, created_by=caller.actor)
        return await self._add(caller, base_id, new, None)

    async def add_text(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        body = await read_body(request, TextRequest, deadline_in(READ_S))
        new = NewSource("text", body.name, created_by=caller.actor)
        text = body.text.encode()

        async def content() -> AsyncIterator[bytes]:
            yield text

        return await self._add(caller, base_id, new, content())

    async def get_source(self, request: web.Request, caller: Caller) -> web.Response:
        base_id, source_id = read_id(request, "kb_id"), read_id(request, "source_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> tuple[Source, list[Rejection]]:
            source = await source_within(connection, caller, base_id, source_id)
            return source, await rejections_of(connection, caller.organization_id, source_id)

        return answer(to_source(*await self._transactions.read(found)))

    async def delete_source(self, request: web.Request, caller: Caller) -> web.Response:
        base_id, source_id = read_id(request, "kb_id"), read_id(request, "source_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                source, reach = await own_source_within(connection, caller, base_id, source_id)
                await delete_source(connection, caller.organization_id, source_id)
            return None, Change("delete", "source", source_id, before=known_by(source, named=reach.for_all))

        await self._transactions.change(caller, delete)
        return web.Response(status=204)

    async def reprocess_source(self, request: web.Request, caller: Caller) -> web.Response:
        base_id, source_id = read_id(request, "kb_id"), read_id(request, "source_id")
        refuse_parameters(request)

        async def reprocess(connection: Connection) -> tuple[Source, Change]:
            async with change(connection, caller.organization_id):
                before, _ = await own_source_within(connection, caller, base_id, source_id)
                source = await request_reprocess(connection, caller.organization_id, source_id)
            statuses = {"before": {"status": before.status}, "after": {"status": source.status}}
            return source, Change("reprocess", "source", source_id, **statuses)

        source = await self._transactions.change(caller, reprocess)
        await self._request_job(caller, source)
        return answer(to_source(source), status=202)

    async def list_passages(self, request: web.Request, caller: Caller) -> web.Response:
        base_id, source_id = read_id(request, "kb_id"), read_id(request, "source_id")
        asked = read_page(request, is_position)
        item_key, chunk_index = asked.after or (0, 0)

        async def listed(connection: Connection) -> list[SourcePassage]:
            await source_within(connection, caller, base_id, source_id)
            return await passages_of(
                connection, caller.organization_id, source_id, after=(item_key, chunk_index), limit=asked.wanted
            )

        page = asked.of(await self._transactions.read(listed), lambda passage: passage.position)
        return answer(PassagePage(items=[to_passage(each) for each in page.rows], next_cursor=page.next_cursor))

    async def _add_upload(self, request: web.Request, caller: Caller, kind: Kind) -> web.Response:
        base_id = read_id(request, "kb_id")

        async def has_room(connection: Connection) -> None:
            await require_own_base(connection, caller, base_id)
            await require_room(connection, caller.organization_id, base_id, self._limits)

        most, setting = self._limits.upload_bytes(kind)
        if (request.content_length or 0) > most + _FORM_BYTES:
            raise PayloadTooLarge(most, setting=setting)
        # Before it comes in, which needs no connection.
        await self._transactions.read(has_room)
        async with self._uploads.passed(_PATIENCE_S), AsyncExitStack() as received_file:
            try:
                async with asyncio.timeout(self._upload_s):
                    file = await read_file(request)
                    upload = await received_file.enter_async_context(received(file.content, most, setting))
            except TimeoutError as error:
                raise DeadlineExceeded from error
            # It is there until it is stored, whether or not the client is.
            kept = received_file.pop_all()

            async def store() -> web.Response:
                async with kept:
                    new = NewSource(kind, file.name, created_by=caller.actor)
                    return await self._add(caller, base_id, new, upload)

            return await self._transactions.to_its_end(store())

    async def _add(
        self, caller: Caller, base_id: UUID, new: NewSource, content: AsyncIterator[bytes] | Upload | None
    ) -> web.Response:
        async def add(connection: Connection) -> tuple[Source, Change]:
            reach = await require_own_base(connection, caller, base_id)
            source = await add_source(connection, caller.organization_id, base_id, new, content, self._limits)
            return source, Change("create", "source", source.source_id, after=known_by(source, named=reach.for_all))

        source = await self._transactions.change(caller, add, seconds=self._upload_s)
        await self._request_job(caller, source)
        return answer(to_source(source), status=201)

    async def _request_job(self, caller: Caller, source: Source) -> None:
        try:
            await self._queue.request(caller.organization_id, source.source_id)
        except (SidecarError, ProcrastinateException) as error:
            # It is found again: a source that waits without a job is given one.
            log.warning("job not requested", source_id=str(source.source_id), cause=type(error).__name__)
