# Generated from voice.openapi.yaml by `python -m contracts generate`; never edited.

from __future__ import annotations

from typing import Annotated, Literal
from pydantic import AwareDatetime, ConfigDict, Field, RootModel
from contracts.model import ContractModel
from uuid import UUID


class FieldError(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    field: Annotated[str, Field(description="The path of the field in the request.")]
    message: Annotated[str, Field(description="What is allowed.")]


class BootstrapRequest(ContractModel):
    """
    Exactly one of `calledNumber` and `agentId` names the agent.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    called_number: Annotated[
        str | None,
        Field(
            alias="calledNumber",
            description="A dialled or calling number as the trunk gives it; the sidecar reads it as E.164 where it can.",
            max_length=64,
            min_length=1,
        ),
    ] = None
    agent_id: Annotated[UUID | None, Field(alias="agentId")] = None
    caller_number: Annotated[
        str | None,
        Field(
            alias="callerNumber",
            description="Absent or unreadable for an anonymous caller, who is no contact and has no segments.",
            max_length=64,
            min_length=1,
        ),
    ] = None
    room_name: Annotated[str, Field(alias="roomName", max_length=256, min_length=1)]
    call_id: Annotated[str, Field(alias="callId", max_length=256, min_length=1)]
    narrow_to_knowledge_base_ids: Annotated[
        list[UUID] | None,
        Field(
            alias="narrowToKnowledgeBaseIds",
            description="A dispatch may narrow the call to some knowledge bases; this never widens the agent's scope.",
            max_length=50,
        ),
    ] = None


class Agent(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    agent_id: Annotated[UUID, Field(alias="agentId")]
    name: str
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    region_code: Annotated[
        str | None,
        Field(
            alias="regionCode",
            description="An ISO 3166 alpha-2 region, or GLOBAL.",
            pattern="^([A-Z]{2}|GLOBAL)$",
        ),
    ] = None
    prompt: Annotated[str, Field(max_length=30000)]
    greeting: Annotated[str, Field(max_length=1000)]
    handoff_number: Annotated[
        str | None,
        Field(
            alias="handoffNumber",
            description="A dialled or calling number as the trunk gives it; the sidecar reads it as E.164 where it can.",
            max_length=64,
            min_length=1,
        ),
    ] = None
    knowledge_mode: Annotated[Literal["search", "auto"], Field(alias="knowledgeMode")]


class Contact(ContractModel):
    """
    The known caller; absent for an unknown or anonymous one.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    contact_id: Annotated[UUID, Field(alias="contactId")]
    name: str
    language: Annotated[
        str | None, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")
    ] = None


class DynamicInstruction(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    title: str
    content: str


class InlineKnowledge(ContractModel):
    """
    All that this agent may tell this contact, for agents whose knowledge mode is `auto` and where it is at most
    30,000 characters.

    """

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=30000)]
    characters: Annotated[int, Field(ge=0, le=30000)]


