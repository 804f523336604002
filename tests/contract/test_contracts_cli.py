"""The contract's tools on a copy of its folder: what each lets through, and what it refuses."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from contracts.documents import digest
from tests.support import requirements

ROOT = Path(__file__).parents[2]
NEEDS_OASDIFF = pytest.mark.oasdiff

PROSE = ("summary: Open the session of a call", "summary: Open a call's session")
ADDITION = ("        utterance:\n", "        mood: {type: string}\n        utterance:\n")
BREAKING = ("          maxItems: 4\n", "          maxItems: 3\n")
REMOVAL = ("        attempts: {type: integer, minimum: 0}\n", "")


@dataclass
class Copy:
    """A copy of the contracts folder, pinned at 1.0.0 alone, and its own command line."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "contracts"

    @property
    def document(self) -> Path:
        return self.folder / "voice.openapi.yaml"

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if k not in {"CI", "OASDIFF_BIN"}}
        if program := requirements.oasdiff():
            inherited["OASDIFF_BIN"] = str(program)
        return subprocess.run(
            [sys.executable, "-m", "contracts", *arguments],
            cwd=self.root,
            env=inherited | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def succeeds(self, *arguments: str, **environment: str) -> str:
        done = self.run(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def fails(self, *arguments: str, **environment: str) -> str:
        done = self.run(*arguments, **environment)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def edit(self, *edits: tuple[str, str]) -> None:
        text = self.document.read_text("utf-8")
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        self.document.write_text(text, "utf-8")

    def version(self, version: str, *, of: str = "voice") -> None:
        document = self.folder / f"{of}.openapi.yaml"
        text = document.read_text("utf-8")
        document.write_text(re.sub(r"^  version: .*$", f"  version: {version}", text, count=1, flags=re.MULTILINE))

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def first_pin(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("first"))
    ignored = shutil.ignore_patterns("__pycache__", "pinned", "pins.toml")
    shutil.copytree(ROOT / "contracts", made.folder, ignore=ignored)
    made.version("1.0.0")
    made.version("1.0.0", of="management")
    made.succeeds("pin")
    made.succeeds("generate")
    return made


@pytest.fixture
def copy(first_pin: Copy, tmp_path: Path) -> Copy:
    shutil.copytree(first_pin.root, tmp_path, dirs_exist_ok=True)
    return Copy(tmp_path)


def test_what_is_pinned_and_generated_passes(copy: Copy) -> None:
    assert "voice.openapi.yaml 1.0.0: in order" in copy.succeeds("check", CI="true")
    assert "management.openapi.yaml 1.0.0: in order" in copy.succeeds("check", CI="true")
    assert "voice.py is current" in copy.succeeds("generate", "--check")
    assert "pinned as it stands" in copy.succeeds("pin")
    assert "nothing before it is pinned" in copy.succeeds("diff")


def test_an_edit_without_a_pin_fails(copy: Copy) -> None:
    copy.edit(PROSE)
    assert "edited since 1.0.0 was pinned: raise info.version" in copy.fails("check")


def test_a_raised_version_without_a_pin_fails(copy: Copy) -> None:
    copy.version("1.0.1")
    assert "says version 1.0.1, but 1.0.0 is pinned" in copy.fails("check")


def test_an_edit_is_not_pinned_under_the_same_version(copy: Copy) -> None:
    copy.edit(PROSE)
    assert "1.0.0 is pinned with other content: raise info.version" in copy.fails("pin")


@NEEDS_OASDIFF
def test_prose_needs_a_patch_only(copy: Copy) -> None:
    copy.edit(PROSE)
    copy.version("1.0.1")
    assert "1.0.1 is now pinned" in copy.succeeds("pin")
    assert "in order" in copy.succeeds("check")
    assert "since 1.0.0: no change" in copy.succeeds("diff")


@NEEDS_OASDIFF
def test_an_addition_needs_a_minor(copy: Copy) -> None:
    copy.edit(ADDITION)
    copy.version("1.0.1")
    refusal = copy.fails("pin")
    assert "must become at least 1.1.0" in refusal
    assert "`mood`" in refusal
    copy.version("1.1.0")
    copy.succeeds("pin")
    copy.succeeds("generate")
    assert "in order" in copy.succeeds("check", CI="true")
    assert sorted(kept.name for kept in (copy.folder / "pinned").iterdir()) == [
        "management-1.0.0.openapi.yaml",
        "voice-1.0.0.openapi.yaml",
        "voice-1.1.0.openapi.yaml",
    ]


@NEEDS_OASDIFF
@pytest.mark.parametrize("breaking", [BREAKING, REMOVAL])
def test_a_breaking_edit_needs_a_major(copy: Copy, breaking: tuple[str, str]) -> None:
    copy.edit(breaking)
    copy.version("1.1.0")
    refusal = copy.fails("pin")
    assert "must become 2.0.0" in refusal
    assert "BREAKING" in refusal
    copy.version("2.0.0")
    assert "2.0.0 is now pinned" in copy.succeeds("pin")


@NEEDS_OASDIFF
def test_check_sees_a_breaking_edit_that_was_pinned_by_hand(copy: Copy) -> None:
    copy.edit(BREAKING)
    copy.version("1.1.0")
    hand_pin(copy, "1.1.0")
    copy.succeeds("generate")
    assert "must become 2.0.0" in copy.fails("check")


@NEEDS_OASDIFF
def test_diff_tells_changes_and_marks_breaking_ones(copy: Copy) -> None:
    copy.edit(BREAKING, ADDITION)
    *told, other = copy.succeeds("diff", "--against", "1.0.0").splitlines()
    assert told[0] == "voice.openapi.yaml since 1.0.0:"
    assert [line.split()[0] for line in told[1:]] == ["BREAKING", "change"]
    assert other == "management.openapi.yaml since 1.0.0: no change."
    assert told[1:] == copy.succeeds("diff").splitlines()[1:-1]
    assert "0.9.0 is not pinned; there are: 1.0.0" in copy.fails("diff", "--against", "0.9.0")


@NEEDS_OASDIFF
def test_a_version_that_one_document_has_is_compared_with_of_that_one(copy: Copy) -> None:
    copy.edit(ADDITION)
    copy.version("1.1.0")
    copy.succeeds("pin")
    assert copy.succeeds("diff", "--against", "1.1.0").strip() == "voice.openapi.yaml since 1.1.0: no change."


def test_an_edit_of_the_other_document_fails_too(copy: Copy) -> None:
    other = copy.folder / "management.openapi.yaml"
    other.write_text(other.read_text("utf-8") + "# later\n")
    assert "management.openapi.yaml was edited since 1.0.0 was pinned" in copy.fails("check")
    kept = copy.folder / "pinned" / "management-1.0.0.openapi.yaml"
    kept.unlink()
    assert "management-1.0.0.openapi.yaml is not what was pinned" in copy.fails("check")


@NEEDS_OASDIFF
def test_pinning_one_document_leaves_the_others_pin(copy: Copy) -> None:
    voice, _, management = (copy.folder / "pins.toml").read_text("utf-8").partition("[management]")
    copy.version("1.0.1")
    copy.succeeds("pin")
    now = (copy.folder / "pins.toml").read_text("utf-8").partition("[management]")
    assert now[0] != voice
    assert now[2] == management


@NEEDS_OASDIFF
def test_a_version_is_never_lowered(copy: Copy) -> None:
    copy.version("1.2.0")
    copy.edit(ADDITION)
    copy.succeeds("pin")
    copy.version("1.1.0")
    assert "1.1.0 is lower than 1.2.0" in copy.fails("pin")


def test_models_that_drifted_fail(copy: Copy) -> None:
    models = copy.folder / "voice.py"
    models.write_text(models.read_text("utf-8").replace("max_length=500", "max_length=501"))
    assert "run `python -m contracts generate`" in copy.fails("generate", "--check")
    assert "run `python -m contracts generate`" in copy.fails("check")
    copy.succeeds("generate")
    copy.succeeds("check")


def test_a_pinned_copy_cannot_be_rewritten_or_lost(copy: Copy) -> None:
    kept = copy.folder / "pinned" / "voice-1.0.0.openapi.yaml"
    kept.write_text(kept.read_text("utf-8") + "# later\n")
    assert "voice-1.0.0.openapi.yaml is not what was pinned" in copy.fails("check")
    kept.unlink()
    assert "voice-1.0.0.openapi.yaml is not what was pinned" in copy.fails("check")
    copy.succeeds("pin")
    shutil.copy(kept, kept.with_name("voice-0.1.0.openapi.yaml"))
    assert "voice-0.1.0.openapi.yaml is in no pin" in copy.fails("check")


def test_a_document_that_is_never_pinned_fails(copy: Copy) -> None:
    (copy.folder / "pins.toml").unlink()
    assert "is not pinned: run `python -m contracts pin`" in copy.fails("check")


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (("operationId: livez", "operationId: readyz"), "no valid OpenAPI"),
        (("openapi: 3.1.0", "openapi: ["), "no valid OpenAPI"),
        (("  version: 1.0.0\n", "  version: one\n"), "semantic version"),
        (("  version: 1.0.0\n", ""), "no valid OpenAPI"),
    ],
)
def test_an_invalid_document_is_not_pinned(copy: Copy, edit: tuple[str, str], named: str) -> None:
    before = (copy.folder / "pins.toml").read_bytes()
    copy.edit(edit)
    assert named in copy.fails("pin")
    assert (copy.folder / "pins.toml").read_bytes() == before


