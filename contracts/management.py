# Generated from management.openapi.yaml by `python -m contracts generate`; never edited.

from __future__ import annotations

from typing import Annotated, Any, Literal
from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints
from contracts.model import ContractModel
from uuid import UUID
from typing_extensions import TypeAliasType


class FieldError(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    field: Annotated[str, Field(description="The path of the field in the request.")]
    message: Annotated[str, Field(description="What is allowed.")]


class KnowledgeBaseChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    published: bool | None = None


class AgentReference(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str


class KnowledgeBase(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    owner_type: Annotated[
        Literal["organization", "team", "user"],
        Field(
            description="Whose it is: the organization's, which is usual; a team's; or the person's whose key it is, which is called `user`.\n"
        ),
    ]
    team_id: Annotated[UUID | None, Field(description="Of a team's.")] = None
    published: Annotated[
        bool,
        Field(
            description="Whether agents may search it, and all of the organization sees it; always so of its own."
        ),
    ]
    source_count: Annotated[int, Field(ge=0)]
    item_count: Annotated[int, Field(description="Knowledge items of all its sources.", ge=0)]
    chunk_count: Annotated[int, Field(description="Passages of all its sources.", ge=0)]
    characters: Annotated[int, Field(description="Of all its sources.", ge=0)]
    agent_count: Annotated[int, Field(ge=0)]
    agents: Annotated[
        list[AgentReference],
        Field(
            description="The agents that have selected it or something of it, by name, the first hundred. Agents without a selection\nsearch it too.\n",
            max_length=100,
        ),
    ]


class KnowledgeBasePage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[KnowledgeBase], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class PageRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    url: Annotated[
        str,
        Field(
            description="An `http` or `https` address.",
            max_length=2048,
            min_length=8,
            pattern="^[Hh][Tt][Tt][Pp][Ss]?://\\S+$",
        ),
    ]
    name: Annotated[
        str | None,
        Field(
            description="Without it, the page's title once it is read, and its address until then.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None


class TextRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    text: Annotated[
        str,
        Field(
            description="The text itself. The sidecar's own limit may be lower.",
            max_length=500000,
            min_length=1,
            pattern="\\S",
        ),
    ]


class Rejection(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    line: Annotated[int, Field(ge=1)]
    field: str
    reason: str


class SourceRemoved(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID


class Passage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    item_id: UUID
    chunk_index: Annotated[int, Field(ge=0)]
    title: str
    heading: Annotated[str | None, Field(description="The headings that it stands under.")] = None
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    text: Annotated[str, Field(max_length=2000)]


class PassagePage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Passage], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class SearchRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[
        str,
        Field(
            description="The question, 1 to 500 characters after trimming.",
            max_length=500,
            min_length=1,
            pattern="\\S",
        ),
    ]
    limit: Annotated[int | None, Field(ge=1, le=20)] = 5
    agent_id: UUID | None = None
    contact_id: Annotated[
        UUID | None, Field(description="The caller; without it, an unknown one.")
    ] = None


class SearchResult(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["instruction", "knowledge"]
    kb_id: Annotated[UUID | None, Field(description="Absent of an instruction.")] = None
    source_id: Annotated[UUID | None, Field(description="Absent of an instruction.")] = None
    source_name: Annotated[str | None, Field(description="Absent of an instruction.")] = None
    id: Annotated[UUID, Field(description="Of the item or the instruction.")]
    chunk_index: Annotated[int, Field(ge=0)]
    title: str
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    text: Annotated[str, Field(max_length=2000)]
    score: Annotated[
        float,
        Field(
            description="How sure it is that this answers the question; to be compared with `min_score`.",
            ge=0.0,
            le=1.0,
        ),
    ]
    keyword: Annotated[
        float, Field(description="The share of the question's words that it holds.", ge=0.0, le=1.0)
    ]
    relevant: Annotated[bool, Field(description="Whether a call would be given it.")]


class TrialRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[
        str,
        Field(
            description="The question, 1 to 500 characters after trimming.",
            max_length=500,
            min_length=1,
            pattern="\\S",
        ),
    ]
    language: Annotated[
        str | None,
        Field(
            description="The language that an answer is wanted in; without it, the question's own.",
            pattern="^[a-z]{2,3}$",
        ),
    ] = None
    contact_id: Annotated[UUID | None, Field(description="Who calls.")] = None
    caller_number: Annotated[
        str | None,
        Field(
            description="The number that calls, in place of a contact; one of nobody known is a stranger's.",
            pattern="^\\+[1-9][0-9]{1,14}$",
        ),
    ] = None
    limit: Annotated[
        int | None,
        Field(
            description="How many are told at most of those that a call would not be given.",
            ge=1,
            le=50,
        ),
    ] = 20


class TrialResult(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["instruction", "knowledge"]
    kb_id: Annotated[UUID | None, Field(description="Absent of an instruction.")] = None
    source_id: Annotated[UUID | None, Field(description="Absent of an instruction.")] = None
    source_name: Annotated[str | None, Field(description="Absent of an instruction.")] = None
    source_url: str | None = None
    id: Annotated[UUID, Field(description="Of the item or the instruction.")]
    chunk_index: Annotated[int, Field(ge=0)]
    title: str
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    text: Annotated[str, Field(max_length=2000)]
    score: Annotated[
        float,
        Field(
            description="How sure it is that this answers the question; of what is not searched, how sure it would be.",
            ge=0.0,
            le=1.0,
        ),
    ]
    meaning: Annotated[
        float | None,
        Field(
            description="How near it is to the question by meaning; absent when degraded.",
            ge=-1.0,
            le=1.0,
        ),
    ] = None
    keyword: Annotated[
        float, Field(description="The share of the question's words that it holds.", ge=0.0, le=1.0)
    ]
    keywords: Annotated[list[str], Field(description="Those words, in their normal form.")]
    code: Annotated[bool, Field(description="Whether it holds a code that the question names.")]
    given: Annotated[bool, Field(description="Whether a call would be given it.")]
    why_not: Annotated[
        list[
            Literal[
                "not_relevant",
                "not_among_best",
                "out_of_scope",
                "draft",
                "internal",
                "other_channel",
                "expired",
                "not_yet_valid",
                "outside_schedule",
                "segment",
                "source_not_ready",
            ]
        ]
        | None,
        Field(description="Absent of what is given.", min_length=1),
    ] = None


class KnowledgeFolder(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    key: Annotated[
        str,
        Field(
            description="A folder by its canonical key, such as `upload:Price%20list`; `base:<id>` is a whole knowledge base.\n",
            max_length=2000,
            min_length=1,
            pattern="^[a-z]+:[A-Za-z0-9._~%/-]*$",
        ),
    ]
    name: Annotated[
        str,
        Field(
            description="The knowledge base's, or what the key says, decoded; empty for `workflow:`."
        ),
    ]
    item_count: Annotated[int, Field(description="As its list of items has them.", ge=0)]


class KnowledgeFolderPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[KnowledgeFolder], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class KnowledgeItem(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    title: str
    status: Literal["draft", "published"]


class OpeningTime(ContractModel):
    """
    To `24:00`, or, where it closes no later than it opens, to that time of the next day.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    opens: Annotated[str, Field(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    closes: Annotated[str, Field(pattern="^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]


class WeeklySchedule(ContractModel):
    """
    When it may be told, on the organization's clock. A day that is left out, or has no times, is closed. An empty schedule
    is none: at any time.

    """

    model_config = ConfigDict(
        extra="forbid",
    )
    mon: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    tue: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    wed: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    thu: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    fri: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    sat: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None
    sun: Annotated[list[OpeningTime] | None, Field(max_length=720)] = None


class KnowledgeItemDetail(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    kb_id: UUID
    source_id: UUID
    source_kind: Literal["file", "url", "text", "jsonl", "integration"]
    written: Annotated[
        bool, Field(description="By hand, here. Otherwise its content is its source's.")
    ]
    external_id: Annotated[str, Field(description="What its source calls it.")]
    title: str
    content: Annotated[str | None, Field(description="Of one item alone, not in lists.")] = None
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    region_code: str
    status: Literal["draft", "published"]
    visibility: Annotated[
        Literal["public", "internal"], Field(description="`internal` is never told to a caller.")
    ]
    channels: list[Literal["phone", "chat", "email"]]
    segments: Annotated[
        list[str],
        Field(description="The keys of those that it is for, in order; none is for everybody."),
    ]
    valid_from: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None
    schedule: WeeklySchedule | None = None
    source_url: str | None = None
    folder_key: Annotated[
        str,
        Field(
            description="A folder by its canonical key, such as `upload:Price%20list`; `base:<id>` is a whole knowledge base.\n",
            max_length=2000,
            min_length=1,
            pattern="^[a-z]+:[A-Za-z0-9._~%/-]*$",
        ),
    ]
    set_by_hand: Annotated[
        list[str],
        Field(
            description="The fields that an operator has set of an item that its source gave; the source does not change them."
        ),
    ]
    indexed: Annotated[
        bool,
        Field(
            description="Searches know it as it was written last. Otherwise they know what it said before, of a new one nothing. How far a\nsource's own reading is, the source says.\n"
        ),
    ]
    error: Annotated[str | None, Field(description="Why indexing it failed, and what to do.")] = (
        None
    )
    error_code: Annotated[str | None, Field(description="The same for programs.")] = None
    updated_at: AwareDatetime


class KnowledgeItemDetailPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[KnowledgeItemDetail], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class KnowledgeItemPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[KnowledgeItem], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class InstructionDirectory(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    parent_id: Annotated[UUID | None, Field(description="Absent of one at the top.")] = None
    name: str
    instruction_count: Annotated[int, Field(description="Directly in it, drafts among them.", ge=0)]


class InstructionDirectoryPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[InstructionDirectory], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class Instruction(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    title: str
    directory_id: UUID
    status: Literal["draft", "published"]


class InstructionDetail(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    title: str
    content: str
    directory_id: UUID
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    status: Literal["draft", "published"]
    dynamic: bool
    segments: Annotated[
        list[str],
        Field(description="The keys of those that it is for, in order; none is for everybody."),
    ]
    indexed: Annotated[
        bool,
        Field(
            description="Searches know it as it was written last. Otherwise they know what it said before, of a new one nothing."
        ),
    ]
    error: Annotated[str | None, Field(description="Why indexing it failed, and what to do.")] = (
        None
    )
    error_code: Annotated[str | None, Field(description="The same for programs.")] = None
    updated_at: AwareDatetime


class InstructionDirectoryRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    parent_id: Annotated[
        UUID | None, Field(description="Where it stands; without it, at the top.")
    ] = None


class InstructionDirectoryChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    parent_id: Annotated[
        str | None,
        Field(
            description="The id of the directory that it is to stand in; empty for the top.",
            pattern="^(|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$",
        ),
    ] = None


class InstructionPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Instruction], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class InstructionScope(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    instruction_ids: list[UUID]
    directory_ids: list[UUID]


class KnowledgeScope(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    item_ids: list[UUID]
    folder_keys: Annotated[
        list[str], Field(description="Folders and, as `base:<id>`, knowledge bases.")
    ]


class DirectorySummary(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    parent_id: Annotated[UUID | None, Field(description="Absent of one at the top.")] = None
    name: str
    instruction_count: Annotated[int, Field(description="Directly in it.", ge=0)]
    is_selected: Annotated[
        bool, Field(description="By itself; those above it may be selected too.")
    ]
    selected_instruction_count: Annotated[
        int, Field(description="Of those, selected by themselves.", ge=0)
    ]


class FolderSummary(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    key: Annotated[
        str,
        Field(
            description="A folder by its canonical key, such as `upload:Price%20list`; `base:<id>` is a whole knowledge base.\n",
            max_length=2000,
            min_length=1,
            pattern="^[a-z]+:[A-Za-z0-9._~%/-]*$",
        ),
    ]
    name: str
    item_count: Annotated[int, Field(ge=0)]
    is_selected: bool
    selected_item_count: Annotated[
        int, Field(description="Of those, selected by themselves.", ge=0)
    ]


class KnowledgeSources(ContractModel):
    """
    What is selected, and what there is to select from: up to 1,000 directories and 1,000 folders and bases, selected
    ones first. The lists have all of them.

    """

    model_config = ConfigDict(
        extra="forbid",
    )
    instruction_scope: InstructionScope
    knowledge_scope: KnowledgeScope
    directories: Annotated[list[DirectorySummary], Field(max_length=1000)]
    folders: Annotated[list[FolderSummary], Field(max_length=1000)]


class KnowledgeSourcesRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    instruction_ids: Annotated[list[UUID] | None, Field(max_length=10000)] = None
    instruction_directory_ids: Annotated[list[UUID] | None, Field(max_length=10000)] = None
    knowledge_item_ids: Annotated[list[UUID] | None, Field(max_length=10000)] = None
    knowledge_folder_keys: Annotated[list[str] | None, Field(max_length=1000)] = None


class PhoneNumber(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    phone_number: Annotated[str, Field(description="In E.164.")]
    agent_id: Annotated[UUID, Field(description="Who answers it.")]


class PhoneNumberRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    phone_number: Annotated[
        str,
        Field(
            description="A phone number with its country code, as people write it. It is kept in E.164.",
            max_length=40,
            min_length=3,
        ),
    ]
    agent_id: UUID


class PhoneNumberChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    agent_id: UUID


class PhoneNumberPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[PhoneNumber], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class Contact(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    phone_number: Annotated[str, Field(description="In E.164.")]
    name: str
    language: Annotated[
        str | None, Field(description="That they prefer; absent where nobody said.")
    ] = None
    segments: Annotated[
        list[str], Field(description="The keys of those that they are in, in order.")
    ]


class ContactPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Contact], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class Segment(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    key: Annotated[str, Field(description="By which contacts, files and items name it.")]
    name: str
    contact_count: Annotated[int, Field(ge=0)]
    item_count: Annotated[
        int, Field(description="Knowledge items that are for it, deleted ones too.", ge=0)
    ]
    instruction_count: Annotated[int, Field(description="The same of instructions.", ge=0)]


class SegmentRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    key: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]


class SegmentChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]


class SegmentPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Segment], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class Team(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    member_count: Annotated[int, Field(ge=0)]


class TeamRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]


class TeamPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Team], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class TeamMember(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str


class TeamMemberPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[TeamMember], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class Member(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ]
    created_at: AwareDatetime
    key_count: Annotated[
        int, Field(description="Of their API keys, those that are not revoked.", ge=0)
    ]


class MemberRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ]


class MemberChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]] | None,
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ] = None


class MemberPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Member], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class ApiKey(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ]
    member_id: Annotated[UUID | None, Field(description="Absent of the organization's own.")] = None
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    last_used_at: Annotated[AwareDatetime | None, Field(description="To the minute.")] = None


class NewApiKey(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ]
    member_id: Annotated[UUID | None, Field(description="Absent of the organization's own.")] = None
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None
    last_used_at: Annotated[AwareDatetime | None, Field(description="To the minute.")] = None
    key: Annotated[
        str, Field(description="What goes into the header `X-API-Key`. It cannot be read again.")
    ]


class ApiKeyRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ]
    member_id: Annotated[
        UUID | None, Field(description="Whose it is; without it, the organization's own.")
    ] = None
    expires_at: Annotated[
        AwareDatetime | None,
        Field(description="When it ends by itself, in the future; without it, never."),
    ] = None


class ApiKeyChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]] | None,
        Field(
            description="`agents.view` reads, `agents.edit` changes too, `admin` may do all.",
            max_length=3,
            min_length=1,
        ),
    ] = None
    expires_at: Annotated[AwareDatetime | None, Field(description="In the future.")] = None


class ApiKeyPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[ApiKey], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


LanguageFallbacksAdditionalProperty = TypeAliasType(
    "LanguageFallbacksAdditionalProperty", Annotated[list[str], Field(max_length=10)]
)


class Organization(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    time_zone: Annotated[
        str, Field(description="IANA, such as Europe/Berlin. Weekly hours go by its clock.")
    ]
    default_language: Annotated[
        str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ]
    default_region: Annotated[
        str, Field(description="ISO 3166 alpha-2, or `GLOBAL`.", pattern="^([A-Z]{2}|GLOBAL)$")
    ]
    language_fallbacks: Annotated[
        dict[
            Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")],
            LanguageFallbacksAdditionalProperty,
        ],
        Field(
            description="For a language those that are searched after it, in order.", max_length=100
        ),
    ]


class OrganizationChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    time_zone: Annotated[str | None, Field(description="IANA.", max_length=64, min_length=1)] = None
    default_language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    default_region: Annotated[
        str | None,
        Field(description="ISO 3166 alpha-2, or `GLOBAL`.", pattern="^([A-Z]{2}|GLOBAL)$"),
    ] = None
    language_fallbacks: Annotated[
        dict[
            Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")],
            LanguageFallbacksAdditionalProperty,
        ]
        | None,
        Field(
            description="For a language those that are searched after it, in order.", max_length=100
        ),
    ] = None


class Call(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    session_id: UUID
    call_id: Annotated[str, Field(description="The worker's own name of it.")]
    agent: AgentReference
    contact_id: Annotated[
        UUID | None, Field(description="Absent of a caller who is not known.")
    ] = None
    status: Literal["active", "completed", "transferred", "failed", "lost"]
    end_reason: str | None = None
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    search_count: Annotated[int, Field(ge=0)]


class CallPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Call], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class ScopeSnapshot(ContractModel):
    """
    What was selected when the call began. Each search looked at the selection of its own time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    instruction_scope: InstructionScope
    knowledge_scope: KnowledgeScope
    captured_at: AwareDatetime


class CallEvent(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    type: Annotated[
        str,
        Field(description="kb.search, kb.inline, turn, error, handoff or usage; more may come."),
    ]
    at: AwareDatetime
    data: Annotated[dict[str, Any], Field(description="As the voice contract has it.")]


class StatisticsTotals(ContractModel):
    """
    Rates and milliseconds are absent where nothing was searched.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    call_count: Annotated[int, Field(description="Calls that began in the window.", ge=0)]
    search_count: Annotated[int, Field(ge=0)]
    answered_count: Annotated[int, Field(description="Searches that found something to say.", ge=0)]
    no_match_count: Annotated[int, Field(description="Searches that found nothing relevant.", ge=0)]
    restricted_empty_count: Annotated[
        int, Field(description="Searches with nothing to search in.", ge=0)
    ]
    degraded_count: Annotated[int, Field(description="Searches by keywords alone.", ge=0)]
    answer_rate: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    no_match_rate: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    p50_ms: Annotated[
        float | None, Field(description="Half of the searches took no longer.", ge=0.0)
    ] = None
    p95_ms: Annotated[float | None, Field(ge=0.0)] = None


class StatisticsPoint(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    starts_at: AwareDatetime
    call_count: Annotated[int, Field(ge=0)]
    search_count: Annotated[int, Field(ge=0)]
    answered_count: Annotated[int, Field(ge=0)]
    no_match_count: Annotated[int, Field(ge=0)]
    p50_ms: Annotated[float | None, Field(ge=0.0)] = None
    p95_ms: Annotated[float | None, Field(ge=0.0)] = None


class UnansweredQuestion(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    question: Annotated[str, Field(description="As it was asked last, redacted.")]
    count: Annotated[
        int, Field(description="How often, whatever its capitals, accents and signs.", ge=1)
    ]
    last_at: AwareDatetime


class Statistics(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    from_: Annotated[AwareDatetime, Field(alias="from")]
    to: AwareDatetime
    time_zone: Annotated[str, Field(description="The organization's, by its IANA name.")]
    interval: Literal["hour", "day"]
    totals: StatisticsTotals
    series: Annotated[list[StatisticsPoint], Field(max_length=200)]
    unanswered: Annotated[
        list[UnansweredQuestion],
        Field(
            description="Searches that found nothing relevant, what was asked most often first: the twenty of them, put together from\nthe five thousand wordings that came most often.\n",
            max_length=20,
        ),
    ]


class AuditEntry(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[int, Field(ge=1)]
    at: AwareDatetime
    actor: Annotated[str, Field(description="`key:<id>` of an API key, or a command line.")]
    action: Annotated[
        str, Field(description="create, update, delete, reprocess or revoke; more may come.")
    ]
    object_type: Annotated[
        str,
        Field(
            description="knowledge_base, source, knowledge_item, instruction, instruction_directory, phone_agent, knowledge_sources of an agent, phone_number, contact, segment, team, member, api_key or organization; more may come."
        ),
    ]
    object_id: UUID
    before: Annotated[dict[str, Any] | None, Field(description="Absent of what was made.")] = None
    after: Annotated[dict[str, Any] | None, Field(description="Absent of what was removed.")] = None


class AuditPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[AuditEntry], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class OrganizationReference(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str


class KeyReference(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str


class ConsoleSession(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    organization: OrganizationReference
    key: KeyReference
    permissions: Annotated[
        list[Literal["agents.view", "agents.edit", "admin"]],
        Field(description="What it may do; those that others include are among it."),
    ]
    csrf_token: Annotated[
        str | None, Field(description="To be sent as `X-CSRF-Token` with changes; absent of a key.")
    ] = None
    ends_at: Annotated[
        AwareDatetime | None,
        Field(description="When it ends whatever is asked with it; absent of a key."),
    ] = None


class Liveness(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    status: Literal["ok"] = "ok"


class Checks(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    database: Literal["ok", "failing"]
    migrations: Literal["ok", "failing"]
    embedder: Literal["ok", "failing"]


class Readiness(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    status: Literal["ready", "not_ready"]
    contract_version: Annotated[str, Field(pattern="^\\d+\\.\\d+\\.\\d+$")]
    contract_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    checks: Checks


class Problem(ContractModel):
    """
    A problem document (RFC 9457).
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: Annotated[
        Literal[
            "invalid_request",
            "unauthorized",
            "forbidden",
            "not_found",
            "method_not_allowed",
            "conflict",
            "limit_reached",
            "too_large",
            "unsupported_media_type",
            "precondition_failed",
            "precondition_required",
            "too_many_requests",
            "internal_error",
            "unavailable",
            "deadline_exceeded",
        ],
        Field(description="What a program acts on."),
    ]
    detail: str
    instance: Annotated[str | None, Field(description="An id to find the cause by in the log.")] = (
        None
    )
    errors: list[FieldError] | None = None


class KnowledgeBaseRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    owner_type: Annotated[
        Literal["organization", "team", "user"] | None,
        Field(
            description="Whose it is: the organization's, which is usual; a team's; or the person's whose key it is, which is called `user`.\n"
        ),
    ] = None
    team_id: Annotated[
        UUID | None,
        Field(description="Of a team that you are in; with owner_type team, and only with it."),
    ] = None


class Reading(ContractModel):
    """
    The latest reading, under way or done. Lines are of an import.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    status: Literal["running", "done", "failed"]
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    lines_read: Annotated[int, Field(ge=0)]
    created: Annotated[int, Field(description="Items that were new.", ge=0)]
    updated: Annotated[int, Field(description="Items that had changed.", ge=0)]
    unchanged: Annotated[int, Field(ge=0)]
    rejected: Annotated[int, Field(description="Lines that were not taken.", ge=0)]
    texts_embedded: Annotated[int, Field(ge=0)]
    texts: Annotated[int, Field(description="That have to be embedded.", ge=0)]
    rejections: Annotated[
        list[Rejection] | None,
        Field(
            description="The first lines that were not taken; of one source alone, not in lists.",
            max_length=20,
        ),
    ] = None


class SourceProgress(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    reading: Reading


class SearchResponse(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    status: Annotated[
        Literal["ok", "no_match", "restricted_empty"],
        Field(
            description="As a call would be told; `restricted_empty` where there is nothing to search."
        ),
    ]
    results: Annotated[list[SearchResult], Field(max_length=20)]
    degraded: Annotated[bool, Field(description="True when the search was made by keywords alone.")]
    min_score: Annotated[
        float,
        Field(
            description="The score from which on a passage is given; the best match by words may have less.",
            ge=0.0,
            le=1.0,
        ),
    ]
    latency_ms: Annotated[float, Field(ge=0.0)]
    embed_ms: Annotated[float, Field(ge=0.0)]
    search_ms: Annotated[float, Field(ge=0.0)]


class TrialResponse(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    status: Annotated[
        Literal["ok", "no_match", "restricted_empty"],
        Field(
            description="As a call was told; `restricted_empty` where there was nothing to search."
        ),
    ]
    language: Annotated[str, Field(description="Of the question.", pattern="^[a-z]{2,3}$")]
    instruction_mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    knowledge_mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    results: Annotated[
        list[TrialResult],
        Field(description="What is given, at most five, and then what is not.", max_length=55),
    ]
    is_complete: Annotated[
        bool,
        Field(
            description="False where it took too long to look at what is not searched, of which then nothing is told."
        ),
    ]
    degraded: Annotated[bool, Field(description="True when the search was made by keywords alone.")]
    min_score: Annotated[
        float, Field(description="The score from which on a passage is given.", ge=0.0, le=1.0)
    ]
    min_score_by_keyword: Annotated[
        float, Field(description="The same for the best match by words.", ge=0.0, le=1.0)
    ]
    latency_ms: Annotated[
        float, Field(description="As a call would wait, what follows apart.", ge=0.0)
    ]
    embed_ms: Annotated[float, Field(description="For the vector of the question.", ge=0.0)]
    search_ms: Annotated[float, Field(description="In the database.", ge=0.0)]
    explain_ms: Annotated[
        float | None, Field(description="For what is not searched; no call waits for it.", ge=0.0)
    ] = None


class PhoneAgent(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    name: str
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    region_code: Annotated[str | None, Field(description="Without it, the organization's.")] = None
    instruction_scope_mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    knowledge_scope_mode: Annotated[
        Literal["all", "selected"],
        Field(
            description="`all` of a category may be searched, or only what is `selected`, which may have become nothing.\n"
        ),
    ]
    numbers: Annotated[list[str], Field(description="In E.164, the first hundred.", max_length=100)]
    prompt: Annotated[
        str | None, Field(description="Of one agent alone, not in lists, as all that follows.")
    ] = None
    greeting: str | None = None
    handoff_number: Annotated[
        str | None, Field(description="In E.164; without it, calls are handed to nobody.")
    ] = None
    knowledge_mode: Annotated[
        Literal["search", "auto"] | None,
        Field(
            description="`search` looks things up when they are asked for. `auto` puts all that the agent may say to a caller into its prompt,\nwhere that is short.\n"
        ),
    ] = None


class PhoneAgentRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    region_code: Annotated[
        str | None,
        Field(description="ISO 3166 alpha-2, or `GLOBAL`.", pattern="^([A-Z]{2}|GLOBAL)$"),
    ] = None
    prompt: Annotated[
        str, Field(description="What the agent is told about its work.", max_length=30000)
    ]
    greeting: Annotated[
        str, Field(description="What it says first.", max_length=1000, min_length=1, pattern="\\S")
    ]
    handoff_number: Annotated[
        str | None,
        Field(
            description="A phone number with its country code, as people write it. It is kept in E.164.",
            max_length=40,
            min_length=3,
        ),
    ] = None
    knowledge_mode: Annotated[
        Literal["search", "auto"] | None,
        Field(
            description="`search` looks things up when they are asked for. `auto` puts all that the agent may say to a caller into its prompt,\nwhere that is short.\n"
        ),
    ] = None


class PhoneAgentChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    region_code: Annotated[
        str | None,
        Field(
            description="Empty for the organization's.",
            max_length=6,
            pattern="^([A-Z]{2}|GLOBAL)?$",
        ),
    ] = None
    prompt: Annotated[
        str | None, Field(description="What the agent is told about its work.", max_length=30000)
    ] = None
    greeting: Annotated[
        str | None,
        Field(description="What it says first.", max_length=1000, min_length=1, pattern="\\S"),
    ] = None
    handoff_number: Annotated[
        str | None, Field(description="With its country code; empty for nobody.", max_length=40)
    ] = None
    knowledge_mode: Annotated[
        Literal["search", "auto"] | None,
        Field(
            description="`search` looks things up when they are asked for. `auto` puts all that the agent may say to a caller into its prompt,\nwhere that is short.\n"
        ),
    ] = None


class PhoneAgentPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[PhoneAgent], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class KnowledgeItemRequest(ContractModel):
    """
    Without a `status` it is a draft, and without a `language` its own is told from the text. It is public, for the phone, in
    the organization's region and in no folder, unless it says otherwise.

    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kb_id: UUID
    title: Annotated[
        str, Field(description="On one line.", max_length=1000, min_length=1, pattern="\\S")
    ]
    content: Annotated[
        str,
        Field(
            description="Markdown or plain text. The sidecar's own limit may be lower.",
            max_length=500000,
            min_length=1,
            pattern="\\S",
        ),
    ]
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    region_code: Annotated[
        str | None,
        Field(description="ISO 3166 alpha-2, or `GLOBAL`.", pattern="^([A-Z]{2}|GLOBAL)$"),
    ] = None
    status: Literal["draft", "published"] | None = None
    visibility: Annotated[
        Literal["public", "internal"] | None,
        Field(description="`internal` is never told to a caller."),
    ] = None
    channels: Annotated[
        list[Literal["phone", "chat", "email"]] | None,
        Field(
            description="Where it may be told. Calls are given what is for the phone.",
            max_length=3,
            min_length=1,
        ),
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None
    valid_from: Annotated[
        str | None,
        Field(
            description="A date, which is a whole day on the organization's clock and as an end included, or a time with an offset; empty for\nnone. `9999-12-31` as an end is none too.\n",
            max_length=40,
            pattern="^(|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$",
        ),
    ] = None
    valid_until: Annotated[
        str | None,
        Field(
            description="A date, which is a whole day on the organization's clock and as an end included, or a time with an offset; empty for\nnone. `9999-12-31` as an end is none too.\n",
            max_length=40,
            pattern="^(|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$",
        ),
    ] = None
    schedule: WeeklySchedule | None = None
    source_url: Annotated[
        str | None,
        Field(
            description="Where it comes from; may be quoted to callers. Empty for none.",
            max_length=2000,
            pattern="^(|https?://\\S+)$",
        ),
    ] = None
    folder_key: Annotated[
        str | None,
        Field(
            description="A folder by its canonical key, such as `upload:Price%20list`; `base:<id>` is a whole knowledge base.\n",
            max_length=2000,
            min_length=1,
            pattern="^[a-z]+:[A-Za-z0-9._~%/-]*$",
        ),
    ] = None


class KnowledgeItemChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    title: Annotated[
        str | None, Field(description="On one line.", max_length=1000, min_length=1, pattern="\\S")
    ] = None
    content: Annotated[
        str | None,
        Field(
            description="Markdown or plain text. The sidecar's own limit may be lower.",
            max_length=500000,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    region_code: Annotated[
        str | None,
        Field(description="ISO 3166 alpha-2, or `GLOBAL`.", pattern="^([A-Z]{2}|GLOBAL)$"),
    ] = None
    status: Literal["draft", "published"] | None = None
    visibility: Annotated[
        Literal["public", "internal"] | None,
        Field(description="`internal` is never told to a caller."),
    ] = None
    channels: Annotated[
        list[Literal["phone", "chat", "email"]] | None,
        Field(
            description="Where it may be told. Calls are given what is for the phone.",
            max_length=3,
            min_length=1,
        ),
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None
    valid_from: Annotated[
        str | None,
        Field(
            description="A date, which is a whole day on the organization's clock and as an end included, or a time with an offset; empty for\nnone. `9999-12-31` as an end is none too.\n",
            max_length=40,
            pattern="^(|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$",
        ),
    ] = None
    valid_until: Annotated[
        str | None,
        Field(
            description="A date, which is a whole day on the organization's clock and as an end included, or a time with an offset; empty for\nnone. `9999-12-31` as an end is none too.\n",
            max_length=40,
            pattern="^(|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$",
        ),
    ] = None
    schedule: WeeklySchedule | None = None
    source_url: Annotated[
        str | None,
        Field(
            description="Where it comes from; may be quoted to callers. Empty for none.",
            max_length=2000,
            pattern="^(|https?://\\S+)$",
        ),
    ] = None
    folder_key: Annotated[
        str | None,
        Field(
            description="A folder by its canonical key, such as `upload:Price%20list`; `base:<id>` is a whole knowledge base.\n",
            max_length=2000,
            min_length=1,
            pattern="^[a-z]+:[A-Za-z0-9._~%/-]*$",
        ),
    ] = None


class InstructionRequest(ContractModel):
    """
    Without a `status` it is a draft, and without a `language` its own is told from the text. It is for everybody and not
    dynamic, unless it says otherwise.

    """

    model_config = ConfigDict(
        extra="forbid",
    )
    title: Annotated[
        str, Field(description="On one line.", max_length=1000, min_length=1, pattern="\\S")
    ]
    content: Annotated[
        str,
        Field(description="Markdown or plain text.", max_length=30000, min_length=1, pattern="\\S"),
    ]
    directory_id: UUID
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    status: Literal["draft", "published"] | None = None
    dynamic: Annotated[
        bool | None,
        Field(description="Whether the prompt of every call has it, beside that it is found."),
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None


class InstructionChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    title: Annotated[
        str | None, Field(description="On one line.", max_length=1000, min_length=1, pattern="\\S")
    ] = None
    content: Annotated[
        str | None,
        Field(description="Markdown or plain text.", max_length=30000, min_length=1, pattern="\\S"),
    ] = None
    directory_id: UUID | None = None
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    status: Literal["draft", "published"] | None = None
    dynamic: Annotated[
        bool | None,
        Field(description="Whether the prompt of every call has it, beside that it is found."),
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None


class ContactRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    phone_number: Annotated[
        str,
        Field(
            description="A phone number with its country code, as people write it. It is kept in E.164.",
            max_length=40,
            min_length=3,
        ),
    ]
    name: Annotated[
        str,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ]
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None


class ContactChange(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    phone_number: Annotated[
        str | None,
        Field(
            description="A phone number with its country code, as people write it. It is kept in E.164.",
            max_length=40,
            min_length=3,
        ),
    ] = None
    name: Annotated[
        str | None,
        Field(
            description="1 to 200 characters after trimming, on one line.",
            max_length=200,
            min_length=1,
            pattern="\\S",
        ),
    ] = None
    language: Annotated[
        str | None, Field(description="Empty for none.", max_length=3, pattern="^([a-z]{2,3})?$")
    ] = None
    segments: Annotated[
        list[str] | None, Field(description="Segments by their keys.", max_length=100)
    ] = None


class CallSearch(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    at: AwareDatetime
    query: Annotated[
        str, Field(description="Redacted: without numbers and addresses that may be a person's.")
    ]
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    region_code: str
    status: Annotated[
        Literal["ok", "no_match", "restricted_empty"],
        Field(
            description="As a call was told; `restricted_empty` where there was nothing to search."
        ),
    ]
    result_count: Annotated[int, Field(ge=0)]
    citation_count: Annotated[int, Field(ge=0)]
    result_ids: list[UUID]
    top_score: Annotated[float | None, Field(description="Of the ranking.")] = None
    top_relevance: Annotated[
        float | None, Field(description="How sure the search was, from 0 to 1.")
    ] = None
    degraded: Annotated[bool, Field(description="By keywords alone.")]
    cross_language_fallback: bool
    embed_ms: Annotated[float, Field(ge=0.0)]
    search_ms: Annotated[float, Field(ge=0.0)]
    total_ms: Annotated[float, Field(ge=0.0)]


class LoggedSearch(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    session_id: UUID
    agent: AgentReference
    search: CallSearch


class LoggedSearchPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[LoggedSearch], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None


class CallTimeline(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    call: Call
    scope: ScopeSnapshot
    events: Annotated[
        list[CallEvent],
        Field(description="In the order of their times, the first thousand.", max_length=1000),
    ]
    searches: Annotated[
        list[CallSearch],
        Field(description="In the order of their times, the first thousand.", max_length=1000),
    ]


class Source(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    kb_id: UUID
    kind: Literal["file", "url", "text", "jsonl", "integration"]
    name: str
    url: str | None = None
    content_type: Annotated[
        str | None, Field(description="What it is, as told from its content.")
    ] = None
    size: Annotated[int, Field(description="In bytes as it came.", ge=0)]
    status: Annotated[
        Literal["processing", "ready", "failed"],
        Field(
            description="`processing` while it waits or is read, `failed` when the last reading failed, else `ready`. What was ready goes\non answering in any of them: see `is_searchable`.\n"
        ),
    ]
    is_searchable: Annotated[
        bool, Field(description="Whether calls may be given what is in it now.")
    ]
    error: Annotated[
        str | None, Field(description="Why the last reading failed, and what to do.")
    ] = None
    error_code: Annotated[str | None, Field(description="The same for programs.")] = None
    item_count: Annotated[
        int, Field(description="Knowledge items; an import has one a line.", ge=0)
    ]
    chunk_count: Annotated[int, Field(description="Passages.", ge=0)]
    characters: Annotated[int, Field(description="Of the text that was found in it.", ge=0)]
    created_at: AwareDatetime
    created_by: Annotated[
        str | None, Field(description="Who added it: `key:<id>` of an API key, or a command line.")
    ] = None
    processed_at: AwareDatetime | None = None
    reading: Reading | None = None


class SourcePage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Source], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
    ] = None