class InstructionScope(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    mode: Literal["all", "selected"]
    instruction_ids: list[UUID]
    directory_ids: list[UUID]


class KnowledgeScope(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    mode: Literal["all", "selected"]
    item_ids: list[UUID]
    folder_keys: Annotated[
        list[str],
        Field(description="Canonical folder keys; knowledge bases stand here as `base:<id>`."),
    ]


class SubQuestion(RootModel[str]):
    root: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]


class PartIndex(RootModel[int]):
    root: Annotated[int, Field(ge=0, le=3)]


class SearchResult(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["instruction", "knowledge"]
    id: UUID
    chunk_index: Annotated[int, Field(alias="chunkIndex", ge=0)]
    title: str
    content: Annotated[
        str, Field(description="The passage as written, cut at a sentence end.", max_length=2000)
    ]
    source_url: Annotated[str | None, Field(alias="sourceUrl")] = None
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    score: Annotated[float, Field(description="The weighted score that orders results.")]
    relevance: Annotated[
        float,
        Field(
            description="How sure the sidecar is that this answers the question.", ge=0.0, le=1.0
        ),
    ]
    parts: Annotated[
        list[PartIndex] | None,
        Field(
            description="Which of the sub-questions this answers, by their index; absent without sub-questions."
        ),
    ] = None


class Citation(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    id: UUID
    title: str
    source_url: Annotated[str | None, Field(alias="sourceUrl")] = None


class SearchTimings(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    embed_ms: Annotated[float, Field(alias="embedMs", ge=0.0)]
    search_ms: Annotated[float, Field(alias="searchMs", ge=0.0)]
    total_ms: Annotated[float, Field(alias="totalMs", ge=0.0)]


class TurnEvent(ContractModel):
    """
    Something that the caller or the agent said.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["turn"] = "turn"
    id: UUID
    at: AwareDatetime
    role: Literal["caller", "agent"]
    text: Annotated[str, Field(max_length=8000)]
    interrupted: bool | None = None
    latency_ms: Annotated[
        float | None,
        Field(
            alias="latencyMs",
            description="For the agent's turn, from the end of the caller's speech to its first audio.",
            ge=0.0,
        ),
    ] = None


class SearchEvent(ContractModel):
    """
    A search as the caller felt it, whatever became of it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["kb.search"] = "kb.search"
    id: UUID
    at: AwareDatetime
    search_id: Annotated[
        UUID | None, Field(alias="searchId", description="Absent where the sidecar gave no answer.")
    ] = None
    outcome: Literal[
        "ok", "no_match", "restricted_empty", "invalid_query", "unavailable", "aborted"
    ]
    result_ids: Annotated[list[UUID], Field(alias="resultIds", max_length=5)]
    ms: Annotated[float, Field(ge=0.0)]
    attempts: Annotated[int | None, Field(ge=0)] = None


class InlineEvent(ContractModel):
    """
    The whole scope went into the prompt.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["kb.inline"] = "kb.inline"
    id: UUID
    at: AwareDatetime
    characters: Annotated[int, Field(ge=0, le=30000)]


class ErrorEvent(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["error"] = "error"
    id: UUID
    at: AwareDatetime
    source: Literal["stt", "llm", "tts", "realtime", "sidecar", "worker"]
    code: Annotated[str, Field(pattern="^[A-Za-z0-9_.-]{1,64}$")]


class HandoffEvent(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["handoff"] = "handoff"
    id: UUID
    at: AwareDatetime
    reason: Literal["caller_asked", "misses", "outage"]
    outcome: Literal["offered", "accepted", "transferred", "failed"]


class UsageEvent(ContractModel):
    """
    What a call used of one model, told once at its end.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["usage"] = "usage"
    id: UUID
    at: AwareDatetime
    kind: Literal["stt", "llm", "tts"]
    model: Annotated[str, Field(pattern="^[A-Za-z0-9_.:/@-]{1,128}$")]
    input_tokens: Annotated[
        int | None,
        Field(
            alias="inputTokens", description="All of them, cached ones and audio included.", ge=0
        ),
    ] = None
    cached_input_tokens: Annotated[int | None, Field(alias="cachedInputTokens", ge=0)] = None
    audio_input_tokens: Annotated[int | None, Field(alias="audioInputTokens", ge=0)] = None
    output_tokens: Annotated[
        int | None, Field(alias="outputTokens", description="All of them, audio included.", ge=0)
    ] = None
    audio_output_tokens: Annotated[int | None, Field(alias="audioOutputTokens", ge=0)] = None
    characters: Annotated[int | None, Field(description="That were spoken.", ge=0)] = None
    audio_seconds: Annotated[
        float | None, Field(alias="audioSeconds", description="That were heard or spoken.", ge=0.0)
    ] = None
    cost: Annotated[
        float | None,
        Field(description="By the worker's table of prices; absent where it has none.", ge=0.0),
    ] = None
    currency: Annotated[str | None, Field(pattern="^[A-Z]{3}$")] = None


class EventsAccepted(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    accepted: Annotated[int, Field(ge=0)]
    duplicates: Annotated[int, Field(ge=0)]


class EndRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    org_id: Annotated[UUID, Field(alias="orgId")]
    agent_id: Annotated[UUID, Field(alias="agentId")]
    status: Literal["completed", "transferred", "failed"]
    reason: Annotated[
        str,
        Field(
            description="A short code, such as caller_hung_up, agent_hung_up, transferred, worker_shutdown, error.",
            pattern="^[a-z0-9_]{1,64}$",
        ),
    ]


class Ended(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    session_id: Annotated[UUID, Field(alias="sessionId")]
    status: Annotated[
        Literal["completed", "transferred", "failed", "lost"],
        Field(
            description="The terminal status; `lost` is the watchdog's, for a session that no worker ended."
        ),
    ]
    ended_at: Annotated[AwareDatetime, Field(alias="endedAt")]


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
    contract_version: Annotated[str, Field(alias="contractVersion", pattern="^\\d+\\.\\d+\\.\\d+$")]
    contract_sha256: Annotated[str, Field(alias="contractSha256", pattern="^[0-9a-f]{64}$")]
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
            "not_found",
            "method_not_allowed",
            "too_large",
            "unsupported_media_type",
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


class ScopeSnapshot(ContractModel):
    """
    What was selected when the call began; for audit. Searches resolve the scope afresh.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    instruction_scope: InstructionScope
    knowledge_scope: KnowledgeScope
    captured_at: AwareDatetime


class SearchRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    org_id: Annotated[UUID, Field(alias="orgId")]
    agent_id: Annotated[UUID, Field(alias="agentId")]
    query: Annotated[
        str,
        Field(
            description="The question, 1 to 500 characters after trimming. This is what is embedded.",
            max_length=500,
            min_length=1,
            pattern="\\S",
        ),
    ]
    utterance: Annotated[
        str | None,
        Field(
            description="What the caller said. It feeds the keyword leg only, so that a code the model dropped still counts.",
            max_length=4000,
        ),
    ] = None
    sub_questions: Annotated[
        list[SubQuestion] | None,
        Field(
            alias="subQuestions",
            description="The parts of a question of several parts, searched together with it.",
            max_length=4,
        ),
    ] = None
    language: Annotated[
        str | None,
        Field(
            description="The language asked in; without it the sidecar decides from the query.",
            pattern="^[a-z]{2,3}$",
        ),
    ] = None
    region_code: Annotated[
        str | None,
        Field(
            alias="regionCode",
            description="An ISO 3166 alpha-2 region, or GLOBAL.",
            pattern="^([A-Z]{2}|GLOBAL)$",
        ),
    ] = None


class SearchResponse(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    search_id: Annotated[UUID, Field(alias="searchId")]
    status: Literal["ok", "no_match", "restricted_empty"]
    reason_code: Annotated[
        Literal["no_relevant_knowledge", "scope_empty", "context_required"] | None,
        Field(alias="reasonCode", description="Why there are no results; absent where there are."),
    ] = None
    message_key: Annotated[
        Literal["knowledge.no_match", "knowledge.scope_empty", "knowledge.context_required"] | None,
        Field(
            alias="messageKey",
            description="The agent's canned line for this outcome; absent where there are results.",
        ),
    ] = None
    instruction_mode: Annotated[Literal["all", "selected"], Field(alias="instructionMode")]
    knowledge_mode: Annotated[Literal["all", "selected"], Field(alias="knowledgeMode")]
    results: Annotated[
        list[SearchResult],
        Field(description="Instructions and knowledge ranked together, best first.", max_length=5),
    ]
    citations: Annotated[list[Citation], Field(max_length=5)]
    answer_text: Annotated[
        str | None,
        Field(
            alias="answerText",
            description="Sentences taken from the returned content only, framed when they come by cross-language fallback; for agents\nthat speak without a language model. Absent where there are no results.\n",
            max_length=1200,
        ),
    ] = None
    language: Annotated[str, Field(description="An ISO 639 language code.", pattern="^[a-z]{2,3}$")]
    degraded: Annotated[
        bool,
        Field(
            description="True when the search was made by keywords alone, because the embedder is down or too slow."
        ),
    ]
    cross_language_fallback: Annotated[
        bool,
        Field(
            alias="crossLanguageFallback",
            description="True when the best result is in another language than the one asked in.",
        ),
    ]
    timings: SearchTimings


class Bootstrap(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    session_id: Annotated[UUID, Field(alias="sessionId")]
    org_id: Annotated[UUID, Field(alias="orgId")]
    agent: Agent
    contact: Contact | None = None
    dynamic_instructions: Annotated[list[DynamicInstruction], Field(alias="dynamicInstructions")]
    inline_knowledge: Annotated[InlineKnowledge | None, Field(alias="inlineKnowledge")] = None
    scope: ScopeSnapshot


class EventsRequest(ContractModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    org_id: Annotated[UUID, Field(alias="orgId")]
    agent_id: Annotated[UUID, Field(alias="agentId")]
    events: Annotated[
        list[
            Annotated[
                TurnEvent | SearchEvent | InlineEvent | ErrorEvent | HandoffEvent | UsageEvent,
                Field(discriminator="type"),
            ]
        ],
        Field(max_length=100, min_length=1),
    ]
