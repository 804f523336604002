"""Speech to text by pocketsphinx, for a known list of sentences.

Two passes over the same audio. The first looks for the expected sentences, in a grammar whose
words are the pronunciations that espeak-ng gives them. The second looks for any phones at all.
What was said is in the list when the sentence explains the sound at least as well as free phones
do; everything else (noise, other speech, silence) is the empty text.
"""

import itertools
import math
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pocketsphinx import Config, Decoder, get_model_path

from demo.audio import Samples, level, resample
from demo.standins import arpabet, espeak
from demo.standins.spoken import pieces

RATE: Final = 16000
_FRAMES_PER_SECOND: Final = 100
_MODEL: Final = "en-us/en-us"
_PHONE_MODEL: Final = "en-us/en-us-phone.lm.bin"
_SPEECH_LEVEL: Final = 60.0  # RMS of the loudest tenth of a second; a quiet line has about 10
# Measured over telephone audio of five espeak-ng voices: expected English sentences -0.05 to 0.60,
# other speech below -0.07 except where it shares most of its words with an expected sentence.
MIN_CONFIDENCE: Final = -0.06


@dataclass(frozen=True)
class Recognition:
    """`text` is an expected sentence, or several in a row, or empty.

    `confidence` is the log-likelihood ratio against free phones per second of speech, in the
    recogniser's own scale; None where no expected sentence fitted at all.
    """

    text: str
    confidence: float | None


NOTHING: Final = Recognition("", None)


class Recognizer:
    """Recognises the given sentences. Thread-safe; one utterance at a time.

    Args:
        sentences: what callers are expected to say, as it should be transcribed. A text of several
            sentences is also recognised in part, because a caller's pause splits an utterance.
        min_confidence: see `MIN_CONFIDENCE`; lower accepts more.
    """

    def __init__(self, sentences: Iterable[str], *, min_confidence: float = MIN_CONFIDENCE) -> None:
        self._min_confidence = min_confidence
        self._lock = threading.Lock()
        lexicon = _Lexicon()
        self._texts = {
            words: text for sentence in sentences for text in _parts(sentence) if (words := lexicon.words(text))
        }
        if self._texts:
            self._sentences = _decoder(lexicon)
            self._sentences.add_jsgf_string("sentences", _grammar(list(self._texts)))
            self._sentences.activate_search("sentences")
            self._phones = _decoder(lexicon)
            self._phones.add_allphone_file("phones", get_model_path(_PHONE_MODEL))
            self._phones.activate_search("phones")

    def transcribe(self, samples: Samples, rate: int) -> Recognition:
        """What was said in the samples. Blocks: about 0.06 s of work per second of audio."""
        if not self._texts or not _has_sound(samples, rate):
            return NOTHING
        audio = resample(samples, rate, RATE)
        with self._lock:
            best = _decode(self._sentences, audio)
            text = self._texts.get(best.words) if best else None
            if best is None or text is None:
                return NOTHING
            free = _decode(self._phones, audio)
        if free is None:
            return NOTHING
        confidence = (best.log_score - free.log_score) / best.seconds
        return Recognition(text if confidence >= self._min_confidence else "", confidence)


class _Lexicon:
    """Gives every distinct pronunciation a name that a grammar can hold, in any script."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, ...], str] = {}

    def words(self, text: str) -> str:
        spoken = (
            arpabet.from_ipa(word)
            for piece in pieces(text)
            for word in espeak.phonemes(piece.text, piece.voice).split()
        )
        return " ".join(self.names.setdefault(phones, f"w{len(self.names)}") for phones in spoken if phones)


@dataclass(frozen=True)
class _Decoded:
    words: str
    log_score: float
    seconds: float  # of speech, silences between words left out


def _decoder(lexicon: _Lexicon) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        dictionary = Path(folder) / "words.dict"
        entries = (f"{name} {' '.join(phones)}\n" for phones, name in lexicon.names.items())
        dictionary.write_text("".join(entries), encoding="ascii")
        # The lattice's best path need not end where the grammar ends: half a sentence would win.
        return Decoder(
            Config(
                hmm=get_model_path(_MODEL),
                dict=str(dictionary),
                lm=None,
                bestpath=False,
                loglevel="FATAL",
            )
        )


def _grammar(alternatives: Sequence[str]) -> str:
    return f"#JSGF V1.0; grammar sentences; public <sentence> = {' | '.join(alternatives)};"


def _parts(sentence: str) -> Iterator[str]:
    clauses = re.split(r"(?<=[.!?؟。])\s+", sentence.strip())
    for start, end in itertools.combinations(range(len(clauses) + 1), 2):
        yield " ".join(clauses[start:end])


def _has_sound(samples: Samples, rate: int) -> bool:
    window = max(rate // 10, 1)
    blocks = (samples[at : at + window] for at in range(0, len(samples), window))
    return any(level(block - np.int16(block.mean())) >= _SPEECH_LEVEL for block in blocks)


def _decode(decoder: Any, audio: Samples) -> _Decoded | None:
    decoder.start_utt()
    # As one whole: cepstral means are then those of this utterance, not of the ones before it.
    decoder.process_raw(audio.tobytes(), full_utt=True)
    decoder.end_utt()
    hypothesis = decoder.hyp()
    if hypothesis is None or not hypothesis.score:
        return None
    spoken = [s for s in decoder.seg() if not s.word.startswith(("<", "[", "(", "SIL", "+"))]
    frames = sum(s.end_frame - s.start_frame + 1 for s in spoken)
    words = " ".join(s.word for s in spoken)
    return _Decoded(words, math.log(hypothesis.score), frames / _FRAMES_PER_SECOND) if frames else None
