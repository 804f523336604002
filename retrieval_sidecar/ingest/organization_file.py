"""An organization as files: `organization.yaml` for who calls and who answers, `items.jsonl` for what is known."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.knowledge.validity import end_of, open_minutes, start_of
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.text.normalize import for_embedding


def _e164(value: str) -> str:
    number = to_e164(value)
    if number is None or number != value:
        raise ValueError("must be a phone number in E.164, such as +15550001000")
    return number


def _folder_key(value: str) -> str:
    if FolderKey.parse(value) is None:
        raise ValueError("must be a canonical folder key, such as upload:Price%20list")
    return value


def _time_zone(value: str) -> str:
    if value not in available_timezones():
        raise ValueError("must be an IANA time zone, such as Europe/Berlin")
    return value


def _visible(value: str) -> str:
    if not for_embedding(value):
        raise ValueError("must hold something visible")
    return value


def _moment(value: str) -> str:
    start_of(value, _UTC)
    return value


def _hours(value: "Hours") -> "Hours":
    open_minutes(value)
    return value


_UTC = ZoneInfo("UTC")
Hours = dict[str, list[tuple[str, str]]]
E164 = Annotated[str, AfterValidator(_e164)]
Folder = Annotated[str, AfterValidator(_folder_key)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Region = Annotated[str, Field(pattern=r"^([A-Z]{2}|GLOBAL)$")]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=500_000), AfterValidator(_visible)]
Moment = Annotated[str, AfterValidator(_moment)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Organization(_Entry):
    id: UUID
    name: Text
    time_zone: TimeZone
    default_language: Language
    default_region: Region = "GLOBAL"
    language_fallbacks: dict[Language, list[Language]] = {}


class Segment(_Entry):
    key: Key
    name: Text


class Contact(_Entry):
    phone: E164
    name: Text
    language: Language | None = None
    segments: list[Key] = []


class Directory(_Entry):
    key: Key
    name: Text
    parent: Key | None = None


class Instruction(_Entry):
    key: Key
    directory: Key
    title: Text
    content: Text
    language: Language
    status: Literal["draft", "published"]
    dynamic: bool = False
    segments: list[Key] = []


class Base(_Entry):
    key: Key
    name: Text


class InstructionSelection(_Entry):
    instructions: list[Key] = []
    directories: list[Key] = []


class KnowledgeSelection(_Entry):
    items: list[Key] = []
    folders: list[Folder] = []
    bases: list[Key] = []


class Agent(_Entry):
    key: Key
    id: UUID
    name: Text
    numbers: list[E164]
    language: Language
    region: Region | None = None
    greeting: Annotated[str, Field(min_length=1, max_length=1000)]
    prompt: Annotated[str, Field(max_length=30_000)]
    handoff_number: E164 | None = None
    knowledge_mode: Literal["search", "auto"] = "search"
    instruction_scope: Literal["all"] | InstructionSelection = "all"
    knowledge_scope: Literal["all"] | KnowledgeSelection = "all"


class OrganizationFile(_Entry):
    """The whole of `organization.yaml`."""

    organization: Organization
    segments: list[Segment] = []
    contacts: list[Contact] = []
    instruction_directories: list[Directory] = []
    instructions: list[Instruction] = []
    knowledge_bases: Annotated[list[Base], Field(min_length=1)]
    agents: list[Agent]

    @model_validator(mode="after")
    def _check_unique(self) -> Self:
        """What the database would refuse half-way is refused here, by name."""
        named: dict[str, list[str]] = {
            "segments.key": [each.key for each in self.segments],
            "contacts.phone": [each.phone for each in self.contacts],
            "instruction_directories.key": [each.key for each in self.instruction_directories],
            "instructions.key": [each.key for each in self.instructions],
            "knowledge_bases.key": [each.key for each in self.knowledge_bases],
            "knowledge_bases.name": [each.name for each in self.knowledge_bases],
            "agents.key": [each.key for each in self.agents],
            "agents.name": [each.name for each in self.agents],
            "agents.id": [str(each.id) for each in self.agents],
            "agents.numbers": [number for each in self.agents for number in each.numbers],
        }
        for field, values in named.items():
            if twice := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"{field}: {', '.join(twice)} stands more than once")
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check a file. Raises InvalidRequest naming each field and what is allowed."""
        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
            if found := fault(document):
                raise InvalidRequest.of(path.name, found)
            return cls.model_validate(document)
        except UnicodeDecodeError as error:
            raise InvalidRequest.of(path.name, "is not UTF-8") from error
        except yaml.YAMLError as error:
            raise InvalidRequest.of(path.name, f"is not YAML: {error}") from error
        except ValidationError as error:
            raise InvalidRequest(_problems(error)) from error


class Item(_Entry):
    """One line of `items.jsonl`. Fields that are not known here are kept as metadata."""

    model_config = ConfigDict(extra="allow", frozen=True)

    external_id: Key
    title: Annotated[Text, Field(max_length=1000)]
    language: Language
    region_code: Region
    status: Literal["draft", "published"]
    content: Text
    source_hash: Annotated[str, Field(min_length=1, max_length=200)]
    base: Key | None = None  # the first of organization.yaml
    folder: Folder | None = None
    visibility: Literal["public", "internal"] = "public"
    channels: list[Literal["phone", "chat", "email"]] = ["phone"]
    segments: list[Key] = []
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    schedule: Annotated[Hours, AfterValidator(_hours)] | None = None
    source_url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None

    def window(self, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
        """When it holds, for an organization in that zone; None where it is open."""
        return (
            start_of(self.valid_from, zone) if self.valid_from else None,
            end_of(self.valid_until, zone) if self.valid_until else None,
        )

    @property
    def metadata(self) -> dict[str, Any]:
        return self.__pydantic_extra__ or {}


def read_items(path: Path, zone: ZoneInfo) -> Iterator[tuple[int, Item | InvalidRequest]]:
    """The lines of a JSONL file with their numbers, each an item or why it is none; blank lines are passed over.

    Args:
        zone: the organization's, in which a bare date is a day.
    """
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield number, _item(_parsed(line), zone)
                except InvalidRequest as error:
                    yield number, error


def _parsed(line: str) -> Any:
    try:
        line.encode()
        return json.loads(line)
    except UnicodeEncodeError:
        raise InvalidRequest.of("line", "is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InvalidRequest.of("line", f"is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise InvalidRequest.of("line", "holds a number that is too long, or is nested too deep") from None


def _item(document: Any, zone: ZoneInfo) -> Item:
    try:
        item = Item.model_validate(document)
    except ValidationError as error:
        raise InvalidRequest(_problems(error)) from None
    if faults := [FieldProblem(name, found) for name, value in document.items() if (found := fault({name: value}))]:
        raise InvalidRequest(faults)
    opens, closes = item.window(zone)
    if opens and closes and opens >= closes:
        raise InvalidRequest.of("valid_until", "must come after valid_from")
    return item


def _problems(error: ValidationError) -> list[FieldProblem]:
    return [
        FieldProblem(".".join(map(str, problem["loc"])) or "document", problem["msg"].removeprefix("Value error, "))
        for problem in error.errors(include_input=False, include_url=False)
    ]
