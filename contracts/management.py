# Generated from management.openapi.yaml by `python -m contracts generate`; never edited.

from __future__ import annotations

from typing import Annotated, Any, Literal
from pydantic import AwareDatetime, ConfigDict, Field
from contracts.model import ContractModel
from uuid import UUID


class FieldError(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    field: Annotated[str, Field(description="The path of the field in the request.")]
    message: Annotated[str, Field(description="What is allowed.")]


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


class PhoneAgentPage(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[PhoneAgent], Field(max_length=100)]
    next_cursor: Annotated[
        str | None,
        Field(description="What to send as `cursor` for the next page; absent on the last."),
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
    status: Literal["ok", "no_match", "restricted_empty"]
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
            description="knowledge_base, source, knowledge_sources of an agent, or api_key; more may come."
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
