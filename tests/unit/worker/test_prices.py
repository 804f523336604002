"""What a call cost, by the table that operators edit."""

from pathlib import Path
from uuid import uuid4

import pytest
from livekit.agents.metrics import EOTModelUsage, LLMModelUsage, ModelUsage, STTModelUsage, TTSModelUsage

from contracts.voice import UsageEvent
from worker.prices import Prices, PricesError
from worker.settings import Settings
from worker.timeline import now
from worker.usage import events

TABLE = """
currency = "EUR"

[[price]]
kind = "llm"
model = "talker-1"
input_tokens = 1.0
cached_input_tokens = 0.25
audio_input_tokens = 10.0
output_tokens = 4.0
audio_output_tokens = 20.0

[[price]]
kind = "llm"
model = "talker*"
input_tokens = 2.0

[[price]]
kind = "tts"
model = "voice"
characters = 15.0

[[price]]
kind = "stt"
model = "ears"
audio_minutes = 0.006
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def used(kind: str, model: str, **counts: float) -> UsageEvent:
    return UsageEvent.model_validate({"id": uuid4(), "at": now(), "kind": kind, "model": model} | counts, by_name=True)


@pytest.mark.parametrize(
    ("event", "cost"),
    [
        (used("llm", "talker-1", input_tokens=1_000_000), 1.0),
        (used("llm", "talker-1", input_tokens=1_000_000, cached_input_tokens=400_000), 0.6 + 0.1),
        (used("llm", "talker-1", input_tokens=1_000_000, audio_input_tokens=500_000), 0.5 + 5.0),
        (used("llm", "talker-1", output_tokens=1_000_000, audio_output_tokens=250_000), 3.0 + 5.0),
        (used("llm", "talker-1", input_tokens=10, cached_input_tokens=100), 0.000025),
        (used("llm", "talker-2", input_tokens=500_000, output_tokens=7), 1.0),
        (used("tts", "voice", characters=2_000), 0.03),
        (used("stt", "ears", audio_seconds=90.0), 0.009),
        (used("stt", "ears"), 0.0),
    ],
)
def test_what_was_used_has_its_price(table: Path, event: UsageEvent, cost: float) -> None:
    priced = Prices.read(table).priced(event)
    assert priced.cost == pytest.approx(cost)
    assert priced.currency == "EUR"
    assert priced.id == event.id


@pytest.mark.parametrize("event", [used("llm", "voice"), used("tts", "voice-2"), used("stt", "ear")])
def test_what_the_table_has_not_has_no_price_rather_than_none(table: Path, event: UsageEvent) -> None:
    assert Prices.read(table).priced(event) == event


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "currency"),
        ('currency = "euro"', "currency"),
        ("currency =", "cannot be read"),
        ('currency = "EUR"\n[[price]]\nkind = "llm"\nmodel = "m"\noutput_token = 1', "price.0.output_token"),
        ('currency = "EUR"\n[[price]]\nkind = "llm"\nmodel = "m"\noutput_tokens = -1', "price.0.output_tokens"),
        ('currency = "EUR"\n[[price]]\nkind = "llm"\nmodel = "m"\noutput_tokens = inf', "price.0.output_tokens"),
        ('currency = "EUR"\n[[price]]\nkind = "lamp"\nmodel = "m"', "price.0.kind"),
        ('currency = "EUR"\n[[price]]\nkind = "llm"\nmodel = ""', "price.0.model"),
    ],
)
def test_a_table_that_is_wrong_says_where(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PricesError, match=says):
        Prices.read(path)


def test_the_models_of_the_default_settings_have_their_price_in_the_table_that_comes_along() -> None:
    prices = Prices.read(None)
    fields = Settings.model_fields
    for kind in ("stt", "llm", "tts"):
        event = used(kind, fields[f"{kind}_model"].default, audio_seconds=60.0, output_tokens=1_000_000)
        cost = prices.priced(event).cost
        assert cost is not None
        assert cost > 0


def test_a_call_tells_what_it_used_of_each_model_and_nothing_of_what_it_did_not(table: Path) -> None:
    usage: list[ModelUsage] = [
        LLMModelUsage(provider="p", model="talker-1", input_tokens=100, input_cached_tokens=40, output_tokens=10),
        STTModelUsage(provider="p", model="ears", audio_duration=60.0),
        TTSModelUsage(provider="p", model="voice", characters_count=1000, audio_duration=30.0),
        TTSModelUsage(provider="p", model="unused"),
        EOTModelUsage(provider="livekit", model="local", total_requests=3),
    ]
    talked, heard, spoke = events(usage, table)
    assert (talked.kind, talked.input_tokens, talked.cached_input_tokens, talked.output_tokens) == ("llm", 100, 40, 10)
    assert (heard.kind, heard.audio_seconds, heard.cost) == ("stt", 60.0, 0.006)
    assert (spoke.kind, spoke.characters, spoke.cost) == ("tts", 1000, 0.015)


@pytest.mark.parametrize("model", ["", "a model of ours\n", "x" * 500])
def test_a_model_of_any_name_is_told(table: Path, model: str) -> None:
    (event,) = events([TTSModelUsage(provider="p", model=model, characters_count=5)], table)
    assert event.cost is None
    assert 0 < len(event.model) <= 128


def test_a_table_that_was_spoiled_during_the_call_costs_the_price_alone(table: Path) -> None:
    table.write_text("currency = 3", encoding="utf-8")
    (event,) = events([STTModelUsage(provider="p", model="ears", audio_duration=60.0)], table)
    assert (event.audio_seconds, event.cost, event.currency) == (60.0, None, None)
