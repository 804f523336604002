"""What a call brings with it: who is called, who calls, and what belongs to it while it lasts."""

from dataclasses import dataclass, field
from uuid import UUID

from livekit import rtc
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.voice import Bootstrap, BootstrapRequest
from worker.caller_voice import CallerVoice
from worker.canned import CannedVoice
from worker.errors import DispatchError
from worker.handoff import Handoff
from worker.prefetch import Prefetch
from worker.search_guard import SearchGuard
from worker.sidecar_client import SessionIds, SidecarClient
from worker.text import storable
from worker.timeline import Timeline
from worker.turns import Turns
from worker.waiting_phrases import WaitingPhrases

CALLER_KINDS = [
    rtc.ParticipantKind.PARTICIPANT_KIND_SIP,
    rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD,
]


@dataclass(slots=True)
class Fallback:
    """What a search of this turn already brought, to be said where the model then fails."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class CallDeps:
    """What the agent and its tools need of the call; the session's userdata.

    Attributes:
        language: the language of the call, an ISO 639 code.
        asks_in: the language that the caller is heard in; `None` where the recogniser takes any.
        region_code: the agent's region, if it has one.
        caller: whether the caller speaks, and since when.
        guard: what was searched in this turn.
        handoff: how a person is reached.
        phrases: what is said while a search runs.
        canned: lines that are there as sound.
        prefetch: searches ahead, where that is set.
        fallback: what answers this turn where the model cannot.
        turns: times and traces of the turns.
    """

    client: SidecarClient
    ids: SessionIds
    timeline: Timeline
    language: str
    asks_in: str | None
    region_code: str | None = None
    handoff: Handoff = field(default_factory=Handoff)
    caller: CallerVoice = field(default_factory=CallerVoice)
    guard: SearchGuard = field(default_factory=SearchGuard)
    phrases: WaitingPhrases = field(default_factory=WaitingPhrases)
    canned: CannedVoice = field(default_factory=CannedVoice)
    prefetch: Prefetch | None = None
    fallback: Fallback = field(default_factory=Fallback)
    turns: Turns = field(default_factory=Turns)


class Dispatch(BaseModel):
    """A dispatch's metadata: which agent answers instead of the dialled number's, on which bases.

    An unknown field is an error: a narrowing with a slip in its name must not read as none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent_id: UUID | None = Field(None, alias="agentId")
    knowledge_base_ids: list[UUID] | None = Field(None, alias="knowledgeBaseIds", max_length=50)


def bootstrap_request(
    caller: rtc.RemoteParticipant, *, metadata: str, room_name: str, room_id: str
) -> BootstrapRequest:
    """Say which agent is called, and by whom.

    Only a participant of kind SIP is believed about its numbers: the attributes are LiveKit SIP's
    there, while others may be allowed to set their own. Everybody else is an anonymous caller of
    the agent that the dispatch names.

    Args:
        caller: the participant who calls.
        metadata: the dispatch's, empty or a JSON object.
        room_name: the room of the call.
        room_id: stands for the call where the telephone side has given it no id.

    Raises:
        DispatchError: when no agent is named, or the metadata cannot be read.
    """
    dispatch = _dispatch(metadata)
    by_phone = caller.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP
    sip = caller.attributes if by_phone else {}
    called = _number(sip.get("sip.trunkPhoneNumber"))
    if dispatch.agent_id is None and called is None:
        raise DispatchError("Neither a dialled number nor the dispatch names an agent.")
    return BootstrapRequest(
        called_number=called if dispatch.agent_id is None else None,
        agent_id=dispatch.agent_id,
        caller_number=_number(sip.get("sip.phoneNumber")),
        room_name=room_name,
        call_id=sip.get("sip.callID") or room_id,
        narrow_to_knowledge_base_ids=dispatch.knowledge_base_ids,
    )


def language_of_call(bootstrap: Bootstrap) -> str:
    """The known caller's language, else the agent's."""
    contact = bootstrap.contact
    return (contact and contact.language) or bootstrap.agent.language


def _dispatch(metadata: str) -> Dispatch:
    if not metadata.strip():
        return Dispatch()
    try:
        return Dispatch.model_validate_json(metadata)
    except ValidationError:
        raise DispatchError("The dispatch's metadata cannot be read.") from None


def _number(attribute: str | None) -> str | None:
    """A number as the trunk gave it, if it fits: no number has more than 64 characters."""
    number = storable(attribute or "").strip()
    return number if 0 < len(number) <= 64 else None
