"""Evaluation sets: documents and questions with the documents that answer them.

A folder with `corpus.jsonl` {id, title, text, lang} and `queries.jsonl` {id, text, lang, relevant_ids}, where no
relevant id means that nothing should be found.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

SHARED = Path(__file__).parents[3] / "shared" / "data"
SAMPLE = Path(__file__).parents[2] / "demo" / "sample"
ORGANIZATION = UUID("e0a10000-0000-4000-8000-000000000001")
AGENT = UUID("e0a10000-0000-4000-8000-000000000002")


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked.

    Attributes:
        relevant: the documents that answer it; none where nothing should be found.
        agent, caller: who is called, and by which number (E.164).
    """

    id: str
    text: str
    language: str
    relevant: frozenset[str]
    agent: UUID = AGENT
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents, and what is asked of them.

    Attributes:
        is_whole: whether these are all the questions, so that the baselines hold.
        files: what `organization.yaml` and `items.jsonl` hold, where the set has its own.
    """

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    is_whole: bool = True
    files: tuple[dict[str, Any], list[dict[str, Any]]] | None = field(default=None, repr=False)

    @property
    def organization_id(self) -> UUID:
        return ORGANIZATION if self.files is None else UUID(self.files[0]["organization"]["id"])

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
        chosen = tuple(self.queries[int(index * step)] for index in range(limit))
        return replace(self, queries=chosen, is_whole=False)


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


def sample() -> Dataset:
    """The demo's organization, with its scopes and callers, and the questions that are kept beside it."""
    organization = yaml.safe_load((SAMPLE / "organization.yaml").read_text("utf-8"))
    items = list(_rows(SAMPLE / "items.jsonl"))
    ids = {agent["key"]: UUID(agent["id"]) for agent in organization["agents"]}
    by_number = {number: ids[agent["key"]] for agent in organization["agents"] for number in agent["numbers"]}
    written = [
        Query(row["id"], row["text"], row["lang"], frozenset(row["relevant"]), ids[row["agent"]], row["caller"])
        for row in _rows(SAMPLE / "eval.jsonl")
    ]
    calls = yaml.safe_load((SAMPLE / "questions.yaml").read_text("utf-8"))["calls"]
    spoken = [
        Query(
            f"{call['called']} {number}",
            question["say"],
            "en",
            frozenset(filter(None, [question["expect"].get("external_id")])),
            by_number[call["called"]],
            call["caller"],
        )
        for call in calls
        for number, question in enumerate(call["questions"])
    ]
    documents = tuple(Document(row["external_id"], row["title"], row["content"], row["language"]) for row in items)
    return Dataset("sample", documents, (*written, *spoken), files=(organization, items))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
