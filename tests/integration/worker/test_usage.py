"""The timeline of a call ends with what its models were used for, and the price of it."""

from pathlib import Path

import pytest

from tests.support.fake_call import fake_call
from tests.support.fake_sidecar import FakeSidecar
from tests.support.scripted_llm import Say, ScriptedLLM, search
from tests.support.spoken_line import SpokenLine

TABLE = """
currency = "EUR"
[[price]]
kind = "tts"
model = "*"
characters = 1000000.0
"""


async def test_a_call_has_its_price_on_the_timeline(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(TABLE, encoding="utf-8")
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, prices_file=prices) as call:
        await call.answer()
        await line.hears_whole("how can I help")
        await line.says("What is the door code?")
        await line.hears_whole("LF-27-B")
    (voice,) = [event for event in sidecar.timeline if event.type == "usage" and event.kind == "tts"]
    assert voice.characters
    assert voice.characters >= len("It is LF-27-B.")
    assert (voice.cost, voice.currency) == (voice.characters, "EUR")
    assert sidecar.timeline[-1].type == "usage"
