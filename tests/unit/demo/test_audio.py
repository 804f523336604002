from pathlib import Path

import numpy as np
import pytest

from demo.audio import (
    UnsupportedAudioError,
    from_wav,
    level,
    mu_law_round_trip,
    over_the_telephone,
    resample,
    to_wav,
    trim_end,
)

TONE = (12000 * np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)).astype(np.int16)


def test_a_wav_file_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    path.write_bytes(to_wav(TONE, 16000))
    samples, rate = from_wav(path)
    assert rate == 16000
    assert np.array_equal(samples, TONE)


def test_two_channels_are_mixed_down() -> None:
    stereo = np.stack([TONE, np.zeros_like(TONE)], axis=1)
    samples, _ = from_wav(to_wav(stereo, 16000))
    assert level(samples) == pytest.approx(level(TONE) / 2, rel=0.01)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"ID3 not a wav file", to_wav(TONE, 16000)[:30]])
def test_what_is_no_wav_is_an_error(data: bytes) -> None:
    with pytest.raises(UnsupportedAudioError):
        from_wav(data)


def test_mu_law_costs_little_of_a_loud_sound_and_keeps_silence() -> None:
    noise = level((mu_law_round_trip(TONE).astype(np.int32) - TONE).astype(np.int16))
    assert 20 < level(TONE) / noise < 200  # 26 to 46 dB: G.711 has about 38
    assert not mu_law_round_trip(np.zeros(10, dtype=np.int16)).any()


def test_the_telephone_has_no_sound_above_4_khz() -> None:
    high = (12000 * np.sin(2 * np.pi * 6000 * np.arange(16000) / 16000)).astype(np.int16)
    assert level(over_the_telephone(high, 16000)) < 100
    assert len(over_the_telephone(TONE, 16000)) == pytest.approx(8000, abs=2)


def test_resampling_does_not_wrap_around() -> None:
    square = np.tile(np.repeat(np.array([32767, -32768], dtype=np.int16), 50), 100)
    changes = np.abs(np.diff(resample(square, 16000, 24000).astype(np.int32)))
    assert np.count_nonzero(changes > 30000) <= 2 * 200  # edges only


def test_silence_at_the_end_is_trimmed() -> None:
    assert len(trim_end(np.concatenate([TONE, np.zeros(4000, dtype=np.int16)]))) == pytest.approx(len(TONE), abs=20)
    assert len(trim_end(np.zeros(4000, dtype=np.int16))) == 0
