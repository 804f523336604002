"""No log line holds what was said, found or dialled, whoever writes it, at whatever level."""

import copy
import io
import json
import logging
import pickle
from collections.abc import Iterator

import pytest
import structlog

from worker import logs

SENTINEL = "sentinel-transcript"
NUMBER = "+15550100199"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, put back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


class Lines:
    """What is logged, line by line; none may hold the sentinels."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    def all(self) -> list[dict[str, object]]:
        written = self._stream.getvalue()
        assert SENTINEL not in written
        assert NUMBER not in written
        return [json.loads(line) for line in written.splitlines()]


@pytest.fixture
def lines(root: logging.Logger) -> Lines:
    """Logging as the worker has it, at its most talkative."""
    return configured(root)


def configured(root: logging.Logger) -> Lines:
    logs.configure("debug")
    stream = io.StringIO()
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    return Lines(stream)


def fail(error: Exception) -> None:
    raise error


def test_our_own_records_are_json_with_their_attributes(lines: Lines) -> None:
    structlog.get_logger("worker.test").info("call_ended", session_id="1", attempts=2)
    (line,) = lines.all()
    timestamp = line.pop("timestamp")
    assert str(timestamp).endswith("Z")
    assert line == {
        "event": "call_ended",
        "session_id": "1",
        "attempts": 2,
        "level": "info",
        "logger": "worker.test",
    }


def test_a_librarys_attributes_pass_by_name_only(lines: Lines) -> None:
    extra = {
        "lk.pii.user_transcript": SENTINEL,
        "room": f"call-_{NUMBER}_a1",
        "participant": f"sip_{NUMBER}",
        "error": ValueError(SENTINEL),
        "job_id": "AJ_1",
        "attempt": 2,
    }
    logging.getLogger("livekit.agents").warning("failed to recognize speech", extra=extra)
    (line,) = lines.all()
    assert line["event"] == "failed to recognize speech"
    assert (line["job_id"], line["attempt"]) == ("AJ_1", 2)
    assert not {"room", "participant", "error", "lk.pii.user_transcript"} & line.keys()


def test_a_librarys_message_passes_only_as_it_stands_in_the_source(lines: Lines) -> None:
    logger = logging.getLogger("livekit.agents")
    logger.error("failed to say text: %s", SENTINEL)
    logger.error(f"closing due to unrecoverable error: {SENTINEL}")  # noqa: G004 - as LiveKit does
    logger.error("closing: " + SENTINEL)  # noqa: G003 - others may
    first, second, third = lines.all()
    assert first["event"] == "failed to say text: %s"
    assert second["event"] == third["event"] == "(not a literal)"
    assert "test_logs.py" in str(second["source"])


def test_exceptions_keep_types_and_places_and_lose_what_they_say(lines: Lines) -> None:
    for name in ("livekit.agents", "worker.test"):
        try:
            try:
                fail(ValueError(SENTINEL))
            except ValueError as cause:
                raise RuntimeError(f"{SENTINEL} {NUMBER}") from cause
        except RuntimeError:
            logging.getLogger(name).exception("failed")
    for line in lines.all():
        chain = line["exception"]
        assert isinstance(chain, list)
        assert [each["type"] for each in chain] == ["RuntimeError", "ValueError"]
        assert "test_logs.py" in chain[0]["at"][-1]


def test_a_jobs_records_are_clean_before_they_leave_its_process_and_after(
    root: logging.Logger,
) -> None:
    sent: list[bytes] = []

    class Queue(logging.Handler):
        """What LiveKit does to a record of a job's process."""

        def emit(self, record: logging.LogRecord) -> None:
            text = self.format(record)
            record = copy.copy(record)
            record.msg = record.message = text
            record.args = record.exc_info = None
            sent.append(pickle.dumps(record))

    root.handlers = [Queue()]
    root.setLevel(logging.DEBUG)
    logs.configure_job_process()
    logs.configure_job_process()
    assert len(root.handlers[0].filters) == 1
    try:
        fail(RuntimeError(SENTINEL))
    except RuntimeError:
        structlog.get_logger("worker.test").exception("call_failed", room_id="RM_1")
        logging.getLogger("livekit.agents").exception("error", extra={"lk.pii.text": SENTINEL})
    assert SENTINEL not in repr(sent)

    lines = configured(root)
    for data in sent:
        record = pickle.loads(data)
        record.room = f"call-_{NUMBER}_a1"
        record.job_id = "AJ_1"
        root.handle(record)
    ours, theirs = lines.all()
    assert (ours["event"], theirs["event"]) == ("call_failed", "error")
    assert (ours["job_id"], ours["room_id"]) == ("AJ_1", "RM_1")
    for line in (ours, theirs):
        assert "room" not in line
        assert "message" not in line
        assert "RuntimeError" in str(line["exception"])
