"""Labelled questions: what callers ask, and the items that answer it.

A file of JSON objects, one a line: `{"query": "when do you open", "language": "en", "expected": ["opening-hours"]}`.
`expected` holds external ids of items, any of which answers the question; none means that nothing should be found.
`language` may be left out.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.search.question import MAX_CHARACTERS
from retrieval_sidecar.text.normalize import for_embedding

_MOST_PROBLEMS = 10


class Labelled(BaseModel):
    """One question; see the module."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    query: str = Field(max_length=MAX_CHARACTERS)
    language: str | None = Field(default=None, pattern="^[a-z]{2,3}$")
    expected: list[str]


def read_questions(file: Path) -> list[Labelled]:
    """All questions of a file. Raises InvalidRequest naming each bad line, ten at most; blank lines do not count."""
    found: list[Labelled] = []
    problems: list[FieldProblem] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            question = Labelled.model_validate_json(line)
        except ValidationError as error:
            field = ".".join(map(str, error.errors()[0]["loc"])) or "line"
            problems.append(FieldProblem(f"line {number}: {field}", error.errors()[0]["msg"]))
            continue
        if for_embedding(question.query):
            found.append(question)
        else:
            problems.append(FieldProblem(f"line {number}: query", "must not be blank"))
    if problems:
        raise InvalidRequest(problems[:_MOST_PROBLEMS])
    return found
