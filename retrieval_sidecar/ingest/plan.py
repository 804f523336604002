"""What there is to do until an organization can be searched as its documents say now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.embeddings.collection import StrictestLimit
from retrieval_sidecar.ingest.passages import MAX_CHARACTERS, OVERLAP_CHARACTERS, TARGET_CHARACTERS, Passage, split
from retrieval_sidecar.ingest.spaces import Space, read_spaces, require_embedders
from retrieval_sidecar.ingest.tokens import TokenLimit
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")

# A part of each document's hash. Raise the first number when passages, their words or their codes come to be made in
# another way: the next load then makes all of them anew.
RECIPE = f"1 {TARGET_CHARACTERS} {MAX_CHARACTERS} {OVERLAP_CHARACTERS}"

_DocumentKey = tuple[UUID | None, UUID | None]


@dataclass(frozen=True, slots=True)
class Document:
    """A knowledge item or an instruction as it was read. `hash` is of all that its passages are made from."""

    item_id: UUID | None
    instruction_id: UUID | None
    language: str
    title: str
    content: str
    hash: bytes

    @property
    def key(self) -> _DocumentKey:
        return self.item_id, self.instruction_id

    @property
    def document_id(self) -> UUID:
        found = self.item_id or self.instruction_id
        assert found is not None  # noqa: S101 - one of the two it is
        return found


@dataclass(frozen=True, slots=True)
class Target:
    """A space to be written, and the embedder of its model."""

    space: Space
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Plan:
    """What was read, and what is to be written if it still holds then.

    Attributes:
        spaces: all of the organization's.
        targets: those to be written.
        into: the model of the one that is to answer where none does yet.
        documents: those whose passages are to be replaced.
        passages: the new ones, each with its document.
        texts: by target, what its space needs vectors of, by the keys under which they are kept.
    """

    spaces: Sequence[Space]
    targets: Sequence[Target]
    into: str
    documents: Sequence[Document]
    passages: Sequence[tuple[Document, Passage]]
    texts: Sequence[Mapping[bytes, str]]

    @property
    def parameters(self) -> dict[str, Any]:
        """How statements name the planned documents."""
        return {
            "recipe": RECIPE,
            "document_ids": [document.document_id for document in self.documents],
            "item_ids": [document.item_id for document in self.documents if document.item_id],
            "instruction_ids": [document.instruction_id for document in self.documents if document.instruction_id],
            "hashes": [document.hash for document in self.documents],
        }


async def make_plan(
    connection: Connection,
    embedders: Embedders,
    organization_id: UUID,
    *,
    source_id: UUID | None,
    into: Embedder | None,
    forget: Sequence[str],
) -> Plan:
    """Read what is out of date. Reads only, but for the entry of a space that is begun.

    Args:
        source_id: of which documents; None for all of the organization's.
        into: an embedder whose space is to be made complete too.
        forget: models of spaces that will go.

    Raises:
        ConfigurationError: something changed, and a complete space could not follow; see `require_embedders`.
    """
    scope = {"organization_id": organization_id, "recipe": RECIPE, "source_id": source_id}
    spaces = await read_spaces(connection, organization_id)
    if into is None and not any(space.active and space.model not in forget for space in spaces):
        into = embedders.preferred
    if into is not None and into.model not in {space.model for space in spaces}:
        await connection.execute(_SQL["add_space"], scope | {"model": into.model, "dimensions": into.dimensions})
        spaces = await read_spaces(connection, organization_id)
    targets = [
        Target(space, embedder)
        for space in spaces
        if (embedder := embedders.get(space.model)) is not None
        and space.model not in forget
        and (not space.filling or (into is not None and space.model == into.model))
    ]
    outdated = await _documents(connection, "outdated_documents", scope)
    kept: list[dict[bytes, str]] = []
    too_long: set[UUID] = set()
    limit = None
    if targets:
        limit = TokenLimit(StrictestLimit([target.embedder for target in targets]))
        replaced = {document.key for document in outdated}
        for target in targets:
            texts, to_cut = await _unembedded(connection, scope | {"space_id": target.space.space_id}, replaced, limit)
            kept.append(texts)
            too_long |= to_cut
        if too_long:
            again = await _documents(connection, "documents_by_id", scope | {"document_ids": list(too_long)})
            outdated += [document for document in again if document.key not in replaced]
    # What does not change stays complete in a space that cannot be written.
    unwritten = [] if outdated else [space.model for space in spaces if embedders.get(space.model) is None]
    require_embedders(spaces, embedders, [*forget, *unwritten])
    passages = [
        (document, passage) for document in outdated for passage in split(document.title, document.content, limit)
    ]
    new = {passage.text_hash: passage.embedded_text for _, passage in passages}
    into_model = (into or embedders.preferred).model
    return Plan(spaces, targets, into_model, outdated, passages, [new | texts for texts in kept])


async def _documents(connection: Connection, name: str, parameters: Mapping[str, Any]) -> list[Document]:
    cursor = await connection.execute(_SQL[name], parameters, binary=True)
    return [Document(*row) async for row in cursor]


async def _unembedded(
    connection: Connection, scope: Mapping[str, Any], replaced: Iterable[_DocumentKey], limit: TokenLimit
) -> tuple[dict[bytes, str], set[UUID]]:
    """Texts of passages that stay and have no kept vector; and documents with such passages that must be cut again.

    Those are longer than one of the models takes, or of a text that is made otherwise now.
    """
    cursor = await connection.execute(_SQL["unembedded_passages"], scope, binary=True)
    texts: dict[bytes, str] = {}
    to_cut: set[UUID] = set()
    gone = set(replaced)
    async for item_id, instruction_id, text_hash, index, title, content, heading in cursor:
        if (item_id, instruction_id) in gone:
            continue
        passage = Passage(index, title, content, heading)
        text = passage.embedded_text
        if passage.text_hash != bytes(text_hash) or not limit.fits(text):
            to_cut.add(item_id or instruction_id)
        else:
            texts[bytes(text_hash)] = text
    return texts, to_cut
