"""What an operator has selected for an agent, and the one way to change it."""

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeVar
from uuid import UUID

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import FieldProblem, InvalidRequest, LimitReached, PreconditionFailed
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.scope", "configuration.sql")
_SELECTION = load_sql("retrieval_sidecar.scope")["selection"]
_MAX_PROBLEMS = 20  # to name in one answer
Mode = Literal["all", "selected"]
_T = TypeVar("_T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Selection:
    """The stored modes and the explicit selection, each part in order."""

    instruction_mode: Mode
    instruction_ids: Sequence[UUID]
    directory_ids: Sequence[UUID]
    knowledge_mode: Mode
    item_ids: Sequence[UUID]
    folder_keys: Sequence[str]
    base_ids: Sequence[UUID]

    @property
    def keys(self) -> list[str]:
        """Folders and, as `base:<id>`, whole knowledge bases."""
        return sorted([*self.folder_keys, *map(base_key, self.base_ids)])

    @property
    def etag(self) -> str:
        """The same for the same modes and rows, and for no others."""
        return sha256(json.dumps(self.as_record()).encode()).hexdigest()

    def as_record(self) -> dict[str, Any]:
        """As the snapshot of a call and the audit log have it."""
        return {
            "instruction_scope": {
                "mode": self.instruction_mode,
                "instruction_ids": [str(each) for each in self.instruction_ids],
                "directory_ids": [str(each) for each in self.directory_ids],
            },
            "knowledge_scope": {
                "mode": self.knowledge_mode,
                "item_ids": [str(each) for each in self.item_ids],
                "folder_keys": self.keys,
            },
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to select in place of what is; None leaves it, an empty sequence clears it.

    Attributes:
        folder_keys: of folders and, as `base:<id>`, of whole knowledge bases.
    """

    instruction_ids: Sequence[UUID] | None = None
    directory_ids: Sequence[UUID] | None = None
    item_ids: Sequence[UUID] | None = None
    folder_keys: Sequence[str] | None = None


def base_key(base_id: UUID) -> str:
    """The key of a whole knowledge base."""
    return str(FolderKey("base", (str(base_id),)))


def base_of_key(key: FolderKey) -> UUID | None:
    """The base that a key names; None of a folder's, and where what it holds is no id as ids are written."""
    try:
        base_id = UUID(key.identity[0]) if key.kind == "base" else None
    except ValueError:
        return None
    return base_id if base_id is not None and str(base_id) == key.identity[0] else None


def parse_key(text: str) -> FolderKey | None:
    """A key that can be selected; None for what is none, also for a base's without an id."""
    key = FolderKey.parse(text)
    return None if key is not None and key.kind == "base" and base_of_key(key) is None else key


async def read_selection(connection: Connection, organization_id: UUID, agent_id: UUID) -> Selection:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "agent_id": agent_id}
    row = await require_row(connection, _SELECTION, parameters)
    return Selection(*row)


async def configure(
    connection: Connection, organization_id: UUID, agent_id: UUID, wanted: Wanted, *, etag: str, max_bases: int
) -> tuple[Selection, Selection]:
    """Select for an agent; the selection before and after. All of it or nothing.

    A category of which something is wanted is `selected` when anything of it is selected afterwards, else `all`.

    Args:
        etag: of the selection that was edited.
        max_bases: how many bases may be selected; more that were selected already may stay.

    Raises:
        InvalidRequest: something wanted is malformed or not the organization's; names each, with its place.
        NotFound: there is no such agent.
        PreconditionFailed: the selection has changed since.
        LimitReached: too many bases.
    """
    keys = _parsed(wanted.folder_keys)
    async with change(connection, organization_id):
        before = await read_selection(connection, organization_id, agent_id)
        if before.etag != etag:
            raise PreconditionFailed
        change_of = _Change(connection, organization_id, agent_id)
        await change_of.check(before, wanted, keys)
        if keys is not None:
            _require_few(before.base_ids, keys.bases, max_bases)
        await change_of.write(wanted, keys)
        after = await read_selection(connection, organization_id, agent_id)
    return before, after


@dataclass(frozen=True, slots=True)
class _Keys:
    """Keys of a request in its order: at each place a folder's or a base's."""

    places: Sequence[str | UUID]

    @property
    def folders(self) -> list[str]:
        return [each for each in dict.fromkeys(self.places) if isinstance(each, str)]

    @property
    def bases(self) -> list[UUID]:
        return [each for each in dict.fromkeys(self.places) if isinstance(each, UUID)]


def _parsed(texts: Sequence[str] | None) -> _Keys | None:
    if texts is None:
        return None
    keys = [parse_key(text) for text in texts]
    wrong = [
        FieldProblem(f"knowledge_folder_keys.{place}", "must be a canonical folder key, such as upload:Price%20list")
        for place, key in enumerate(keys)
        if key is None
    ]
    if wrong:
        raise InvalidRequest(wrong[:_MAX_PROBLEMS])
    return _Keys([base_of_key(key) or str(key) for key in keys if key is not None])


def _require_few(before: Sequence[UUID], wanted: Sequence[UUID], most: int) -> None:
    if len(wanted) > most and not set(wanted) <= set(before):
        raise LimitReached(f"An agent may select at most {most} knowledge bases.", "ANSWERLINE_MAX_AGENT_BASES")


class _Change:
    """One change of one agent, within its transaction."""

    def __init__(self, connection: Connection, organization_id: UUID, agent_id: UUID) -> None:
        self._connection = connection
        self._parameters = {"organization_id": organization_id, "agent_id": agent_id}

    async def check(self, before: Selection, wanted: Wanted, keys: _Keys | None) -> None:
        """Everything, before anything is written. What is selected already may stay, whatever has become of it."""
        places = keys.places if keys else None
        kept: set[str | UUID] = {*before.folder_keys, *before.base_ids}
        owned_keys = (
            await self._owned("folders", keys.folders, kept) | await self._owned("bases", keys.bases, kept)
            if keys
            else set[str | UUID]()
        )
        problems = [
            *_foreign(
                "instruction_ids",
                "an instruction",
                wanted.instruction_ids,
                await self._owned("instructions", wanted.instruction_ids, set(before.instruction_ids)),
            ),
            *_foreign(
                "instruction_directory_ids",
                "an instruction directory",
                wanted.directory_ids,
                await self._owned("directories", wanted.directory_ids, set(before.directory_ids)),
            ),
            *_foreign(
                "knowledge_item_ids",
                "a knowledge item",
                wanted.item_ids,
                await self._owned("items", wanted.item_ids, set(before.item_ids)),
            ),
            *_foreign("knowledge_folder_keys", "a folder or a knowledge base", places, owned_keys),
        ]
        if problems:
            raise InvalidRequest(problems[:_MAX_PROBLEMS])

    async def write(self, wanted: Wanted, keys: _Keys | None) -> None:
        await self._replace("instructions", wanted.instruction_ids)
        await self._replace("directories", wanted.directory_ids)
        await self._replace("items", wanted.item_ids)
        if keys is not None:
            await self._replace("folders", keys.folders)
            await self._replace("bases", keys.bases)
        touched = {
            "instructions": wanted.instruction_ids is not None or wanted.directory_ids is not None,
            "knowledge": wanted.item_ids is not None or keys is not None,
        }
        await self._connection.execute(_SQL["set_modes"], self._parameters | touched)

    async def _owned(self, kind: str, asked: Sequence[_T] | None, kept: set[_T]) -> set[_T]:
        """Which of these may be selected."""
        fresh = set(asked or ()) - kept
        if not fresh:
            return kept
        cursor = await self._connection.execute(_SQL[f"owned_{kind}"], self._parameters | {"asked": list(fresh)})
        return kept | {row[0] async for row in cursor}

    async def _replace(self, kind: str, asked: Sequence[Hashable] | None) -> None:
        if asked is None:
            return
        await self._connection.execute(_SQL[f"clear_{kind}"], self._parameters)
        unique = list(dict.fromkeys(asked))
        await self._connection.execute(_SQL[f"add_{kind}"], self._parameters | {"asked": unique})


def _foreign(field: str, what: str, asked: Sequence[_T] | None, owned: set[_T]) -> Iterator[FieldProblem]:
    for place, each in enumerate(asked or ()):
        if each not in owned:
            yield FieldProblem(f"{field}.{place}", f"must be {what} of this organization")
