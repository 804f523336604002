"""Operations on knowledge items."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from aiohttp import web

from contracts.management import (
    KnowledgeItemChange,
    KnowledgeItemDetailPage,
    KnowledgeItemRequest,
    WeeklySchedule,
)
from retrieval_sidecar.content.items import (
    Item,
    ItemFields,
    create_item,
    delete_item,
    find_item,
    list_items,
    update_item,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest, NotFound
from retrieval_sidecar.http.requests import read_body, read_id, read_id_parameter, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.content_answers import differences, to_item_detail
from retrieval_sidecar.management.indexing import Indexing
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_key, read_page
from retrieval_sidecar.management.preconditions import etag_header, read_etag
from retrieval_sidecar.management.reach import Reach, require_base, require_own_base
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sources.limits import SourceLimits

_FILTERS = ("kb_id", "source_id", "folder_key", "status", "visibility", "language", "segment")
_LONGEST_KEY = 200
_NAMING = ("title", "source_url", "folder_key", "content_sha256")


class ItemHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, indexing: Indexing, limits: SourceLimits) -> None:
        self._transactions = transactions
        self._indexing = indexing
        self._limits = limits

    def operations(self) -> list[Operation]:
        item = "/knowledge-items/{item_id}"
        return [
            Operation("GET", "/knowledge-items", "agents.view", self.list_knowledge_items),
            Operation("POST", "/knowledge-items", "agents.edit", self.create_knowledge_item),
            Operation("GET", item, "agents.view", self.get_knowledge_item),
            Operation("PATCH", item, "agents.edit", self.update_knowledge_item),
            Operation("DELETE", item, "agents.edit", self.delete_knowledge_item),
        ]

    async def list_knowledge_items(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_key, *_FILTERS)
        filters = _read_filters(request)

        async def listed(connection: Connection) -> list[Item]:
            return await list_items(
                connection,
                caller.organization_id,
                filters,
                member_id=caller.member_id,
                after=asked.after or 0,
                limit=asked.wanted,
            )

        page = asked.of(await self._transactions.read(listed), lambda item: item.item_key)
        items = [to_item_detail(each) for each in page.rows]
        return answer(KnowledgeItemDetailPage(items=items, next_cursor=page.next_cursor))

    async def create_knowledge_item(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, KnowledgeItemRequest, deadline_in(READ_S))
        wanted = _fields(body)

        async def create(connection: Connection) -> tuple[Item, Change]:
            async with change(connection, caller.organization_id):
                try:
                    reach = await require_own_base(connection, caller, body.kb_id)
                except NotFound:
                    raise InvalidRequest.of("kb_id", "must be a knowledge base of this organization") from None
                item = await create_item(
                    connection, caller.organization_id, body.kb_id, wanted, self._limits, created_by=caller.actor
                )
            return item, Change("create", "knowledge_item", item.item_id, after=_known(item, reach))

        item = await self._transactions.change(caller, create)
        await self._indexing.request(caller)
        return _answer(item, status=201)

    async def get_knowledge_item(self, request: web.Request, caller: Caller) -> web.Response:
        item_id = read_id(request, "item_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Item:
            item = await find_item(connection, caller.organization_id, item_id)
            await require_base(connection, caller, item.base_id)
            return item

        return _answer(await self._transactions.read(found))

    async def update_knowledge_item(self, request: web.Request, caller: Caller) -> web.Response:
        item_id = read_id(request, "item_id")
        etag = read_etag(request)
        body = await read_body(request, KnowledgeItemChange, deadline_in(READ_S))
        if not body.model_fields_set:
            raise InvalidRequest.of("body", "must hold at least one field")
        wanted = _fields(body)

        async def update(connection: Connection) -> tuple[Item, Change]:
            async with change(connection, caller.organization_id):
                reach = await _require_own(connection, caller, item_id)
                before, after = await update_item(
                    connection, caller.organization_id, item_id, wanted, self._limits, etag=etag
                )
            was, now = differences(_known(before, reach), _known(after, reach))
            return after, Change("update", "knowledge_item", item_id, before=was, after=now)

        item = await self._transactions.change(caller, update)
        if not item.is_indexed:
            await self._indexing.request(caller)
        return _answer(item)

    async def delete_knowledge_item(self, request: web.Request, caller: Caller) -> web.Response:
        item_id = read_id(request, "item_id")
        refuse_parameters(request)
        etag = read_etag(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                reach = await _require_own(connection, caller, item_id)
                item = await delete_item(connection, caller.organization_id, item_id, etag=etag)
            return None, Change("delete", "knowledge_item", item_id, before=_known(item, reach))

        await self._transactions.change(caller, delete)
        return web.Response(status=204)


async def _require_own(connection: Connection, caller: Caller, item_id: UUID) -> Reach:
    """What the item's base is to the caller. Raises NotFound, and OwnersOnly where it is others'."""
    item = await find_item(connection, caller.organization_id, item_id)
    return await require_own_base(connection, caller, item.base_id)


def _known(item: Item, reach: Reach) -> dict[str, Any]:
    """What the audit log keeps of an item; no name where not all who read the log can see the item."""
    record = item.as_record()
    return record if reach.for_all else {name: each for name, each in record.items() if name not in _NAMING}


def _fields(body: KnowledgeItemRequest | KnowledgeItemChange) -> ItemFields:
    values = {name: getattr(body, name) for name in body.model_fields_set if name not in ("kb_id", "schedule")}
    return ItemFields(**values, schedule=_hours(body.schedule))


def _hours(schedule: WeeklySchedule | None) -> dict[str, list[tuple[str, str]]] | None:
    if schedule is None:
        return None
    days = {day: getattr(schedule, day) for day in WeeklySchedule.model_fields if day in schedule.model_fields_set}
    return {day: [(each.opens, each.closes) for each in times] for day, times in days.items()}


def _read_filters(request: web.Request) -> dict[str, Any]:
    """The filters that a list asks for, by the names of the statement's parts. Raises InvalidRequest."""
    ids = {"of_base": read_id_parameter(request, "kb_id"), "of_source": read_id_parameter(request, "source_id")}
    filters: dict[str, Any] = {part: each for part, each in ids.items() if each is not None}
    for name, (part, holds, allowed) in _TEXTS.items():
        text = request.query.get(name)
        if text is None:
            continue
        if not holds(text):
            raise InvalidRequest.of(name, allowed)
        filters[part] = text
    return filters


def _is_key_of_segment(text: str) -> bool:
    return 1 <= len(text) <= _LONGEST_KEY and fault(text) is None


# Filters that are texts: the part of the statement, what it may be, and how that is said.
_TEXTS: dict[str, tuple[str, Callable[[str], bool], str]] = {
    "folder_key": (
        "in_folder",
        lambda text: FolderKey.parse(text) is not None,
        "must be a canonical folder key, such as upload:Price%20list",
    ),
    "status": ("with_status", ("draft", "published").__contains__, "must be one of: draft, published"),
    "visibility": ("with_visibility", ("public", "internal").__contains__, "must be one of: public, internal"),
    "language": (
        "in_language",
        lambda text: re.fullmatch("[a-z]{2,3}", text) is not None,
        "must be an ISO 639 language code",
    ),
    "segment": ("for_segment", _is_key_of_segment, "must be the key of a segment"),
}


def _answer(item: Item, *, status: int = 200) -> web.Response:
    return answer(to_item_detail(item), status=status, headers=etag_header(item.etag))
