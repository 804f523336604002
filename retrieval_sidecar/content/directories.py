"""The directories that instructions stand in: a tree, in which siblings have each their own name."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.content.fields import etag_of
from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, InvalidRequest, LimitReached, NotFound, PreconditionFailed
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sources.names import name_of
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.content", "instructions.sql")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory.

    Attributes:
        parent_id: of the one that it stands in; None at the top.
        instructions, directories: directly in it.
    """

    directory_id: UUID
    parent_id: UUID | None
    name: str
    instructions: int
    directories: int

    def as_record(self) -> dict[str, Any]:
        """As the audit log has it."""
        return {"name": self.name, "parent_id": None if self.parent_id is None else str(self.parent_id)}

    @property
    def etag(self) -> str:
        """Of its name and its place; not of what is in it."""
        return etag_of(self.as_record())


async def find_directory(connection: Connection, organization_id: UUID, directory_id: UUID) -> Directory:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "directory_id": directory_id}
    row = await require_row(connection, _SQL["directory"], parameters)
    return Directory(*row)


async def require_directory(connection: Connection, organization_id: UUID, directory_id: UUID, field: str) -> None:
    """Raises InvalidRequest naming the field where the organization has no such directory."""
    try:
        await find_directory(connection, organization_id, directory_id)
    except NotFound:
        raise InvalidRequest.of(field, "must be an instruction directory of this organization") from None


async def create_directory(
    connection: Connection, organization_id: UUID, name: str, parent_id: UUID | None, *, most: int
) -> Directory:
    """Add a directory.

    Args:
        parent_id: of the one that it is to stand in; None for the top.
        most: how many an organization may have.

    Raises:
        InvalidRequest: the name is none, or there is no such parent.
        Conflict: a sibling has the name, or it would stand too deep.
        LimitReached: there are as many as there may be.
    """
    parameters = {"organization_id": organization_id, "name": name_of(name), "parent_id": parent_id}
    async with change(connection, organization_id):
        if parent_id is not None:
            await require_directory(connection, organization_id, parent_id, "parent_id")
            _require_shallow(len(await _path(connection, organization_id, parent_id)) + 1)
        cursor = await connection.execute(_SQL["count_directories"], parameters)
        if await cursor.fetchone() >= (most,):  # type: ignore[operator] # it counts
            raise LimitReached(
                f"An organization may have {most} instruction directories.", "ANSWERLINE_MAX_DIRECTORIES"
            )
        row = await (await connection.execute(_SQL["insert_directory"], parameters)).fetchone()
        if row is None:
            raise _taken()
        return await find_directory(connection, organization_id, row[0])


async def update_directory(
    connection: Connection,
    organization_id: UUID,
    directory_id: UUID,
    *,
    name: str | None,
    moves: bool,
    parent_id: UUID | None,
    etag: str,
) -> tuple[Directory, Directory]:
    """Rename a directory, move it, or both; as it was and as it is. What stands in it goes along.

    Selections follow: who has selected the directory searches what stands in it wherever it is, and who has selected
    one above searches it as long as it is below that.

    Args:
        name: None leaves it.
        moves: whether it is to stand in `parent_id`, None for the top.

    Raises:
        NotFound: there is no such directory.
        PreconditionFailed: it has changed since.
        InvalidRequest: the name is none, or there is no such parent.
        Conflict: a sibling has the name, it would stand too deep, or in itself.
    """
    async with change(connection, organization_id):
        before = await find_directory(connection, organization_id, directory_id)
        if before.etag != etag:
            raise PreconditionFailed
        if moves and parent_id is not None:
            await require_directory(connection, organization_id, parent_id, "parent_id")
            path = await _path(connection, organization_id, parent_id)
            if directory_id in path:
                raise Conflict("A directory cannot stand in itself, nor in one below it.", field="parent_id")
            _require_shallow(len(path) + await _height(connection, organization_id, directory_id))
        parameters = {
            "organization_id": organization_id,
            "directory_id": directory_id,
            "name": before.name if name is None else name_of(name),
            "parent_id": parent_id if moves else before.parent_id,
        }
        if await (await connection.execute(_SQL["has_sibling"], parameters)).fetchone() == (True,):
            raise _taken()
        await connection.execute(_SQL["update_directory"], parameters)
        return before, await find_directory(connection, organization_id, directory_id)


async def delete_directory(
    connection: Connection, organization_id: UUID, directory_id: UUID, *, etag: str
) -> Directory:
    """Remove an empty directory. Agents that had selected it, and nothing else, are left with nothing.

    One with something in it stays: whoever removes a name from a tree should not take instructions away from calls.

    Raises:
        NotFound: there is no such directory.
        PreconditionFailed: it has changed since.
        Conflict: it is not empty.
    """
    async with change(connection, organization_id):
        directory = await find_directory(connection, organization_id, directory_id)
        if directory.etag != etag:
            raise PreconditionFailed
        if directory.instructions or directory.directories:
            raise Conflict(
                f"In the directory there are {directory.instructions} instructions and {directory.directories}"
                " directories. Move or delete them first."
            )
        await connection.execute(
            _SQL["delete_directory"], {"organization_id": organization_id, "directory_id": directory_id}
        )
    return directory


async def _path(connection: Connection, organization_id: UUID, directory_id: UUID) -> list[UUID]:
    """A directory and those above it."""
    parameters = {"organization_id": organization_id, "directory_id": directory_id}
    cursor = await connection.execute(_SQL["path"], parameters)
    return [row[0] async for row in cursor]


async def _height(connection: Connection, organization_id: UUID, directory_id: UUID) -> int:
    parameters = {"organization_id": organization_id, "directory_id": directory_id}
    ((height,),) = await (await connection.execute(_SQL["height"], parameters)).fetchall()
    return int(height)


def _require_shallow(depth: int) -> None:
    if depth > _DEEPEST:
        raise Conflict(f"Directories stand at most {_DEEPEST} deep.", field="parent_id")


def _taken() -> Conflict:
    return Conflict("There is a directory of this name already. Choose another name.", field="name")
