"""Operations that list what an agent's knowledge sources are selected from."""

from uuid import UUID

from aiohttp import web

from contracts.management import (
    InstructionDirectoryPage,
    InstructionPage,
    KnowledgeFolderPage,
    KnowledgeItemPage,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import read_id_parameter
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_key, is_name, is_named_place, read_page
from retrieval_sidecar.management.scope_answers import to_directory, to_folder, to_instruction, to_item
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.scope.configuration import parse_key
from retrieval_sidecar.scope.selectable import (
    FIRST,
    Directory,
    Folder,
    Instruction,
    Item,
    items_of_folder,
    list_directories,
    list_folders,
    list_instructions,
)


class SelectableHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", "/knowledge-folders", "agents.view", self.list_knowledge_folders),
            Operation("GET", "/knowledge-folders/{folder_key:[^/]+}/items", "agents.view", self.list_folder_items),
            Operation("GET", "/instruction-directories", "agents.view", self.list_instruction_directories),
            Operation("GET", "/instructions", "agents.view", self.list_instructions),
        ]

    async def list_knowledge_folders(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Folder]:
            return await list_folders(connection, caller.organization_id, after=asked.after or "", limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda folder: folder.key)
        return answer(KnowledgeFolderPage(items=[to_folder(each) for each in page.rows], next_cursor=page.next_cursor))

    async def list_folder_items(self, request: web.Request, caller: Caller) -> web.Response:
        key = parse_key(request.match_info["folder_key"])
        if key is None:
            raise InvalidRequest.of(
                "folder_key",
                "must be a canonical folder key, percent-encoded once more, such as upload%3APrice%2520list",
            )
        asked = read_page(request, is_key)

        async def listed(connection: Connection) -> list[Item]:
            return await items_of_folder(
                connection, caller.organization_id, key, after=asked.after or 0, limit=asked.wanted
            )

        page = asked.of(await self._transactions.read(listed), lambda item: item.item_key)
        return answer(KnowledgeItemPage(items=[to_item(each) for each in page.rows], next_cursor=page.next_cursor))

    async def list_instruction_directories(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_named_place)
        after = FIRST if asked.after is None else (asked.after[0], UUID(asked.after[1]))

        async def listed(connection: Connection) -> list[Directory]:
            return await list_directories(connection, caller.organization_id, after=after, limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda directory: directory.place)
        items = [to_directory(each) for each in page.rows]
        return answer(InstructionDirectoryPage(items=items, next_cursor=page.next_cursor))

    async def list_instructions(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_key, "directory_id")
        directory_id = read_id_parameter(request, "directory_id")

        async def listed(connection: Connection) -> list[Instruction]:
            return await list_instructions(
                connection,
                caller.organization_id,
                directory_id=directory_id,
                after=asked.after or 0,
                limit=asked.wanted,
            )

        page = asked.of(await self._transactions.read(listed), lambda each: each.instruction_key)
        return answer(InstructionPage(items=[to_instruction(each) for each in page.rows], next_cursor=page.next_cursor))
