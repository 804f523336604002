"""`python -m worker`: the command line of the voice worker."""

import asyncio
from typing import Annotated, NoReturn

import structlog
import typer

from worker import logs, settings
from worker.contract_check import check_sidecar
from worker.errors import (
    ContractMismatchError,
    SidecarError,
    SidecarUnavailableError,
    UnauthorizedError,
)
from worker.prices import Prices, PricesError
from worker.settings import Settings, SettingsError
from worker.sidecar_client import SidecarClient

app = typer.Typer(
    help="The voice worker: answers phone calls from the organisation's knowledge.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # which would print locals, secrets among them
)
log = structlog.get_logger("worker")


@app.command()
def start() -> None:
    """Check the sidecar, then take calls until SIGTERM; running calls may end first."""
    chosen = _settings()
    _check_prices(chosen)
    _check(chosen, chosen.sidecar_wait_s)
    # not before it is needed: the models' libraries take seconds to import
    from worker.server import serve  # noqa: PLC0415 - the line above

    try:
        asyncio.run(serve(chosen))
    except OSError as error:
        _fail(f"Metrics cannot be served at {chosen.metrics_host}:{chosen.metrics_port} ({error.strerror}).")
    except RuntimeError:
        log.exception("stopped")
        _fail("LiveKit could not be reached at LIVEKIT_URL, or refused LIVEKIT_API_KEY.")


@app.command()
def check(
    wait: Annotated[float, typer.Option(help="Seconds to wait for a sidecar not up yet.")] = 0,
) -> None:
    """Check settings, contract and token, and take no calls. Exit status 0, 1 or 2 (settings)."""
    chosen = _settings()
    _check_prices(chosen)
    _check(chosen, wait)


@app.command("settings")
def print_settings() -> None:
    """Print every variable with its default and meaning, as a Markdown table."""
    typer.echo(settings.table())


def _settings() -> Settings:
    try:
        chosen = settings.from_env()
    except SettingsError as error:
        _fail(str(error), status=2)
    logs.configure(chosen.log_level)
    return chosen


def _check_prices(chosen: Settings) -> None:
    try:
        Prices.read(chosen.prices_file)
    except PricesError as error:
        _fail(str(error), status=2)


def _check(chosen: Settings, wait_s: float) -> None:
    async def run() -> str:
        token = chosen.sidecar_token.get_secret_value()
        async with SidecarClient.connect(str(chosen.sidecar_url), token) as client:
            return (await check_sidecar(client, wait_s)).contract_version

    try:
        version = asyncio.run(run())
    except ContractMismatchError as error:
        _fail(str(error))
    except UnauthorizedError:
        _fail("The sidecar does not know ANSWERLINE_SIDECAR_TOKEN: make a voice token there.")
    except SidecarUnavailableError as error:
        _fail(
            f"The sidecar at {chosen.sidecar_url} is not ready ({error.code}): start it, or set ANSWERLINE_SIDECAR_URL."
        )
    except SidecarError as error:
        _fail(f"{chosen.sidecar_url} does not answer as a sidecar does ({error.code}).")
    typer.echo(f"The sidecar is ready and speaks version {version} of the voice contract.")


def _fail(message: str, *, status: int = 1) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(status)


if __name__ == "__main__":
    app()
