import numpy as np
import pytest

from demo.audio import Samples
from demo.hearing import Ear, Tape

RATE = 8000
DIALLED = 1000.0


def tone(seconds: float, amplitude: int = 8000) -> Samples:
    return (amplitude * np.sin(np.arange(round(seconds * RATE)) / 3)).astype(np.int16)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), dtype=np.int16)


def hear(*sounds: Samples, frame: int = 80) -> list[tuple[float, float]]:
    ear = Ear(RATE)
    line = np.concatenate(sounds)
    for at in range(0, len(line), frame):
        ear.hear(line[at : at + frame], DIALLED + min(at + frame, len(line)) / RATE)
    return [(burst.start - DIALLED, burst.end - DIALLED) for burst in ear.bursts]


def close_to(*bursts: tuple[float, float]) -> list[object]:
    return [pytest.approx(burst, abs=0.021) for burst in bursts]


@pytest.mark.parametrize("frame", [80, 160, 441])
def test_bursts_begin_and_end_with_their_sound_however_it_is_cut(frame: int) -> None:
    heard = hear(silence(0.5), tone(1.0), silence(0.4), tone(0.5), silence(1.0), frame=frame)
    assert heard == close_to((0.5, 1.5), (1.9, 2.4))


def test_a_short_pause_is_no_end() -> None:
    assert hear(tone(0.3), silence(0.15), tone(0.3)) == close_to((0.0, 0.75))


def test_clicks_and_line_noise_are_not_speech() -> None:
    noise = np.random.default_rng(7).normal(0, 60, RATE).astype(np.int16)
    assert hear(silence(0.2), tone(0.02), silence(0.3), noise) == []


def test_a_tape_puts_uneven_frames_end_to_end() -> None:
    tape = Tape(RATE, DIALLED)
    writer = tape.writer()
    line = tone(1.0)
    for at in range(0, len(line), 80):
        jitter = 0.05 * (at // 80 % 2)
        writer.write(line[at : at + 80], DIALLED + (at + 80) / RATE + jitter)
    assert len(tape.samples()) == pytest.approx(len(line), abs=0.05 * RATE)
    assert np.corrcoef(tape.samples()[: len(line)], line[: len(tape.samples())])[0, 1] > 0.99


def test_a_tape_keeps_the_silence_where_a_stream_broke_off() -> None:
    tape = Tape(RATE, DIALLED)
    writer = tape.writer()
    writer.write(tone(0.5), DIALLED + 0.5)
    writer.write(tone(0.5), DIALLED + 2.5)
    recorded = tape.samples()
    assert len(recorded) == round(2.5 * RATE)
    assert not recorded[round(0.6 * RATE) : round(1.9 * RATE)].any()
    assert recorded[round(2.1 * RATE) :].any()


def test_a_tape_mixes_streams_and_gives_what_was_between_two_times() -> None:
    tape = Tape(RATE, DIALLED)
    for _ in range(2):
        tape.writer().write(tone(1.0, 4000), DIALLED + 1.0)
    assert np.abs(tape.samples()).max() > 7000
    assert len(tape.samples(DIALLED + 0.25, DIALLED + 0.75)) == RATE // 2
