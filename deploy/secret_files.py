"""Make the files of secrets that compose and Kubernetes mount: `python -m deploy.secret_files FOLDER`.

A folder for each service, a file for each secret, mode 600, each owned by the user who reads it. What is there is kept,
so that it can be called again. What only others can give (a provider's key, the worker's token) is named, not made.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer
import yaml

# Who runs in the containers: what is ours and LiveKit's, and PostgreSQL's own image.
OURS: Final = 10001
POSTGRES: Final = 999
DATABASE: Final = "answerline"
# Which role each service's DATABASE_URL is of. Tokens are made where migrations are run, by the owner.
ROLES: Final = {"migrate": "owner", "voice": "voice", "manage": "manage", "work": "manage"}
# What others give: where from, by file.
GIVEN: Final = {
    "worker/OPENAI_API_KEY": "the model provider's key",
    "worker/ANSWERLINE_SIDECAR_TOKEN": "printed by `retrieval-sidecar token create`",
}


@dataclass(frozen=True, slots=True)
class Secret:
    """A file's name in the folder, what it holds, and who reads it."""

    name: str
    content: str
    user: int = OURS


def wanted(folder: Path, *, database: str, livekit_url: str, redis: str) -> Iterator[Secret]:
    """All files that can be made; passwords and keys that are in the folder already are taken up."""
    passwords = {role: _kept(folder / f"postgres/{role}_password") for role in ("superuser", *set(ROLES.values()))}
    for role, password in sorted(passwords.items()):
        yield Secret(f"postgres/{role}_password", password, POSTGRES)
    for service, role in ROLES.items():
        url = f"postgresql://answerline_{role}:{quote(passwords[role], safe='')}@{database}/{DATABASE}"
        yield Secret(f"{service}/DATABASE_URL", url)
    key, secret = _kept(folder / "worker/LIVEKIT_API_KEY", "answerline"), _kept(folder / "worker/LIVEKIT_API_SECRET")
    yield Secret("worker/LIVEKIT_API_KEY", key)
    yield Secret("worker/LIVEKIT_API_SECRET", secret)
    yield Secret("livekit/keys.yaml", yaml.safe_dump({key: secret}))
    yield Secret("sip/sip.yaml", yaml.safe_dump(_sip(key, secret, livekit_url, redis), sort_keys=False))


def _sip(key: str, secret: str, livekit_url: str, redis: str) -> dict[str, object]:
    # LiveKit SIP reads its key from its configuration only, so all of that is a secret.
    return {
        "api_key": key,
        "api_secret": secret,
        "ws_url": livekit_url,
        "redis": {"address": redis},
        "sip_port": 5060,
        "rtp_port": "10000-10100",
        "use_external_ip": True,
        "health_port": 8085,
        "logging": {"level": "info", "json": True},
    }


def _kept(path: Path, otherwise: str | None = None) -> str:
    if path.exists():
        return path.read_text("utf-8").strip()
    return otherwise or secrets.token_urlsafe(32)


def write(folder: Path, secret: Secret, *, anew: bool) -> bool:
    """Write a file unless it is there; whether it was written. One that is there is closed to others again.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / secret.name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
    is_new = anew or not path.exists()
    if is_new:
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secret.content)
    path.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(path, secret.user, secret.user)
    return is_new


def main(
    folder: Annotated[Path, typer.Argument(help="Outside of version control; deploy/secrets is ignored by git.")],
    *,
    database: Annotated[str, typer.Option(help="Host and port of PostgreSQL, as the services see it.")] = (
        "postgres:5432"
    ),
    livekit_url: Annotated[str, typer.Option(help="LiveKit, as LiveKit SIP sees it.")] = "ws://livekit:7880",
    redis: Annotated[str, typer.Option(help="Redis, as LiveKit SIP sees it.")] = "redis:6379",
    anew: Annotated[
        bool, typer.Option("--anew", help="Write URLs and configurations again, with the passwords that are there.")
    ] = False,
) -> None:
    """Make what is missing; print names, never values."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o711)
    for secret in wanted(folder, database=database, livekit_url=livekit_url, redis=redis):
        typer.echo(f"{'made' if write(folder, secret, anew=anew) else 'kept'}  {secret.name}")
    for name, source in GIVEN.items():
        if not (folder / name).exists():
            typer.echo(f"to do {name}: {source}")
        else:
            write(folder, Secret(name, ""), anew=False)
    if os.geteuid() != 0:
        typer.echo(f"Not root: let user {OURS} own them (postgres/: user {POSTGRES}), as they are read by these.")


if __name__ == "__main__":
    typer.run(main)
