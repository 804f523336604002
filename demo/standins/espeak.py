"""espeak-ng through ctypes: the library and its data come in the `espeakng-loader` wheel.

The library keeps one global voice, so every call sets it and speaks under one lock. ctypes
releases the interpreter lock while the library works.
"""

import ctypes
import functools
import threading
from typing import Final

import espeakng_loader
import numpy as np

from demo.audio import Samples

# Values of espeak-ng's speak_lib.h.
_OUTPUT_RETRIEVAL: Final = 1
_DONT_EXIT: Final = 0x8000
_CHARS_UTF8: Final = 1
_POSITION_CHARACTER: Final = 1
_PARAMETER_RATE: Final = 1
_PHONEMES_IPA: Final = 0x02
_OK: Final = 0

_SynthCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
_lock = threading.Lock()


class EspeakError(RuntimeError):
    """espeak-ng could not be loaded, has no such voice, or refused the text."""


class _Library:
    def __init__(self) -> None:
        self._lib = ctypes.CDLL(espeakng_loader.get_library_path())
        self._lib.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._lib.espeak_TextToPhonemes.argtypes = [
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_int,
            ctypes.c_int,
        ]
        self._lib.espeak_Synth.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_uint,
            ctypes.c_int,
            ctypes.c_uint,
            ctypes.c_uint,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        data = espeakng_loader.get_data_path().encode()
        self.rate: int = self._lib.espeak_Initialize(_OUTPUT_RETRIEVAL, 0, data, _DONT_EXIT)
        if self.rate <= 0:
            raise EspeakError("espeak-ng did not start")
        self._blocks: list[bytes] = []
        # Kept on the object: ctypes does not hold a reference, and the library calls it later.
        self._callback = _SynthCallback(self._collect)
        self._lib.espeak_SetSynthCallback(self._callback)

    def _collect(self, wave: object, count: int, _events: object) -> int:
        if count > 0 and wave:
            self._blocks.append(ctypes.string_at(wave, 2 * count))  # type: ignore[arg-type]
        return 0

    def _select(self, voice: str) -> None:
        if self._lib.espeak_SetVoiceByName(voice.encode()) != _OK:
            raise EspeakError(f"espeak-ng has no voice {voice!r}")

    def synthesize(self, text: str, voice: str, words_per_minute: int) -> Samples:
        self._select(voice)
        self._lib.espeak_SetParameter(_PARAMETER_RATE, words_per_minute, 0)
        self._blocks.clear()
        data = text.encode()
        status = self._lib.espeak_Synth(data, len(data) + 1, 0, _POSITION_CHARACTER, 0, _CHARS_UTF8, None, None)
        if status != _OK or self._lib.espeak_Synchronize() != _OK:
            raise EspeakError("espeak-ng refused the text")
        return np.frombuffer(b"".join(self._blocks), dtype=np.int16)

    def phonemes(self, text: str, voice: str) -> str:
        self._select(voice)
        rest = ctypes.c_char_p(text.encode())
        clauses = []
        while rest.value:
            clause = self._lib.espeak_TextToPhonemes(ctypes.byref(rest), _CHARS_UTF8, _PHONEMES_IPA)
            clauses.append(clause.decode())
        return " ".join(clauses)


@functools.cache
def _library() -> _Library:
    return _Library()


def synthesize(text: str, voice: str, words_per_minute: int) -> tuple[Samples, int]:
    """The text spoken, and the rate of the samples. Blocks; any thread may call it.

    Args:
        text: what to say, in the language of the voice.
        voice: an espeak-ng voice, optionally with a variant: `en-us`, `ru+f3`.
        words_per_minute: 80 to 450.

    Raises:
        EspeakError: no such voice, or the library refused.
    """
    with _lock:
        library = _library()
        return library.synthesize(text, voice, words_per_minute), library.rate


def phonemes(text: str, voice: str) -> str:
    """The text in the International Phonetic Alphabet; words are separated by spaces."""
    with _lock:
        return _library().phonemes(text, voice)
