"""Operations on directories of instructions; the list is that of what can be selected (`selectables`)."""

from uuid import UUID

from aiohttp import web

from contracts.management import InstructionDirectoryChange, InstructionDirectoryRequest
from retrieval_sidecar.content.directories import (
    Directory,
    create_directory,
    delete_directory,
    find_directory,
    update_directory,
)
from retrieval_sidecar.content.instructions import InstructionLimits
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.content_answers import differences, to_directory_detail
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.preconditions import etag_header, read_etag
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in


class DirectoryHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, limits: InstructionLimits) -> None:
        self._transactions = transactions
        self._limits = limits

    def operations(self) -> list[Operation]:
        directory = "/instruction-directories/{directory_id}"
        return [
            Operation("POST", "/instruction-directories", "agents.edit", self.create_instruction_directory),
            Operation("GET", directory, "agents.view", self.get_instruction_directory),
            Operation("PATCH", directory, "agents.edit", self.update_instruction_directory),
            Operation("DELETE", directory, "agents.edit", self.delete_instruction_directory),
        ]

    async def create_instruction_directory(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, InstructionDirectoryRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Directory, Change]:
            directory = await create_directory(
                connection, caller.organization_id, body.name, body.parent_id, most=self._limits.directories
            )
            return directory, Change(
                "create", "instruction_directory", directory.directory_id, after=directory.as_record()
            )

        return _answer(await self._transactions.change(caller, create), status=201)

    async def get_instruction_directory(self, request: web.Request, caller: Caller) -> web.Response:
        directory_id = read_id(request, "directory_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Directory:
            return await find_directory(connection, caller.organization_id, directory_id)

        return _answer(await self._transactions.read(found))

    async def update_instruction_directory(self, request: web.Request, caller: Caller) -> web.Response:
        directory_id = read_id(request, "directory_id")
        etag = read_etag(request)
        body = await read_body(request, InstructionDirectoryChange, deadline_in(READ_S))
        if not body.model_fields_set:
            raise InvalidRequest.of("body", "must hold name, parent_id or both")

        async def update(connection: Connection) -> tuple[Directory, Change]:
            before, after = await update_directory(
                connection,
                caller.organization_id,
                directory_id,
                name=body.name,
                moves=body.parent_id is not None,
                parent_id=UUID(body.parent_id) if body.parent_id else None,
                etag=etag,
            )
            was, now = differences(before.as_record(), after.as_record())
            return after, Change("update", "instruction_directory", directory_id, before=was, after=now)

        return _answer(await self._transactions.change(caller, update))

    async def delete_instruction_directory(self, request: web.Request, caller: Caller) -> web.Response:
        directory_id = read_id(request, "directory_id")
        refuse_parameters(request)
        etag = read_etag(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            gone = await delete_directory(connection, caller.organization_id, directory_id, etag=etag)
            return None, Change("delete", "instruction_directory", directory_id, before=gone.as_record())

        await self._transactions.change(caller, delete)
        return web.Response(status=204)


def _answer(directory: Directory, *, status: int = 200) -> web.Response:
    return answer(to_directory_detail(directory), status=status, headers=etag_header(directory.etag))
