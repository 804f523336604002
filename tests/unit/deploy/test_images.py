"""The Dockerfiles: linted, pinned, and such that their steps can be proved without Docker."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.images import prove, steps

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "images"
PIN = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"sha256:[0-9a-f]{64}")


def pins(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Each package with its version and hashes."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for block in re.split(r"\n(?=\S)", path.read_text("utf-8").strip()):
        if match := PIN.match(block):
            found[canonicalize_name(match[1])] = (match[2], frozenset(HASH.findall(block)))
    return found


def test_the_dockerfiles_have_no_fault_that_hadolint_knows() -> None:
    files = sorted(str(path) for path in FOLDER.glob("*.Dockerfile"))
    assert len(files) >= len(steps.IMAGES)
    linted = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), *files], capture_output=True, text=True, check=False
    )
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("part", ["build", *steps.IMAGES])
def test_what_an_image_installs_is_a_part_of_the_lock_with_its_hashes(part: str) -> None:
    lock, chosen = pins(ROOT / "constraints.txt"), pins(FOLDER / f"{part}.txt")
    assert chosen
    differs = [name for name, pin in chosen.items() if lock.get(name) != pin]
    assert not differs, f"Run `make lock`: deploy/images/{part}.txt differs from constraints.txt in {differs}"
    assert all(hashes for _, hashes in chosen.values())


@pytest.mark.parametrize("image", steps.IMAGES)
def test_nothing_forbidden_is_even_pinned(image: str) -> None:
    assert not set(pins(FOLDER / f"{image}.txt")) & (prove._FORBIDDEN[image] | prove._NEVER)


@pytest.mark.parametrize("image", steps.IMAGES)
def test_both_stages_begin_with_one_exact_base(image: str) -> None:
    first, last = steps.read(image)
    assert first.base == last.base
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm(@sha256:[0-9a-f]{64})?", first.base)


@pytest.mark.parametrize("image", steps.IMAGES)
def test_it_runs_as_nobody_and_says_whether_it_is_healthy(image: str) -> None:
    last = steps.read(image)[-1]
    (user,) = last.values("USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user), "by number, and not root"
    assert "CMD" in last.values("HEALTHCHECK")[0]
    assert not last.values("RUN"), "nothing is done in the second stage that the proof would not see"


@pytest.mark.parametrize("image", steps.IMAGES)
def test_no_secret_and_no_argument_is_in_an_image(image: str) -> None:
    for stage in steps.read(image):
        assert not stage.values("ARG")
        assert not stage.values("ADD")
        assert not [name for name in stage.environment() if re.search("SECRET|TOKEN|KEY|PASSWORD|URL", name)]


@pytest.mark.parametrize("image", steps.IMAGES)
def test_all_is_installed_by_hash(image: str) -> None:
    runs = [value for stage in steps.read(image) for value in stage.values("RUN")]
    packages, tools, ours = sorted((value for value in runs if "pip install" in value), key=lambda run: "uv pip" in run)
    assert "--require-hashes" in packages
    assert "--require-hashes" in tools
    assert "--no-deps" in ours


@pytest.mark.parametrize("image", steps.IMAGES)
def test_the_context_that_docker_sends_holds_what_is_copied(image: str) -> None:
    ignored = (FOLDER / f"{image}.Dockerfile.dockerignore").read_text("utf-8").splitlines()
    let_in = [line.removeprefix("!").removesuffix("/*.txt") for line in ignored if line.startswith("!")]
    copied = [value.split()[:-1] for value in steps.read(image)[0].values("COPY")]
    for source in (source for sources in copied for source in sources):
        assert (ROOT / source).exists()
        assert any(source == path or source.startswith(f"{path}/") for path in let_in), source
    assert "*" in ignored


def test_a_step_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(prove.ProofError, match="no-such-program"):
        prove.Place(tmp_path).run("no-such-program", "/", prove._plain())


def test_paths_of_an_image_are_those_of_the_folder_it_is_proved_in(tmp_path: Path) -> None:
    place = prove.Place(tmp_path)
    place.path("/build").mkdir()
    said = place.run("echo /opt/answerline/bin /build x/build /builder tools/opt/answerline", "/build", prove._plain())
    assert said.split() == [
        f"{tmp_path}/opt/answerline/bin",
        f"{tmp_path}/build",
        "x/build",
        "/builder",
        "tools/opt/answerline",
    ]


def test_what_deploys_is_no_part_of_the_package() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["contracts", "worker", "retrieval_sidecar"]


@pytest.mark.parametrize(
    ("part", "extras"),
    [("build", ["images"]), ("worker", ["worker"]), ("sidecar", ["sidecar", "ingest", "embedder"])],
)
def test_an_image_installs_all_that_its_extras_ask_for(part: str, extras: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    wanted = [Requirement(line) for group in groups for line in group]
    chosen = pins(FOLDER / f"{part}.txt")
    missing = [
        str(each)
        for each in wanted
        if (pin := chosen.get(canonicalize_name(each.name))) is None or not each.specifier.contains(pin[0])
    ]
    assert not missing, f"Run `make lock`: deploy/images/{part}.txt has not {missing}"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"part {part} {' '.join(f'--extra {extra}' for extra in extras)}" in makefile
