"""docs/ingest.md names every limit with its default, and every code of a failure."""

import re
from pathlib import Path

import pytest

from retrieval_sidecar.errors import ConfigurationError, EmbedderUnavailable, Unavailable
from retrieval_sidecar.extraction.outcome import Reason
from retrieval_sidecar.jobs.failures import WORKER_DIED, Failure, failure_of
from retrieval_sidecar.settings import Settings

TEXT = (Path(__file__).parents[3] / "docs" / "ingest.md").read_text("utf-8")
MIB = 1024 * 1024


def documented_codes() -> set[str]:
    table = TEXT[TEXT.index("| code | when |") : TEXT.index("## JSONL")]
    return {code for line in table.split("\n|")[1:] for code in re.findall(r"`([a-z_]+)`", line.split("|")[0])}


@pytest.mark.parametrize(
    "name",
    [name for name in Settings.model_fields if name.startswith(("max_", "extraction_", "job_"))],
)
def test_each_limit_is_named_with_its_default(name: str) -> None:
    (row,) = [line for line in TEXT.splitlines() if f"`ANSWERLINE_{name.upper()}`" in line and line.startswith("|")]
    default = Settings.model_fields[name].default
    shown = {
        f"{default:,}",
        f"{default:g}",
        f"{default / MIB:g} MiB",
        f"{default / MIB / 1024:g} GiB",
        f"{default:g} s",
    }
    assert any(re.search(rf"(?<![\d,.]){re.escape(each)}(?!\d|,\d)", row) for each in shown), row


@pytest.mark.parametrize(
    "failure",
    [
        failure_of(EmbedderUnavailable()),
        failure_of(Unavailable()),
        failure_of(ConfigurationError("x")),
        failure_of(ImportError(name="x")),
        failure_of(RuntimeError()),
        WORKER_DIED,
    ],
    ids=lambda failure: failure.code,
)
def test_each_failure_is_explained_and_says_what_to_do(failure: Failure) -> None:
    assert failure.code in documented_codes()
    assert failure.sentence


def test_each_reason_of_a_file_is_explained() -> None:
    assert {reason.value for reason in Reason} <= documented_codes()
