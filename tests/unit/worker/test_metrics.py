"""What calls measure on its way to the process that serves it."""

import asyncio
import json
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY

from tests.support.fake_call import settings_for
from worker import metrics

TURNS = "answerline_turns_total"


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    yield
    metrics.send_to(None)


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def until_counted(name: str, value: float, **labels: str) -> None:
    async with asyncio.timeout(10):
        while counted(name, **labels) < value:  # noqa: ASYNC110 - a number has no event
            await asyncio.sleep(0)


async def test_a_number_is_counted_by_the_process_that_serves_it() -> None:
    settings = settings_for("http://127.0.0.1:1", metrics_port=0)
    before = counted(TURNS, outcome="answered")
    heard = counted("answerline_turn_answer_seconds_sum", searched="true")
    with metrics.socket_path(settings) as path:
        assert path
        assert path.parent.stat().st_mode & 0o077 == 0, "others could send us numbers"
        async with metrics.served(settings, path, lambda: 3) as port:
            metrics.send_to(path)
            metrics.note(metrics.TURNS, outcome="answered")
            metrics.note(metrics.ANSWER, 1.5, searched="true")
            await until_counted(TURNS, before + 1, outcome="answered")
            await until_counted("answerline_turn_answer_seconds_sum", heard + 1.5, searched="true")
            text = await asyncio.to_thread(_fetch, port)
        folder = path.parent
    assert not folder.exists()
    assert f'{TURNS}{{outcome="answered"}} {before + 1}' in text
    assert "answerline_worker_active_calls 3.0" in text
    metrics.note(metrics.TURNS, outcome="answered")  # nobody listens any more, and nobody minds


def _fetch(port: int | None) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return str(answer.read().decode())


async def test_without_a_port_nothing_is_served_nor_sent() -> None:
    settings = settings_for("http://127.0.0.1:1")
    with metrics.socket_path(settings) as path:
        assert path is None
        async with metrics.served(settings, path, lambda: 0):
            metrics.send_to(path)
            metrics.note(metrics.TURNS, outcome="answered")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'["answerline_turns", 1, {"outcome": "a caller said"}]',
        b'["answerline_turns", 1, {"name": "answered"}]',
        b'["answerline_turns", 1, {}]',
        b'["answerline_turns", -1, {"outcome": "answered"}]',
        b'["answerline_turns", NaN, {"outcome": "answered"}]',
        b'["answerline_turns", Infinity, {"outcome": "answered"}]',
        b'["answerline_turns", "many", {"outcome": "answered"}]',
        b'["answerline_turns", 1, {"outcome": ["answered"]}]',
        b'["python_info", 1, {}]',
        b'["answerline_turns", 1, {"outcome": "answered", "searched": "true"}]',
    ],
)
def test_what_is_none_of_ours_is_not_counted(sent: bytes) -> None:
    before = {(s.name, *sorted(s.labels.items())): s.value for m in REGISTRY.collect() for s in m.samples}
    metrics.take(sent)
    after = {(s.name, *sorted(s.labels.items())): s.value for m in REGISTRY.collect() for s in m.samples}
    changed = {key for key in after if str(key[0]).startswith("answerline_turn") and before.get(key) != after[key]}
    assert not changed


def test_every_label_has_a_list_of_values() -> None:
    for metric in metrics._METRICS.values():
        assert set(metric._labelnames) <= metrics._LABELS.keys()


async def test_a_full_socket_keeps_no_call_waiting() -> None:
    settings = settings_for("http://127.0.0.1:1", metrics_port=0)
    with metrics.socket_path(settings) as path:
        async with metrics.served(settings, path, lambda: 0):
            metrics.send_to(path)
            for _ in range(10_000):  # more than any socket holds, while nobody reads
                metrics.note(metrics.STARTED)


def test_a_datagram_is_short() -> None:
    longest = max(
        len(json.dumps([name, 1e-300, {label: max(metrics._LABELS[label], key=len) for label in metric._labelnames}]))
        for name, metric in metrics._METRICS.items()
    )
    assert longest < metrics._LARGEST
