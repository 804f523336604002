"""Tools that some tests need and a machine may lack, as a pytest plugin.

A test says `@pytest.mark.<marker>`. Without the tool it is skipped, and named at the end; where
`CI` is true it fails, for there everything has to run. A further tool is one more line of `TOOLS`.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

_BUILT = Path(__file__).parents[2] / ".cache" / "bin"


@dataclass(frozen=True, slots=True)
class Tool:
    """A marker, what it needs, how to see whether that is here, and what to do when it is not."""

    marker: str
    name: str
    is_here: Callable[[], bool]
    remedy: str


def program(name: str, variable: str) -> Path | None:
    """A program named by an environment variable, on the PATH, or built by `make`."""
    named = os.environ.get(variable) or shutil.which(name) or _BUILT / name
    return Path(named) if Path(named).is_file() else None


def livekit_server() -> Path | None:
    """The LiveKit server to start; `None` where there is none."""
    return program("livekit-server", "LIVEKIT_SERVER_BIN")


def oasdiff() -> Path | None:
    """The oasdiff to compare documents with; `None` where there is none."""
    return program("oasdiff", "OASDIFF_BIN")


def kustomize() -> Path | None:
    """The kustomize to put manifests together with; `None` where there is none."""
    return program("kustomize", "KUSTOMIZE_BIN")


def redis_server() -> Path | None:
    """The Redis server that LiveKit's SIP service needs; `None` where there is none."""
    return program("redis-server", "REDIS_SERVER_BIN")


def chromium() -> Path | None:
    """The Chromium to look at the console with; `None` where there is none."""
    return program("chromium", "CHROMIUM_BIN")


TOOLS = (
    Tool(
        "livekit",
        "a LiveKit server",
        lambda: "LIVEKIT_URL" in os.environ or livekit_server() is not None,
        "run `make livekit-server`, or set LIVEKIT_URL",
    ),
    Tool("oasdiff", "oasdiff", lambda: oasdiff() is not None, "run `make oasdiff`"),
    Tool("kustomize", "kustomize", lambda: kustomize() is not None, "run `make kustomize`"),
    Tool("redis", "a Redis server", lambda: redis_server() is not None, "run `make redis-server` as root"),
    Tool("chromium", "Chromium", lambda: chromium() is not None, "run `make chromium` as root, or set CHROMIUM_BIN"),
)


def in_ci() -> bool:
    """Whether this run may skip nothing for want of a tool."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for tool in TOOLS:
        config.addinivalue_line("markers", f"{tool.marker}: needs {tool.name}; {tool.remedy}")


@pytest.hookimpl(tryfirst=True)  # before any fixture would start the tool
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, or in CI fail, a test whose tool is not here."""
    for tool in TOOLS:
        if item.get_closest_marker(tool.marker) and not tool.is_here():
            refuse = pytest.fail if in_ci() else pytest.skip
            refuse(f"not here: {tool.name}; {tool.remedy}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each skipped test with its reason."""
    lines = list(_skipped(terminalreporter.stats.get("skipped", [])))
    if lines:
        terminalreporter.section("not run")
        for line in lines:
            terminalreporter.write_line(line)


def _skipped(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> Iterable[str]:
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        yield f"{report.nodeid}: {reason.removeprefix('Skipped: ')}"
