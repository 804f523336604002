"""What the recogniser hears over a telephone line, from a voice that is not the agent's."""

import numpy as np
import pytest

from demo.audio import TELEPHONE_RATE, Samples, over_the_telephone
from demo.standins import arpabet, espeak
from demo.standins.recognizer import NOTHING, Recognizer, RecognizerProcess
from demo.standins.voice import speak

EXPECTED = [
    "Where can I leave my umbrella?",
    "What does PIN-44-X mean?",
    "how much is a ticket for the night train",
    "Do you know Doctor Alimova?",
    "Good morning. My bicycle is broken. Who can repair it?",
    "Қабылдау қанша тұрады?",
]
OTHERS = [
    "My brother bought a new car last week.",
    "The weather is lovely in the mountains today.",
    "Please sing me a song about the sea.",
    "yes",
    "I do not know what you mean.",
    "Мой брат купил новую машину.",
]


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(EXPECTED)


def by_telephone(text: str, variant: str = "f3") -> Samples:
    """The text spoken, with a little noise and silence around it, as a voice activity detector cuts it."""
    speech = over_the_telephone(speak(text, 24000, variant=variant), 24000)
    noise = np.random.default_rng(7).normal(0, 8, len(speech) + TELEPHONE_RATE)
    return (np.pad(speech, TELEPHONE_RATE // 2) + noise).astype(np.int16)


def heard_thrice(recognizer: Recognizer, text: str, variant: str = "f3") -> list[str]:
    """What is made of the text spoken three times.

    espeak-ng's pitch flutters on from one utterance to the next and cannot be set back, so no two are the same and
    about one in fifty is lost.
    """
    return [recognizer.transcribe(by_telephone(text, variant), TELEPHONE_RATE).text for _ in range(3)]


@pytest.mark.parametrize("variant", ["", "f3", "m1"])
@pytest.mark.parametrize("text", EXPECTED)
def test_an_expected_sentence_is_given_back_as_it_is_written(recognizer: Recognizer, text: str, variant: str) -> None:
    heard = heard_thrice(recognizer, text, variant)
    assert text in heard
    assert set(heard) <= {text, ""}


@pytest.mark.parametrize("text", OTHERS)
def test_other_speech_is_the_empty_text(recognizer: Recognizer, text: str) -> None:
    assert heard_thrice(recognizer, text).count("") >= 2


@pytest.mark.parametrize("part", ["Good morning.", "Good morning. My bicycle is broken.", "Who can repair it?"])
def test_a_part_between_pauses_is_recognised_too(recognizer: Recognizer, part: str) -> None:
    assert part in heard_thrice(recognizer, part)


def test_silence_and_noises_are_the_empty_text(recognizer: Recognizer) -> None:
    seconds = 2 * TELEPHONE_RATE
    random = np.random.default_rng(7)
    noises = {
        "digital silence": np.zeros(seconds),
        "line noise": random.normal(0, 15, seconds),
        "loud noise": random.normal(0, 2000, seconds),
        "a tone": 8000 * np.sin(2 * np.pi * 440 * np.arange(seconds) / TELEPHONE_RATE),
        "a steady offset": np.full(seconds, 3000.0),
        "nothing": np.zeros(0),
    }
    heard = {name: recognizer.transcribe(x.astype(np.int16), TELEPHONE_RATE).text for name, x in noises.items()}
    assert heard == dict.fromkeys(noises, "")


def test_an_utterance_does_not_depend_on_the_one_before(recognizer: Recognizer) -> None:
    sound = by_telephone(EXPECTED[1])
    first = recognizer.transcribe(sound, TELEPHONE_RATE)
    recognizer.transcribe(by_telephone(OTHERS[0]) // 8, TELEPHONE_RATE)
    again = recognizer.transcribe(sound, TELEPHONE_RATE)
    assert again.text == first.text == EXPECTED[1]


def test_without_sentences_nothing_is_recognised() -> None:
    assert Recognizer([]).transcribe(by_telephone("yes"), TELEPHONE_RATE) == NOTHING


async def test_a_process_of_its_own_hears_the_same() -> None:
    process = RecognizerProcess(EXPECTED)
    try:
        heard = await process.transcribe(by_telephone(EXPECTED[1]), TELEPHONE_RATE)
    finally:
        await process.aclose()
    assert heard.text == EXPECTED[1]


@pytest.mark.parametrize("voice", ["en-us", "ru", "kk", "ar", "hi"])
def test_every_sound_of_a_language_has_a_phone(voice: str) -> None:
    text = {
        "en-us": "The quick brown fox jumps over the lazy dog, measures joy and thought.",
        "ru": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
        "kk": "Әр үйде ғалым жұмыс істейді, өзің көр, тұң.",
        "ar": "صباح الخير يا ضيوف، هذا نص قصير عن الطقس والظل والغذاء",
        "hi": "नमस्ते, यह एक छोटा वाक्य है",
    }[voice]
    words = espeak.phonemes(text, voice).split()
    phones = [arpabet.from_ipa(word) for word in words]
    assert all(phones)
    assert {phone for word in phones for phone in word} <= arpabet.PHONES
