import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from demo.audio import level
from demo.standins import espeak
from demo.standins.espeak import EspeakError
from demo.standins.voice import speak, speak_off_loop

_FLUTTER = 0.02  # of a length: espeak-ng is not deterministic to the sample, not even within one process


@pytest.mark.parametrize("text", ["Good morning.", "Доброе утро.", "صباح الخير", "Қайырлы таң."])
def test_every_language_of_the_sample_is_heard(text: str) -> None:
    samples = speak(text, 24000)
    assert samples.dtype == np.int16
    assert 0.5 < len(samples) / 24000 < 4
    assert level(samples) > 500


def test_a_sample_rate_changes_the_samples_and_not_the_time() -> None:
    assert len(speak("Good morning.", 8000)) == pytest.approx(len(speak("Good morning.", 24000)) / 3, rel=_FLUTTER)


def test_a_variant_is_another_voice() -> None:
    plain, other = speak("Good morning.", 24000), speak("Good morning.", 24000, variant="f3")
    assert len(other) != pytest.approx(len(plain), rel=_FLUTTER)


def test_slow_speech_is_longer() -> None:
    assert len(speak("Good morning.", 8000, words_per_minute=90)) > len(speak("Good morning.", 8000))


def test_nothing_to_say_is_silence() -> None:
    assert len(speak("...", 24000)) == 0


def test_a_voice_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(EspeakError, match="no voice"):
        espeak.synthesize("Good morning.", "tlh-x-none", 145)


def test_threads_do_not_disturb_each_other() -> None:
    texts = ["Good morning.", "Доброе утро.", "How much is it?", "Сколько это стоит?"] * 4
    alone = {text: speak(text, 8000) for text in texts}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: speak(text, 8000), texts))
    # Another text's sound would be off by far more.
    assert [len(samples) for samples in together] == pytest.approx([len(alone[text]) for text in texts], rel=_FLUTTER)


async def test_an_event_loop_goes_on_meanwhile() -> None:
    speaking = asyncio.create_task(speak_off_loop("A long sentence about very many things. " * 20, 24000))
    turns = 0
    while not speaking.done():
        turns += 1
        await asyncio.wait([speaking], timeout=0.001)
    assert turns > 5
    assert len(speaking.result()) > 24000 * 20
