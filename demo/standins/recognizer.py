"""Speech to text by pocketsphinx, for a known list of sentences.

Two passes over the same audio. The first looks for the expected sentences, in a grammar whose
words are the pronunciations that espeak-ng gives them. The second looks for any phones at all.
What was said is in the list when the sentence explains the sound at least as well as free phones
do; everything else (noise, other speech, silence) is the empty text.
"""

import asyncio
import functools
import itertools
import math
import multiprocessing
import re
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pocketsphinx import Config, Decoder, get_model_path

from demo.audio import Samples, level, resample
from demo.standins import arpabet, espeak
from demo.standins.spoken import pieces

RATE: Final = 16000
_FRAME: Final = RATE // 100  # samples
_MODEL: Final = "en-us/en-us"
_PHONE_MODEL: Final = "en-us/en-us-phone.lm.bin"
_SPEECH_LEVEL: Final = 60.0  # RMS of the loudest tenth of a second; a quiet line has about 10
# RMS of the noise that is laid under every utterance. The acoustic model knows rooms, not digital silence: without it
# 235 of 276 test utterances were recognised, with it all 276.
_ROOM_NOISE: Final = 15.0
_PHONE_BEAM: Final = 1e-15  # a wider one takes three times as long and tells no better
# Measured on 23 sentences by three espeak-ng voices over the telephone, 138 utterances: these two limits refuse 1 of
# them, and 101 of 116 utterances of other sentences; those that pass share most of their words with an expected one.
MIN_CONFIDENCE: Final = -0.4
_MIN_COVERAGE: Final = 0.95
_IGNORE_CTRL_C: Final = (signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process


@dataclass(frozen=True)
class Recognition:
    """`text` is an expected sentence, or several in a row, or empty.

    `confidence` is the logarithm of the sentence's likelihood over that of free phones, per second of speech and in the
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
            self._phones = _decoder(lexicon, beam=_PHONE_BEAM, pbeam=_PHONE_BEAM)
            self._phones.add_allphone_file("phones", get_model_path(_PHONE_MODEL))
            self._phones.activate_search("phones")

    def transcribe(self, samples: Samples, rate: int) -> Recognition:
        """What was said in the samples. Blocks: about 0.05 s of work per second of audio."""
        if not self._texts or not _has_sound(samples, rate):
            return NOTHING
        audio = _in_a_room(resample(samples, rate, RATE))
        with self._lock:
            best = _decode(self._sentences, audio)
            text = self._texts.get(best.words) if best else None
            if best is None or text is None or best.coverage < _MIN_COVERAGE:
                return NOTHING
            free = _decode(self._phones, audio)
        if free is None:
            return NOTHING
        confidence = (best.log_score - free.log_score) / best.seconds
        return Recognition(text if confidence >= self._min_confidence else "", confidence)


class RecognizerProcess:
    """A recogniser in a process of its own: pocketsphinx keeps the interpreter lock, so a thread would not do.

    Args:
        sentences: as for `Recognizer`.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = tuple(sentences)
        self._pool = ProcessPoolExecutor(
            1, mp_context=multiprocessing.get_context("spawn"), initializer=signal.signal, initargs=_IGNORE_CTRL_C
        )

    async def transcribe(self, samples: Samples, rate: int) -> Recognition:
        """As `Recognizer.transcribe`; the first one waits for the process and its models, about a second."""
        work = asyncio.get_running_loop().run_in_executor
        return await work(self._pool, _transcribe, self._sentences, samples, rate)

    async def aclose(self) -> None:
        """Ends the process, after the utterances that it was given."""
        await asyncio.to_thread(self._pool.shutdown)


@functools.cache
def _recognizer(sentences: tuple[str, ...]) -> Recognizer:
    return Recognizer(sentences)


def _transcribe(sentences: tuple[str, ...], samples: Samples, rate: int) -> Recognition:
    return _recognizer(sentences).transcribe(samples, rate)


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
    """The best path through an utterance.

    Attributes:
        words: names of the lexicon.
        log_score: of the sound alone, without the probability of the words.
        seconds: of the words, without the silences around them.
        coverage: the part of the sound's energy that the words take up.
    """

    words: str
    log_score: float
    seconds: float
    coverage: float


def _decoder(lexicon: _Lexicon, **beams: float) -> Any:
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
                **beams,
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


def _in_a_room(audio: Samples) -> Samples:
    noise = np.random.default_rng(0).normal(0.0, _ROOM_NOISE, len(audio))  # the same for every utterance
    return np.clip(audio + noise, -32768, 32767).astype(np.int16)


def _decode(decoder: Any, audio: Samples) -> _Decoded | None:
    decoder.start_utt()
    # As one whole: cepstral means are then those of this utterance, not of the ones before it.
    decoder.process_raw(audio.tobytes(), full_utt=True)
    decoder.end_utt()
    path = list(decoder.seg() or ()) if decoder.hyp() else []
    words = [segment for segment in path if segment.word[0].isalpha() and segment.word != "SIL"]
    if not words or any(segment.ascore <= 0 for segment in path):
        return None
    energy = np.square(audio.astype(np.float64))
    covered = sum(float(energy[s.start_frame * _FRAME : (s.end_frame + 1) * _FRAME].sum()) for s in words)
    return _Decoded(
        words=" ".join(segment.word for segment in words),
        log_score=sum(math.log(segment.ascore) for segment in path),
        seconds=sum(s.end_frame + 1 - s.start_frame for s in words) * _FRAME / RATE,
        coverage=covered / float(energy.sum()),
    )
