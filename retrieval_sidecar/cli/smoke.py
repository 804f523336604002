"""What `python -m deploy.smoke` asks for: smoke set-up, smoke remove."""

import os
from pathlib import Path
from typing import Annotated

import typer

from retrieval_sidecar import smoke
from retrieval_sidecar.cli.shared import app, connected, fail, out, read_settings, run, started

smoke_app = typer.Typer(
    help="The organization that a running sidecar is tried out on; safe beside those of production.",
    no_args_is_help=True,
)
app.add_typer(smoke_app, name="smoke")


@smoke_app.command("set-up")
def set_up(
    token_file: Annotated[Path, typer.Option(help="A new file for the voice token, mode 600; - prints it.")],
) -> None:
    """Load it, and write a voice token for its calls; what an earlier try left is replaced. As the database's owner."""

    async def load() -> tuple[int, str]:
        settings = read_settings()
        async with (
            started(settings) as embedders,
            connected(settings, "manage") as manage,
            connected(settings, "owner") as owner,
        ):
            return await smoke.set_up(manage, owner, embedders)

    if str(token_file) == "-":
        typer.echo(run(load())[1])
        return
    try:
        # Before anything is loaded, so that no token is made that could not be kept.
        descriptor = os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        fail(f"{token_file} cannot be made: {error.strerror}")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        try:
            passages, token = run(load())
        except BaseException:
            token_file.unlink()
            raise
        file.write(token)
    out.print(f"{passages} passages searchable; then: python -m deploy.smoke URL --token-file {token_file}")


@smoke_app.command("remove")
def remove() -> None:
    """Remove it with all that came of it: calls, logs, tokens. As the database's owner."""

    async def end() -> bool:
        async with connected(read_settings(), "owner") as owner:
            return await smoke.remove(owner)

    out.print("removed" if run(end()) else "There was none.")
