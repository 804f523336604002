"""PCM helpers that the caller, the stand-ins and the tests share.

Audio is a one-dimensional `int16` array of mono samples; rates are in hertz.
"""

import io
import wave
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

Samples = NDArray[np.int16]

TELEPHONE_RATE = 8000
_PEAK = 32767
_MU = 255.0
_AUDIBLE = 100  # 50 dB below full scale


class UnsupportedAudioError(ValueError):
    """The bytes are not 16-bit PCM in a WAV container."""


def resample(samples: Samples, rate: int, to: int) -> Samples:
    """The same sound at another rate, clipped rather than wrapped."""
    if rate == to or not len(samples):
        return samples
    as_float = samples.astype(np.float32) / _PEAK
    return _to_int16(np.asarray(soxr.resample(as_float, rate, to), dtype=np.float32))


def mu_law_round_trip(samples: Samples) -> Samples:
    """What is left of the samples after G.711 µ-law: 8 bits a sample, as telephone lines carry.

    This is the continuous companding law that G.711 approximates by segments; the difference is
    below the quantisation step.
    """
    x = samples.astype(np.float32) / _PEAK
    companded = np.sign(x) * np.log1p(_MU * np.abs(x)) / np.log1p(_MU)
    code = np.round(companded * 127) / 127
    return _to_int16(np.sign(code) * np.expm1(np.abs(code) * np.log1p(_MU)) / _MU)


def over_the_telephone(samples: Samples, rate: int) -> Samples:
    """The sound as a telephone line delivers it: 8 kHz, through µ-law."""
    return mu_law_round_trip(resample(samples, rate, TELEPHONE_RATE))


def trim_end(samples: Samples) -> Samples:
    """Without the silence at the end, so that the end of a sound is the end of what is heard."""
    audible = np.flatnonzero(np.abs(samples.astype(np.int32)) > _AUDIBLE)
    return samples[: audible[-1] + 1] if len(audible) else samples[:0]


def level(samples: Samples) -> float:
    """Root mean square, in sample units (0 to 32767); 0.0 for no samples."""
    if not len(samples):
        return 0.0
    return float(np.sqrt(np.mean(np.square(samples.astype(np.float32)))))


def to_wav(samples: Samples, rate: int) -> bytes:
    """A WAV file; shape `(n,)` is mono, shape `(n, channels)` interleaves channels."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def from_wav(source: bytes | Path) -> tuple[Samples, int]:
    """Samples, mixed down to mono, and their rate.

    Raises:
        UnsupportedAudioError: it is not a WAV file of 16-bit PCM.
    """
    data = source.read_bytes() if isinstance(source, Path) else source
    try:
        with wave.open(io.BytesIO(data), "rb") as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise UnsupportedAudioError("not a readable WAV file") from error
    if width != 2:
        raise UnsupportedAudioError(f"{8 * width}-bit samples; only 16-bit PCM is understood")
    samples = np.frombuffer(frames[: len(frames) // (2 * channels) * 2 * channels], dtype="<i2")
    if channels > 1:
        samples = samples.reshape(-1, channels).mean(axis=1)
    return samples.astype(np.int16), rate


def _to_int16(x: NDArray[np.float32]) -> Samples:
    return (np.clip(x, -1.0, 1.0) * _PEAK).astype(np.int16)
