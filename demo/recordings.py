"""`python -m demo.recordings`: makes the worker's recorded lines again, by espeak-ng.

They are heard only where the voice of a call fails. A recording by a person, of the same name, is better.
"""

from pathlib import Path

import av
import numpy as np

from demo.audio import resample
from demo.standins import espeak
from worker.canned import RECORDED
from worker.messages import codes, line

FOLDER = Path(__file__).parents[1] / "worker" / "recordings"
_RATE = 16000
_BIT_RATE = 20000
_WORDS_PER_MINUTE = 150


def record(code: str, key: str, folder: Path = FOLDER) -> Path:
    """Write one line as Opus in Ogg, and return its path."""
    samples, rate = espeak.synthesize(line(key, code), code, _WORDS_PER_MINUTE)
    spoken = resample(samples, rate, _RATE)
    path = folder / f"{code}.{key}.ogg"
    with av.open(str(path), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=_RATE, layout="mono", bit_rate=_BIT_RATE)
        frame = av.AudioFrame.from_ndarray(np.asarray(spoken, dtype=np.int16).reshape(1, -1), "s16", "mono")
        frame.sample_rate = _RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path


if __name__ == "__main__":
    for language in sorted(codes()):
        for key in RECORDED:
            written = record(language, key)
            print(f"{written.name}: {written.stat().st_size} bytes")
