"""Evaluation sets: documents and questions with the documents that answer them.

A folder with `corpus.jsonl` {id, title, text, lang} and `queries.jsonl` {id, text, lang, relevant_ids}, where no
relevant id means that nothing should be found.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Query:
    id: str
    text: str
    language: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents, and what is asked of them."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]

    def asking(self, name: str, *, language: str | None = None, answerable: bool | None = None) -> "Dataset":
        """The same documents, some of the queries."""
        return replace(
            self,
            name=name,
            queries=tuple(
                query
                for query in self.queries
                if language in (None, query.language) and answerable in (None, bool(query.relevant))
            ),
        )

    def sampled(self, limit: int | None) -> "Dataset":
        """At most so many queries, evenly spread over the set and the same each time."""
        if limit is None or len(self.queries) <= limit:
            return self
        step = len(self.queries) / limit
        return replace(self, queries=tuple(self.queries[int(index * step)] for index in range(limit)))


def read(folder: Path, corpus: str = "corpus.jsonl") -> Dataset:
    """Read a folder of that form."""
    return Dataset(
        folder.name,
        tuple(
            Document(row["id"], row["title"] or row["id"], row["text"], row["lang"]) for row in _rows(folder / corpus)
        ),
        tuple(
            Query(row["id"], row["text"], row["lang"], frozenset(row["relevant_ids"]))
            for row in _rows(folder / "queries.jsonl")
        ),
    )


def mixed_language(folder: Path, first: str, second: str) -> Dataset:
    """Half of XQuAD's paragraphs in one language only, the other half in another only.

    A paragraph keeps the id of its English twin, so that a question in any language names it.
    """
    documents: list[Document] = []
    for language, parity in ((first, 0), (second, 1)):
        corpus = "corpus.jsonl" if language == "en" else f"corpus.{language}.jsonl"
        for number, document in enumerate(read(folder, corpus).documents):
            if number % 2 == parity:
                documents.append(replace(document, id=f"en:p{number:03d}"))
    return replace(read(folder), name=f"xquad {first}+{second}", documents=tuple(documents))


def lines_as_documents(dataset: Dataset) -> Dataset:
    """Each line of a document as a document of its own, titled and named by it: CLINC's utterances."""
    documents = [
        Document(f"{document.id}#{number}", line, line, document.language)
        for document in dataset.documents
        for number, line in enumerate(document.text.splitlines())
        if line.strip()
    ]
    return replace(dataset, documents=tuple(documents))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
