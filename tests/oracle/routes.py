"""What a search finds through each route that returns content, held against the oracle."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from tests.oracle.examine import STRANGER, expect, fail, query_of
from tests.oracle.rows import Written, phone_number, shared_id
from tests.oracle.rules import dynamic_instructions, judge
from tests.oracle.world import Call, Case
from tests.support.management import BASES, ManagementClient
from tests.support.sidecar import SESSIONS, Session, VoiceClient


async def by_voice(client: VoiceClient, written: Written, case: Case) -> None:
    """A call of its own with one search, as a worker makes them. Raises Discrepancy."""
    call = written.world.calls[case.call]
    tenant = written.world.organizations[call.organization]
    owned = {n for n, base in enumerate(tenant.bases) if base.is_for_agents and not base.removed}
    if call.narrowing is not None and not call.narrowing <= owned:
        refused = await client.post(SESSIONS, _bootstrap(written, case, call))
        assert refused.status == 400
        call = replace(call, narrowing=call.narrowing & owned)
    opened = await client.post(SESSIONS, _bootstrap(written, case, call))
    assert opened.status == 201, opened
    session = Session(client, opened.body)
    dynamic = {UUID(each["id"]) for each in opened.body["dynamicInstructions"]}
    if dynamic != {
        written.document_id(call.organization, ("instruction", n)) for n in dynamic_instructions(tenant, call.contact)
    }:
        fail("The dynamic instructions are others", written, case, call)
    judgement = judge(tenant, call, case.moment)
    answer = await session.search(query_of(judgement, case.leg))
    found = [(result["type"] == "instruction", UUID(result["id"])) for result in answer["results"]]
    # All words of the question are in each passage: the most relevant that a search without vectors can find.
    complete = case.leg == "words" and len(judgement.allowed) <= 5
    expect(written, case, call, judgement, found, complete=complete)
    agent = tenant.agents[call.agent]
    assert answer["status"] == ("ok" if found else judgement.empty_status)
    assert answer["knowledgeMode"] == ("all" if agent.knowledge is None else "selected")
    assert answer["instructionMode"] == ("all" if agent.instructions is None else "selected")


def _bootstrap(written: Written, case: Case, call: Call) -> dict[str, Any]:
    request: dict[str, Any] = {
        "calledNumber": written.called_number(call.organization, call.agent),
        "roomName": "room",
        "callId": str(uuid4()),
    }
    # As trunks say it, in this way and that.
    number = STRANGER if call.contact is None else phone_number(call.contact)
    said = [
        number,
        f"sip:{number}@trunk.example;user=phone",
        f"00{number[1:]}",
        f'"Caller" <sip:{number}@trunk.example>',
    ]
    unsaid = ["anonymous", "sip:anonymous@anonymous.invalid", None] if call.contact is None else []
    caller = [*said, *unsaid][(case.call + case.moment.minute) % (len(said) + len(unsaid))]
    if caller is not None:
        request["callerNumber"] = caller
    if call.narrowing is not None:
        request["narrowToKnowledgeBaseIds"] = [str(shared_id("base", n)) for n in call.narrowing]
    return request


async def by_test_search(client: ManagementClient, written: Written, case: Case) -> bool:
    """The operators' search, as an agent for a contact: no more than that call would be told, near misses included.

    Returns False for a call that it cannot be asked about: a narrowed one, or of a contact who is gone.

    Raises:
        Discrepancy: with the one document.
    """
    call = written.world.calls[case.call]
    tenant = written.world.organizations[call.organization]
    base = next((n for n, base in enumerate(tenant.bases) if base.is_for_agents and not base.removed), None)
    is_gone = call.contact is not None and tenant.contacts[call.contact].removed
    if call.narrowing is not None or is_gone or base is None:
        return False
    judgement = judge(tenant, call, case.moment)
    body = {"query": query_of(judgement, case.leg), "agent_id": str(shared_id("agent", call.agent)), "limit": 20}
    if call.contact is not None:
        body["contact_id"] = str(shared_id("contact", call.contact))
    answer = await client.post(f"{BASES}/{shared_id('base', base)}/search", body)
    assert answer.status == 200, answer
    found = [(each["type"] == "instruction", UUID(each["id"])) for each in answer.body["results"]]
    expect(written, case, call, judgement, found, complete=False)
    return True