def test_broken_pins_are_named(copy: Copy) -> None:
    (copy.folder / "pins.toml").write_text("[voice\n")
    assert "pins.toml cannot be read" in copy.fails("check")


def test_only_an_unreleased_version_is_amended(copy: Copy) -> None:
    copy.edit(PROSE)
    assert "only a git checkout can tell" in copy.fails("pin", "--amend")
    copy.git("init")
    assert "1.0.0 is now pinned" in copy.succeeds("pin", "--amend")
    copy.git("add", ".")
    copy.git("commit", "-m", "Release")
    copy.git("tag", "v0.1.0")
    copy.edit((PROSE[1], PROSE[0]))
    assert "1.0.0 is in release v0.1.0" in copy.fails("pin", "--amend")


class TestWithoutOasdiff:
    """A machine without it can do all but compare, and says so."""

    ABSENT: ClassVar = {"PATH": "/nowhere", "OASDIFF_BIN": "/nowhere/oasdiff"}

    @pytest.fixture
    def minor(self, copy: Copy) -> Copy:
        copy.version("1.1.0")
        hand_pin(copy, "1.1.0")
        copy.succeeds("generate")
        return copy

    def test_check_says_what_it_skipped(self, minor: Copy) -> None:
        told = minor.succeeds("check", **self.ABSENT)
        assert "SKIPPED: breaking changes" in told
        assert "in order" in told

    def test_in_ci_skipping_is_a_failure(self, minor: Copy) -> None:
        assert "CI skips nothing" in minor.fails("check", CI="true", **self.ABSENT)

    def test_pin_and_diff_say_how_to_get_it(self, minor: Copy) -> None:
        minor.version("1.2.0")
        assert "OASDIFF_BIN names no file" in minor.fails("pin", **self.ABSENT)
        assert "make oasdiff" in minor.fails("pin", PATH="/nowhere", OASDIFF_BIN="")
        assert "make oasdiff" in minor.fails("diff", PATH="/nowhere", OASDIFF_BIN="")


def hand_pin(copy: Copy, version: str) -> None:
    """Pin without asking, as somebody would who wants to get round the rules."""
    content = copy.document.read_bytes()
    (copy.folder / "pinned" / f"voice-{version}.openapi.yaml").write_bytes(content)
    toml = copy.folder / "pins.toml"
    voice, head, others = toml.read_text("utf-8").partition("\n[management]")
    voice = voice.replace('version = "1.0.0"', f'version = "{version}"')
    toml.write_text(f'{voice}"{version}" = "{digest(content)}"\n{head}{others}')
