"""One trace from the caller's last word through worker, HTTP, embedding and SQL to the answer's first sound."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider

from tests.support.contract_exchange import ContractExchanges
from tests.support.database import TestDatabase
from tests.support.fake_call import CALLED, CALLER, FakeCall, fake_call
from tests.support.fake_sidecar import FakeSidecar
from tests.support.scripted_llm import Fail, Say, ScriptedLLM, Wait, search
from tests.support.sidecar import VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import ORGANIZATION_ID, agent, item, organization
from tests.support.spoken_line import SpokenLine
from tests.support.traces import Spans, recorded

QUERY, SAID, FOUND, TITLE, TOLD, GREETING = (
    *("sentinelquery", "sentinelsaid", "sentinelfound", "sentineltitle"),
    *("sentineltold", "sentinelgreeting"),
)
ASKED = f"uh {SAID} where is the {QUERY}"
SEARCH = "POST /internal/voice/v1/sessions/{sessionId}/tools/knowledge-search"
TO_SQL = ["turn", "execute_tool search_knowledge", SEARCH, SEARCH, "search", "search postgresql"]


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as found:
        yield found


@pytest.fixture
async def api(empty_database: TestDatabase, tmp_path: Path) -> AsyncIterator[VoiceClient]:
    greeting = f"{GREETING}, how can I help"
    content = organization(agents=[agent("open", 1, CALLED, greeting=greeting)])
    await load(empty_database, tmp_path, content, [item("sentinel", TITLE, f"The {FOUND} {QUERY} is here.")])
    async with running_sidecar(empty_database, await token_for(empty_database, ORGANIZATION_ID)) as client:
        yield client


@pytest.fixture
def sidecar(contract_exchanges: ContractExchanges) -> FakeSidecar:
    return FakeSidecar(contract_exchanges)


async def ask(call: FakeCall, line: SpokenLine) -> None:
    await call.answer()
    await line.hears_whole(GREETING)
    await line.says(ASKED)


def assert_without_content(spans: Spans, api: VoiceClient) -> None:
    text = spans.text().casefold()
    secrets = (CALLER, CALLED, CALLER.removeprefix("+"), api.token.split("_", 2)[2].casefold())
    for secret in (QUERY, SAID, FOUND, TITLE, TOLD, GREETING, *secrets):
        assert secret not in text
    scopes = {span.instrumentation_scope.name for span in spans.all() if span.instrumentation_scope}
    assert scopes == {"answerline"}, "a library's spans hold words"
    assert isinstance(trace.get_tracer_provider(), ProxyTracerProvider), "a library would find it"


async def test_a_turn_is_one_trace_from_end_of_speech_to_first_sound_and_holds_no_content(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, api: VoiceClient, spans: Spans
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search(QUERY), Say(f"It is {TOLD}."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, sidecar_url=api.url, sidecar_token=api.token) as call:
        await ask(call, line)
        await line.hears_whole(TOLD)
    statement, turn = spans.one("search postgresql"), spans.one("turn")
    assert spans.path(statement) == TO_SQL
    assert spans.path(spans.one("embed")) == [*TO_SQL[:4], "embed"]
    assert [spans.path(each) for each in spans.named("speech")][-1] == ["turn", "speech"]
    assert len([each for each in spans.named("chat") if spans.path(each) == ["turn", "chat"]]) == 2
    assert turn.attributes
    assert turn.attributes["answerline.turn.outcome"] == "answered"
    assert turn.attributes["answerline.turn.searches"] == 1
    assert turn.start_time
    assert turn.end_time
    tool = spans.one("execute_tool search_knowledge")
    assert tool.attributes
    assert tool.attributes["answerline.search.status"] == "ok"
    assert tool.start_time
    assert tool.end_time
    assert turn.start_time <= tool.start_time
    assert tool.end_time <= turn.end_time
    heard_s = turn.attributes["answerline.turn.answer_s"]
    assert isinstance(heard_s, float)
    assert abs(heard_s - (turn.end_time - turn.start_time) / 1e9) < 1e-3
    server = next(each for each in spans.named(SEARCH) if each.kind.name == "SERVER")
    assert server.attributes
    assert UUID(str(server.attributes["answerline.search.id"])) == UUID(str(tool.attributes["answerline.search.id"]))
    assert_without_content(spans, api)


async def test_a_search_ahead_belongs_to_the_turn_that_it_was_made_for(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, api: VoiceClient, spans: Spans
) -> None:
    line, ready = SpokenLine(), asyncio.Event()
    llm = ScriptedLLM(Wait(ready, search(ASKED)), Say(f"It is {TOLD}."))
    async with fake_call(
        monkeypatch, sidecar, llm, line=line, sidecar_url=api.url, sidecar_token=api.token, prefetch=True
    ) as call:
        await ask(call, line)
        await line.until(lambda: spans.named("search postgresql"))
        ready.set()
        await line.hears_whole(TOLD)
    assert spans.path(spans.one("search postgresql")) == ["turn", "search_ahead", *TO_SQL[2:]]
    tool = spans.one("execute_tool search_knowledge")
    assert tool.attributes
    assert tool.attributes["answerline.search.attempts"] == 0
    assert_without_content(spans, api)


async def test_what_goes_wrong_is_traced_without_what_it_was_about(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, api: VoiceClient, spans: Spans
) -> None:
    line = SpokenLine(voice_fault=lambda text: "error" if TOLD in text else None)
    llm = ScriptedLLM(search(f"{QUERY} {QUERY}"), Fail(f"cannot say {SAID} {QUERY}"), Say(TOLD))
    async with fake_call(monkeypatch, sidecar, llm, line=line, sidecar_url=api.url, sidecar_token=api.token) as call:
        await ask(call, line)
        await line.until(lambda: spans.named("turn"))
    assert_without_content(spans, api)


async def test_a_client_cannot_put_words_into_a_trace_and_probes_are_not_traced(api: VoiceClient, spans: Spans) -> None:
    hostile = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": f"x={QUERY}",
        "baggage": f"y={SAID}",
        "User-Agent": TITLE,
    }
    path = f"/internal/voice/v1/sessions/{QUERY}/end"
    assert (await api.post(path, {FOUND: TOLD}, headers=hostile)).status == 400
    async with api.http.get(f"{api.url}/livez") as answer:
        assert answer.status == 200
    end = spans.one("POST /internal/voice/v1/sessions/{sessionId}/end")
    assert end.context
    assert f"{end.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert json.loads(end.to_json())["attributes"]["http.response.status_code"] == 400
    assert not spans.named("GET /livez")
    assert_without_content(spans, api)
