"""What there is to do until an organization can be searched as its documents say now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.ingest.passages import MAX_CHARACTERS, OVERLAP_CHARACTERS, TARGET_CHARACTERS
from retrieval_sidecar.ingest.spaces import Space, read_spaces, require_embedders
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")

# A part of each document's hash. Raise the first number when passages, their words or their codes come to be made in
# another way: the next load then makes all of them anew.
RECIPE = f"1 {TARGET_CHARACTERS} {MAX_CHARACTERS} {OVERLAP_CHARACTERS}"

# Of one swap. A document of its own is one swap however long it is.
BATCH_DOCUMENTS = 200
BATCH_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class Target:
    """A space to be written, and the embedder of its model."""

    space: Space
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents whose passages are swapped together.

    Attributes:
        characters: of their contents.
    """

    document_ids: Sequence[UUID]
    characters: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What was found.

    Attributes:
        targets: the complete spaces; whatever is written is written to each of them.
        filling: a space to be made complete.
        into: the model of the space that is to answer where none does.
        forget: models of spaces that go.
        recipe: how passages are made now.
        batches: the documents whose passages are out of date. All their ids are held at once, not what they say.
    """

    targets: Sequence[Target]
    filling: Target | None
    into: str
    forget: Sequence[str]
    recipe: str
    batches: Sequence[Batch]

    @property
    def begins_with_spaces(self) -> bool:
        """Whether the spaces come before the documents: those could not be written as long as a space is to go."""
        return bool(self.forget) or not self.targets

    @property
    def written(self) -> Sequence[Target]:
        """Every space that is written to, the one that is filled included."""
        return [*self.targets, *([self.filling] if self.filling else [])]


async def make_plan(
    connection: Connection,
    embedders: Embedders,
    organization_id: UUID,
    *,
    source_id: UUID | None,
    document_ids: Sequence[UUID] | None,
    into: Embedder | None,
    forget: Sequence[str],
) -> Plan:
    """Find what is out of date. Reads only, but for the entry of a space that is begun.

    Args:
        source_id: of which documents; None for all of the organization's.
        document_ids: of them only these, if not None.
        into: an embedder whose space is to be made complete too.
        forget: models of spaces that will go.

    Raises:
        ConfigurationError: something changed, and a complete space could not follow; see `require_embedders`.
    """
    scope = {"organization_id": organization_id}
    spaces = await read_spaces(connection, organization_id)
    if into is None and not any(space.active and space.model not in forget for space in spaces):
        into = embedders.preferred
    if into is not None and into.model not in {space.model for space in spaces}:
        await connection.execute(_SQL["add_space"], scope | {"model": into.model, "dimensions": into.dimensions})
        spaces = await read_spaces(connection, organization_id)
    targets = [
        Target(space, embedder)
        for space in spaces
        if space.model not in forget and (embedder := embedders.get(space.model)) is not None
    ]
    async with connection.transaction():
        await connection.execute(_SQL["plan_in_bulk"])
        part = {"source_id": source_id, "document_ids": None if document_ids is None else list(document_ids)}
        cursor = await connection.execute(_SQL["outdated_documents"], scope | part | {"recipe": RECIPE}, binary=True)
        batches = list(in_batches([(row[0], row[1]) async for row in cursor]))
    # What does not change stays complete in a space that cannot be written.
    unwritten = [] if batches else [space.model for space in spaces if embedders.get(space.model) is None]
    require_embedders(spaces, embedders, [*forget, *unwritten])
    return Plan(
        [target for target in targets if not target.space.filling],
        next(
            (target for target in targets if into and target.space.filling and target.space.model == into.model), None
        ),
        (into or embedders.preferred).model,
        forget,
        RECIPE,
        batches,
    )


def in_batches(documents: Sequence[tuple[UUID, int]]) -> Iterator[Batch]:
    """Documents, each with its characters, in batches of bounded size; one that is longer is a batch by itself."""
    chosen: list[UUID] = []
    characters = 0
    for document_id, length in documents:
        if chosen and (len(chosen) == BATCH_DOCUMENTS or characters + length > BATCH_CHARACTERS):
            yield Batch(chosen, characters)
            chosen, characters = [], 0
        chosen.append(document_id)
        characters += length
    if chosen:
        yield Batch(chosen, characters)
