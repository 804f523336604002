"""The demo's calls without a LiveKit server: the worker's own session and agent, in this process, in writing.

Everything behind the ear and the mouth is the same: prompt, tool, sidecar, timeline.
`python -m demo.in_writing PLAN REPORT`.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from contracts.voice import Bootstrap, BootstrapRequest
from demo.conversation import SIDECAR, Plan, Server, bring_up_services, run_plan
from demo.held import Asked, HeldCall, Report
from demo.scenario import PlannedCall, Question, Scenario
from worker.agent import PhoneAgent, compose
from worker.call import CallDeps, language_of_call
from worker.conversation import Conversation, open_session
from worker.deadline import Deadline
from worker.errors import NotFoundError
from worker.providers import open_providers
from worker.search_knowledge import get_knowledge_tools
from worker.settings import Settings
from worker.sidecar_client import SessionIds, SidecarClient
from worker.timeline import Timeline

_PATIENCE_S = 10.0
_NOWHERE = Server(url="ws://127.0.0.1:1", key="none", secret="none")  # noqa: S106 - nobody answers there


async def hold_calls(plan: Plan, scenario: Scenario) -> Report:
    """Hold all calls, one after the other. Raises DemoError where a part does not come up."""
    async with AsyncExitStack() as parts:
        providers = await bring_up_services(plan, scenario, parts)
        token = plan.environment["ANSWERLINE_SIDECAR_TOKEN"]
        settings = Settings.model_validate(
            {**_NOWHERE.environment, **providers, "sidecar_url": SIDECAR, "sidecar_token": token}
        )
        client = await parts.enter_async_context(SidecarClient.connect(SIDECAR, token))
        return Report(calls=[await _hold_call(client, settings, planned) for planned in scenario.calls])


async def _hold_call(client: SidecarClient, settings: Settings, planned: PlannedCall) -> HeldCall:
    held = HeldCall(planned=planned, call_id=f"text-{uuid4().hex[:12]}", dialled_at=datetime.now(UTC))
    request = BootstrapRequest(
        called_number=planned.called, caller_number=planned.caller, room_name="in writing", call_id=held.call_id
    )
    try:
        bootstrap = await client.bootstrap(request, Deadline.after(_PATIENCE_S))
    except NotFoundError:
        held.greeting_heard = held.ended_by_agent = True
        return held
    async with _deps(client, bootstrap) as deps:
        session = open_session(
            open_providers(settings, deps.language),
            deps,
            silence_s=settings.silence_s,
            turn_end_max_s=settings.turn_end_max_s,
        )
        prompt = compose(bootstrap, deps.language)
        conversation = Conversation(session, deps, settings.silence_s, lambda _ending: None, prompt)
        agent = PhoneAgent(
            prompt, bootstrap.agent.greeting, deps, get_knowledge_tools(), conversation, settings.reply_s
        )
        await session.start(agent)
        try:
            held.greeting_heard = True
            for question in planned.questions:
                spoken_from = datetime.now(UTC)
                await session.run(user_input=question.say)
                held.asked.append(_asked(question, spoken_from))
        finally:
            await conversation.aclose()
            await session.aclose()
    return held


@asynccontextmanager
async def _deps(client: SidecarClient, bootstrap: Bootstrap) -> AsyncIterator[CallDeps]:
    ids = SessionIds(bootstrap.session_id, bootstrap.org_id, bootstrap.agent.agent_id)
    language = language_of_call(bootstrap)
    deps = CallDeps(client, ids, Timeline(client, ids), language, language)
    try:
        yield deps
    finally:
        deadline = Deadline.after(_PATIENCE_S)
        await deps.timeline.aclose(deadline)
        await client.end(ids, "completed", "caller_hung_up", deadline)


def _asked(question: Question, spoken_from: datetime) -> Asked:
    now = datetime.now(UTC)
    return Asked(question=question, spoken_from=spoken_from, spoken_until=spoken_from, heard_from=now, heard_until=now)


if __name__ == "__main__":
    run_plan(hold_calls)
