"""What a call used of its models, and what that cost, for its timeline."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog
from livekit.agents.metrics import LLMModelUsage, ModelUsage, STTModelUsage, TTSModelUsage

from contracts.voice import UsageEvent
from worker import metrics
from worker.prices import Kind, Prices, PricesError
from worker.timeline import now

_NAME: Final = re.compile(r"[^A-Za-z0-9_.:/@-]")
_LONGEST_NAME: Final = 128

log = structlog.get_logger(__name__)


def events(used: Iterable[ModelUsage], prices_file: Path | None) -> Iterator[UsageEvent]:
    """What a call used of each model, priced where that can be, for its timeline."""
    try:
        prices = Prices.read(prices_file)
    except PricesError:
        log.warning("prices_unreadable")  # the worker did not start with these: they were edited since
        prices = Prices(currency="XXX")
    for each in used:
        event = _event(each)
        if event is not None:
            priced = prices.priced(event)
            if priced.cost is None:
                metrics.note(metrics.UNPRICED, kind=event.kind)
            else:
                metrics.note(metrics.COST, priced.cost, kind=event.kind)
            yield priced


def _event(used: ModelUsage) -> UsageEvent | None:
    """None of models that run in this process."""
    match used:
        case LLMModelUsage():
            counts = {
                "input_tokens": used.input_tokens,
                "cached_input_tokens": used.input_cached_tokens,
                "audio_input_tokens": max(0, used.input_audio_tokens - used.input_cached_audio_tokens),
                "output_tokens": used.output_tokens,
                "audio_output_tokens": used.output_audio_tokens,
            }
            return _made("llm", used.model, counts, 0.0)
        case STTModelUsage():
            counts = {
                "input_tokens": used.input_tokens,
                "audio_input_tokens": used.input_audio_tokens,
                "output_tokens": used.output_tokens,
            }
            return _made("stt", used.model, counts, used.audio_duration)
        case TTSModelUsage():
            counts = {
                "input_tokens": used.input_tokens,
                "output_tokens": used.output_tokens,
                "audio_output_tokens": used.output_tokens,
                "characters": used.characters_count,
            }
            return _made("tts", used.model, counts, used.audio_duration)
        case _:
            return None


def _made(kind: Kind, model: str, counts: dict[str, int], audio_s: float) -> UsageEvent | None:
    used = {name: count for name, count in counts.items() if count > 0}
    if not used and audio_s <= 0:
        return None
    name = _NAME.sub("_", model)[:_LONGEST_NAME] or "unknown"
    audio = {"audio_seconds": round(audio_s, 3)} if audio_s > 0 else {}
    return UsageEvent.model_validate(
        {"id": uuid4(), "at": now(), "kind": kind, "model": name, **used, **audio}, by_name=True
    )
