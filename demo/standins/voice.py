"""Text to speech by espeak-ng: a real voice, though a plain one, for a machine without a provider."""

import asyncio

import numpy as np

from demo.audio import Samples, resample
from demo.standins import espeak
from demo.standins.spoken import pieces

WORDS_PER_MINUTE = 145  # the pace at which the recogniser was measured


def speak(text: str, sample_rate: int, *, variant: str = "", words_per_minute: int = WORDS_PER_MINUTE) -> Samples:
    """The text as 16-bit samples; a mixed text is spoken piecewise, each piece in its language.

    Args:
        text: what to say. Codes and prices are put in words; a text of signs only is silence.
        sample_rate: of the result, in hertz.
        variant: an espeak-ng variant such as `f3` or `m1`: another person, the same language.
        words_per_minute: pace, 80 to 450.

    Raises:
        espeak.EspeakError: the library is missing or refused. It takes an unknown variant for none.
    """
    spoken = []
    for piece in pieces(text):
        voice = f"{piece.voice}+{variant}" if variant else piece.voice
        samples, rate = espeak.synthesize(piece.text, voice, words_per_minute)
        spoken.append(resample(samples, rate, sample_rate))
    return np.concatenate(spoken) if spoken else np.zeros(0, dtype=np.int16)


async def speak_off_loop(
    text: str, sample_rate: int, *, variant: str = "", words_per_minute: int = WORDS_PER_MINUTE
) -> Samples:
    """`speak` in a thread, so that an event loop goes on."""
    return await asyncio.to_thread(speak, text, sample_rate, variant=variant, words_per_minute=words_per_minute)
