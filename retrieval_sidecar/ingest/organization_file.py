"""An organization as a file, `organization.yaml`: who calls, who answers, and what bases its knowledge stands in."""

from pathlib import Path
from typing import Annotated, Literal, Self
from uuid import UUID
from zoneinfo import available_timezones

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.fields import Folder, Key, Language, Region, Text, problems
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.phone_numbers import to_e164


def _e164(value: str) -> str:
    number = to_e164(value)
    if number is None or number != value:
        raise ValueError("must be a phone number in E.164, such as +15550001000")
    return number


def _time_zone(value: str) -> str:
    if value not in available_timezones():
        raise ValueError("must be an IANA time zone, such as Europe/Berlin")
    return value


def _no_base(value: str) -> str:
    # Of its items only those without a folder stand in a base's own; as a selection its key means all of them.
    if value.startswith("base:"):
        raise ValueError("must not name a knowledge base, which goes into `bases` by its key")
    return value


E164 = Annotated[str, AfterValidator(_e164)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
SelectedFolder = Annotated[Folder, AfterValidator(_no_base)]


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
    folders: list[SelectedFolder] = []
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
            raise InvalidRequest(problems(error)) from error
