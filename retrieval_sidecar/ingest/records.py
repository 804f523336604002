"""The lines of a JSONL file as knowledge items, each by itself: a bad one is named and does not stop the rest."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.fields import Folder, Key, Language, Moment, Region, Text, WeeklyHours, problems
from retrieval_sidecar.ingest.lines import LONGEST_LINE, Line, read_lines
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.validity import end_of, start_of
from retrieval_sidecar.text.normalize import for_embedding

# Of one transaction.
BATCH_LINES = 500
BATCH_BYTES = 1_000_000
_LONGEST_HEADING = 200  # characters: of a longer one no passage would know that it stands under it
# What is told of one line; a list of a thousand wrong values is wrong once.
MOST_PROBLEMS = 10


class Item(BaseModel):
    """One line. Fields that are not known here are kept as metadata.

    A `language` is any ISO 639 code of two or three letters: one that no model knows is searched all the same. A window
    that ends before it begins in the organization's time zone is refused.

    Some files keep a question and its answers apart: `question`, `short_answer`, `full_answer`, `keywords` and
    `source_context`. Their text becomes a part of `text`, so that passages are found by it, and they are kept as
    metadata as well, as they were.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    external_id: Key
    title: Annotated[Text, Field(max_length=1000)]
    language: Language
    region_code: Region
    status: Literal["draft", "published"]
    content: Text
    source_hash: Annotated[str, Field(min_length=1, max_length=200)]
    base: Key | None = None  # of organization.yaml, whose first one it is by default; an import has one base
    folder: Folder | None = None
    visibility: Literal["public", "internal"] = "public"
    channels: list[Literal["phone", "chat", "email"]] = ["phone"]
    segments: list[Key] = []
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    schedule: WeeklyHours | None = None
    source_url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None
    question: str | None = None
    short_answer: str | None = None
    full_answer: str | None = None
    keywords: list[str] | str | None = None
    source_context: str | None = None

    @classmethod
    def parse(cls, line: bytes, zone: ZoneInfo) -> "Item":
        """Read a line of an organization in that zone.

        Raises:
            InvalidRequest: naming each field and what is allowed there, and nothing of what stands there.
        """
        document = _json(line)
        try:
            item = cls.model_validate(document)
        except ValidationError as error:
            raise InvalidRequest(problems(error)[:MOST_PROBLEMS]) from None
        if faults := [FieldProblem(name, found) for name, value in document.items() if (found := fault({name: value}))]:
            raise InvalidRequest(faults[:MOST_PROBLEMS])
        opens, closes = item.window(zone)
        if opens and closes and opens >= closes:
            raise InvalidRequest.of("valid_until", "must come after valid_from")
        return item

    def window(self, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
        """When it holds, for an organization in that zone; None where it is open."""
        return (
            start_of(self.valid_from, zone) if self.valid_from else None,
            end_of(self.valid_until, zone) if self.valid_until else None,
        )

    @property
    def text(self) -> str:
        """All that it says, as Markdown: what its passages are cut from.

        The question comes first, as a heading, so that every passage of a long answer is embedded with it. Then come
        the short answer, the content, the full answer, the keywords and the context. What the title or another part
        says already is not said again; of an item without such fields it is the content as it was.
        """
        keywords = self.keywords if isinstance(self.keywords, str) else ", ".join(self.keywords or ())
        parts = [self.question, self.short_answer, self.content, self.full_answer, keywords, self.source_context]
        # The longest ones first: what is a part of another is left out, not the other.
        said = [for_embedding(self.title)]
        kept: set[int] = set()
        for place in sorted(range(len(parts)), key=lambda place: (place != _CONTENT, -len(parts[place] or ""))):
            meaning = for_embedding(parts[place] or "")
            if place == _CONTENT or (meaning and not any(meaning in each for each in said)):
                kept.add(place)
                said.append(meaning)
        if kept == {_CONTENT}:
            return self.content
        question = " ".join((self.question or "").split())
        if _QUESTION in kept and len(question) <= _LONGEST_HEADING:
            parts[_QUESTION] = f"## {question}"
        return "\n\n".join((parts[place] or "").strip() for place in sorted(kept))

    @property
    def metadata(self) -> dict[str, Any]:
        """The fields that have no other place."""
        return self.model_dump(include=_KEPT, exclude_none=True) | (self.__pydantic_extra__ or {})


_QUESTION, _CONTENT = 0, 2  # places among the parts of a text
_KEPT = {"question", "short_answer", "full_answer", "keywords", "source_context"}


@dataclass(frozen=True, slots=True)
class Record:
    """A line that is not blank: its item, or why it is none."""

    line: int
    found: Item | InvalidRequest


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Lines that are written in one transaction.

    Attributes:
        end: the offset in the file until which everything is read with this batch.
        is_last: the file ends there.
    """

    records: Sequence[Record]
    end: int
    is_last: bool


async def read_records(content: AsyncIterator[bytes], zone: ZoneInfo, *, start: int = 0) -> AsyncIterator[RecordBatch]:
    """The lines of a file in batches of bounded size; blank ones are passed over. The last batch may be empty.

    Args:
        zone: the organization's, in which a bare date is a day.
        start: the `end` of the last batch that was read before; its lines and those before it are passed over.
    """
    lines: list[Line] = []
    size, end = 0, start
    async for line in read_lines(content, start=start):
        if lines and (len(lines) == BATCH_LINES or size + line.end - end > BATCH_BYTES):
            yield RecordBatch(await asyncio.to_thread(_records, lines, zone), end, is_last=False)
            lines, size = [], 0
        lines.append(line)
        size += line.end - end
        end = line.end
    yield RecordBatch(await asyncio.to_thread(_records, lines, zone), end, is_last=True)


def _records(lines: Sequence[Line], zone: ZoneInfo) -> list[Record]:
    return [
        Record(line.number, _read(line, zone)) for line in lines if line.content is None or not _is_blank(line.content)
    ]


def _is_blank(line: bytes) -> bool:
    return not line.decode(errors="replace").strip()


def _read(line: Line, zone: ZoneInfo) -> Item | InvalidRequest:
    try:
        if line.content is None:
            raise InvalidRequest.of("line", f"is longer than {LONGEST_LINE} bytes: make several items of it")
        return Item.parse(line.content, zone)
    except InvalidRequest as error:
        return error


def _json(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise InvalidRequest.of("line", "is not UTF-8") from None
    except json.JSONDecodeError as error:
        what, _, _ = error.msg.partition(":")  # after a colon it repeats what stands there
        raise InvalidRequest.of("line", f"is not JSON: {what.removesuffix(' at')} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise InvalidRequest.of("line", "holds a number that is too long, or is nested too deep") from None
