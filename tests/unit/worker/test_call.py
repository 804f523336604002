"""Who is called by whom: what is believed, and of whom."""

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
from livekit import rtc

from contracts.voice import BootstrapRequest
from tests.support.fake_sidecar import AGENT, bootstrap_answer
from worker.call import bootstrap_request, language_of_call
from worker.errors import DispatchError

SIP = rtc.ParticipantKind.PARTICIPANT_KIND_SIP
STANDARD = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
BASE = UUID("7c4c1d62-3a41-4a3e-8a54-2f1b0c9d8e7f")
PHONE = {
    "sip.phoneNumber": "+15550100199",
    "sip.trunkPhoneNumber": "+15550101000",
    "sip.callID": "SCL_9xkTq2",
    "sip.callStatus": "ringing",
}


def request(attributes: dict[str, str], metadata: str = "", kind: Any = SIP) -> BootstrapRequest:
    caller = cast("rtc.RemoteParticipant", SimpleNamespace(kind=kind, attributes=attributes))
    made = bootstrap_request(caller, metadata=metadata, room_name="call-1", room_id="RM_1")
    return BootstrapRequest.from_wire(made.to_wire())


def test_a_phone_call_names_the_dialled_number_the_caller_and_the_call() -> None:
    assert request(PHONE) == BootstrapRequest(
        called_number="+15550101000",
        caller_number="+15550100199",
        room_name="call-1",
        call_id="SCL_9xkTq2",
    )


@pytest.mark.parametrize("number", ["", "  ", "\x00", "5" * 65])
def test_an_unreadable_caller_is_an_anonymous_one(number: str) -> None:
    assert request({**PHONE, "sip.phoneNumber": number}).caller_number is None


def test_without_an_id_from_the_telephone_side_the_room_stands_for_the_call() -> None:
    assert request({"sip.trunkPhoneNumber": "+15550101000"}).call_id == "RM_1"


def test_the_dispatch_may_name_the_agent_and_narrow_its_knowledge() -> None:
    made = request(PHONE, f'{{"agentId": "{AGENT}", "knowledgeBaseIds": ["{BASE}"]}}')
    assert (made.agent_id, made.called_number) == (AGENT, None)
    assert made.caller_number == "+15550100199"
    assert made.narrow_to_knowledge_base_ids == [BASE]


def test_a_narrowing_to_nothing_stays_one() -> None:
    assert request(PHONE, '{"knowledgeBaseIds": []}').narrow_to_knowledge_base_ids == []
    assert request(PHONE, "{}").narrow_to_knowledge_base_ids is None


def test_numbers_are_believed_of_telephones_only() -> None:
    made = request(PHONE, f'{{"agentId": "{AGENT}"}}', STANDARD)
    assert made.caller_number is None
    assert made.call_id == "RM_1"
    with pytest.raises(DispatchError):
        request(PHONE, "", STANDARD)


@pytest.mark.parametrize(
    "metadata",
    [
        "not json",
        "[]",
        "null",
        '{"agentId": "front desk"}',
        '{"knowledgeBaseIds": "all"}',
        '{"knowledgeBaseIds": [null]}',
        '{"knowledgeBaseId": ["7c4c1d62-3a41-4a3e-8a54-2f1b0c9d8e7f"]}',
    ],
)
def test_metadata_that_cannot_be_read_is_never_read_as_none(metadata: str) -> None:
    with pytest.raises(DispatchError):
        request(PHONE, metadata)


def test_no_agent_at_all_is_an_error() -> None:
    with pytest.raises(DispatchError):
        request({"sip.phoneNumber": "+15550100199"})


def test_the_known_callers_language_comes_before_the_agents() -> None:
    contact = {"contactId": str(BASE), "name": "Robin Vale"}
    assert language_of_call(bootstrap_answer()) == "en"
    assert language_of_call(bootstrap_answer(contact=contact)) == "en"
    assert language_of_call(bootstrap_answer(contact={**contact, "language": "ru"})) == "ru"
