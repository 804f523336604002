"""Embedding spaces: which models an organization's passages have vectors of, and which of them answers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.deadline import LONGEST_S
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.embeddings.centering import Center
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one model.

    Attributes:
        active: searches go by it.
        filling: it was begun and has not yet a vector of each passage; every other space is kept complete.
    """

    space_id: int
    model: str
    dimensions: int
    active: bool
    filling: bool


@dataclass(frozen=True, slots=True)
class SpaceState:
    """A space as an operator sees it.

    Attributes:
        passages: how many the organization has.
        vectors: how many of them can be searched by this space.
        embedded, texts: distinct texts of the passages with a vector kept, and in all: how far a filling has come.
    """

    model: str
    dimensions: int
    active: bool
    filling: bool
    passages: int
    vectors: int
    embedded: int
    texts: int

    @property
    def is_complete(self) -> bool:
        return not self.filling and self.vectors == self.passages


async def read_spaces(connection: Connection, organization_id: UUID) -> list[Space]:
    cursor = await connection.execute(_SQL["spaces"], {"organization_id": organization_id})
    return [Space(*row) async for row in cursor]


async def describe_spaces(connection: Connection, organization_id: UUID) -> list[SpaceState]:
    """Every space of an organization, the oldest first."""
    cursor = await connection.execute(_SQL["describe_spaces"], {"organization_id": organization_id})
    return [SpaceState(*row) async for row in cursor]


async def read_centers(connection: Connection, organization_id: UUID, space_id: int) -> dict[str, Center]:
    """What is subtracted from the vectors of a space, by language; empty while nothing is indexed."""
    cursor = await connection.execute(
        _SQL["centers"], {"organization_id": organization_id, "space_id": space_id}, binary=True
    )
    return {
        language: Center(passages, of_passages.to_numpy(), of_queries.to_numpy())
        async for language, passages, of_passages, of_queries in cursor
    }


async def all_organizations(connection: Connection) -> list[UUID]:
    cursor = await connection.execute(_SQL["organizations"])
    return [row[0] async for row in cursor]


def require_embedders(spaces: Sequence[Space], embedders: Embedders, forget: Sequence[str] = ()) -> None:
    """Hold that whatever changes can be written to every complete space but those to forget.

    Raises ConfigurationError: a model is not configured here, or is configured with another length of vectors; or
    there is nothing to forget of that name.
    """
    if unknown := set(forget) - {space.model for space in spaces}:
        raise ConfigurationError(f"The organization has no vectors of {', '.join(sorted(unknown))}.")
    for space in spaces:
        embedder = embedders.get(space.model)
        if space.model in forget or (embedder is None and space.filling):
            continue
        if embedder is None:
            raise ConfigurationError(
                f"The organization {'is searched' if space.active else 'can be searched'} by vectors of {space.model},"
                f" and only {', '.join(embedders.models)} is configured here: its passages would be missing there."
                f" Set ANSWERLINE_PREVIOUS_EMBEDDER… to it, or give its vectors up: --forget-space {space.model}"
            )
        if embedder.dimensions != space.dimensions:
            raise ConfigurationError(
                f"{space.model} is stored with {space.dimensions} dimensions and configured with {embedder.dimensions}."
            )


async def switch_to(connection: Connection, organization_id: UUID, model: str) -> None:
    """Have the organization searched by another of its spaces, from the next search of every sidecar on.

    Raises ConfigurationError where that space is not there or lacks a passage, also one that was added this moment.
    """
    async with change(connection, organization_id):
        states = {state.model: state for state in await describe_spaces(connection, organization_id)}
        state = states.get(model)
        if state is None:
            raise ConfigurationError(
                f"There are no vectors of {model}: retrieval-sidecar reembed makes them. There are:"
                f" {', '.join(states) or 'none'}"
            )
        if not state.is_complete:
            raise ConfigurationError(
                f"{model} is not complete: {state.vectors} of {state.passages} passages can be searched by it,"
                f" {state.embedded} of {state.texts} texts are embedded. retrieval-sidecar reembed goes on from there."
            )
        if not state.active:
            await connection.execute(_SQL["deactivate_spaces"], {"organization_id": organization_id})
            await connection.execute(_SQL["activate_space"], {"organization_id": organization_id, "model": model})


async def drop_space(
    connection: Connection,
    organization_id: UUID,
    model: str,
    wait: Callable[[float], Awaitable[Any]] = asyncio.sleep,
) -> None:
    """Remove the vectors of a model that does not answer any more.

    Waits before it does so for as long as a search may take: one that has read its scope just before a switch still
    looks for those vectors.

    Raises ConfigurationError where they answer, or are not there.
    """
    for space in await read_spaces(connection, organization_id):
        if space.model == model and space.active:
            raise ConfigurationError(f"The organization is searched by {model}: switch to another one first.")
    await wait(LONGEST_S)
    async with change(connection, organization_id):
        cursor = await connection.execute(
            _SQL["drop_space"], {"organization_id": organization_id, "model": model, "active_too": False}
        )
        if await cursor.fetchone() is None:
            raise ConfigurationError(f"There are no vectors of {model}, or they answer again.")
