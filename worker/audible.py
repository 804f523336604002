"""The voice of the call, or a recording in its place: what is to be said is heard without any model."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from typing import Final

from livekit import rtc

from worker.canned import CannedVoice
from worker.reply import code_of
from worker.text import says_something

_BETWEEN_S: Final = 5.0  # between two frames, once it speaks; the model may still be writing

Synthesis = Callable[[AsyncIterable[str]], AsyncGenerator[rtc.AudioFrame, None]]


async def audible(
    text: AsyncIterable[str],
    synthesize: Synthesis,
    canned: CannedVoice,
    patience_s: float,
    report: Callable[[str | None], None],
) -> AsyncGenerator[rtc.AudioFrame, None]:
    """The text as sound: a prepared line from memory, the rest from the voice; a recording where it fails.

    Args:
        text: as the model writes it.
        synthesize: the voice.
        canned: lines that are there as sound.
        patience_s: seconds from the first words to the first sound.
        report: takes the code of a failure, or `None` for a voice that was heard.
    """
    pieces = aiter(text)
    begun, whole = "", True
    async for piece in pieces:
        begun += piece
        if not canned.begins_with(begun):  # it can become no prepared line any more
            whole = False
            break
    prepared = canned.audio(begun) if whole else None
    if prepared:
        async for frame in prepared:
            yield frame
        return
    heard, code = False, "empty"
    frames = synthesize(_joined(begun, pieces))
    try:
        while True:
            async with asyncio.timeout(_BETWEEN_S if heard else patience_s):
                frame = await anext(frames)
            heard = True
            yield frame
    except StopAsyncIteration:
        if heard or not says_something(begun):
            report(None)
            return
    except Exception as error:  # noqa: BLE001 - whatever a provider's library raises, something is heard
        code = code_of(error)
    finally:
        with contextlib.suppress(Exception):
            await frames.aclose()
    report(code)
    async for frame in canned.recording(begun):
        yield frame


async def _joined(begun: str, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    yield begun
    async for piece in pieces:
        yield piece
