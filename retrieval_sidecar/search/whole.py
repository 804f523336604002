"""All that a call may hear, in one text, where it is little enough for a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.search.statement import scope_parameters, shape_of, whole_statement

MOST_CHARACTERS: Final = 30_000
_MOST_BYTES: Final = 4 * MOST_CHARACTERS  # of UTF-8
_AROUND: Final = len("## \n\n")
# Each has a title and a text, of a character at the least.
_MOST_DOCUMENTS: Final = MOST_CHARACTERS // (_AROUND + 2)


@dataclass(frozen=True, slots=True)
class Document:
    """A knowledge item or an instruction, as it is told."""

    is_instruction: bool
    id: UUID
    title: str
    content: str

    def __str__(self) -> str:
        """Of both kinds alike: which it is could not be believed, as any text may hold the words that say it."""
        return f"## {' '.join(self.title.split())}\n\n{self.content.strip()}"


async def find_documents(connection: Connection, scope: Scope) -> list[Document]:
    """The documents that a scope allows now; none too where they are too many or too long to be told whole.

    What decides is the predicate of every search, over the same passages: a document without a passage that a search
    could return is not among them.
    """
    shape = shape_of(scope)
    if not shape:
        return []
    statement = whole_statement(
        shape, partition_id=scope.partition_id, most_documents=_MOST_DOCUMENTS, most_bytes=_MOST_BYTES
    )
    cursor = await connection.execute(statement, scope_parameters(scope))
    return [Document(*row) async for row in cursor]


def told_whole(documents: Sequence[Document]) -> str | None:
    """One text of them all; None where there is nothing, or more than a prompt may hold."""
    text = "\n\n".join(map(str, documents))
    return text if 0 < len(text) <= MOST_CHARACTERS else None
