"""An organization as files: `organization.yaml` for who calls and who answers, `items.jsonl` for what is known."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.knowledge.validity import end_of, open_minutes, start_of
from retrieval_sidecar.scope.folder_keys import FolderKey


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


E164 = Annotated[str, AfterValidator(_e164)]
Folder = Annotated[str, AfterValidator(_folder_key)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Region = Annotated[str, Field(pattern=r"^([A-Z]{2}|GLOBAL)$")]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=500_000)]


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

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check a file. Raises InvalidRequest naming each field and what is allowed."""
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8-sig")))
        except yaml.YAMLError as error:
            raise InvalidRequest.of(path.name, f"is not YAML: {error}") from error
        except ValidationError as error:
            raise InvalidRequest(_problems(error)) from error


class Item(_Entry):
    """One line of `items.jsonl`. Fields that are not known here are kept as metadata."""

    model_config = ConfigDict(extra="allow", frozen=True)

    external_id: Key
    title: Annotated[str, Field(min_length=1, max_length=1000)]
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
    valid_from: str | None = None
    valid_until: str | None = None
    schedule: dict[str, list[tuple[str, str]]] | None = None
    source_url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        utc = ZoneInfo("UTC")
        opens = start_of(self.valid_from, utc) if self.valid_from else None
        closes = end_of(self.valid_until, utc) if self.valid_until else None
        if opens and closes and opens >= closes:
            raise ValueError("valid_until must come after valid_from")
        open_minutes(self.schedule or {})
        if "\x00" in self.model_dump_json():
            raise ValueError("no field may hold the character NUL")
        return self

    @property
    def metadata(self) -> dict[str, Any]:
        return self.__pydantic_extra__ or {}


def read_items(path: Path) -> Iterator[tuple[int, Item | InvalidRequest]]:
    """The lines of a JSONL file with their numbers, each an item or why it is none; blank lines are passed over."""
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _item(line)


def _item(line: str) -> Item | InvalidRequest:
    try:
        return Item.model_validate(json.loads(line))
    except json.JSONDecodeError as error:
        return InvalidRequest.of("line", f"is not JSON: {error.msg} at column {error.colno}")
    except ValidationError as error:
        return InvalidRequest(_problems(error))


def _problems(error: ValidationError) -> list[FieldProblem]:
    return [
        FieldProblem(".".join(map(str, problem["loc"])) or "document", problem["msg"])
        for problem in error.errors(include_input=False, include_url=False)
    ]
