"""`python -m deploy.sip apply|check|show`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TypeVar

import aiohttp
import typer
import yaml
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from livekit.api import LiveKitAPI, TwirpError
from livekit.api.sip_service import SipService
from livekit.protocol.sip import ListSIPDispatchRuleRequest, ListSIPInboundTrunkRequest, ListSIPOutboundTrunkRequest

from deploy.sip.plan import PlanError, read
from deploy.sip.reconcile import Change, reconcile

_KEYS: Final = Path("deploy/secrets/worker")
_T = TypeVar("_T")

app = typer.Typer(
    help="Trunks and dispatch rules of LiveKit SIP, from one file (deploy/sip.example.yaml).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # which would print locals, passwords among them
)
File = Annotated[Path, typer.Argument(dir_okay=False, exists=True, help="The plan.")]
Url = Annotated[str, typer.Option(envvar="LIVEKIT_URL", help="The LiveKit server.")]
Keys = Annotated[Path, typer.Option(help="A folder with the files LIVEKIT_API_KEY and LIVEKIT_API_SECRET.")]
_URL: Final = "ws://127.0.0.1:7880"


@app.command()
def apply(
    file: File,
    url: Url = _URL,
    keys: Keys = _KEYS,
    *,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also remove trunks and rules that the plan does not name.")
    ] = False,
) -> None:
    """Make LiveKit have what the plan says; again changes nothing."""
    changes = _run(url, keys, lambda sip: _differences(sip, file, dry=False, prune=prune))
    typer.echo("\n".join(f"done: {change}" for change in changes) or "Nothing to change.")


@app.command()
def check(
    file: File,
    url: Url = _URL,
    keys: Keys = _KEYS,
    *,
    prune: Annotated[bool, typer.Option("--prune", help="Also tell what the plan does not name.")] = False,
) -> None:
    """Tell what differs, and change nothing; exit status 1 when something does."""
    changes = _run(url, keys, lambda sip: _differences(sip, file, dry=True, prune=prune))
    typer.echo("\n".join(f"would {change}" for change in changes) or "LiveKit has what the plan says.")
    if changes:
        raise typer.Exit(1)


@app.command()
def show(url: Url = _URL, keys: Keys = _KEYS) -> None:
    """Print the trunks and rules that LiveKit has, as YAML, without passwords."""
    typer.echo(_run(url, keys, _described).rstrip())


async def _differences(sip: SipService, file: Path, *, dry: bool, prune: bool) -> list[Change]:
    return [change async for change in reconcile(sip, read(file), dry=dry, prune=prune)]


async def _described(sip: SipService) -> str:
    shown = {
        "inbound": _readable((await sip.list_inbound_trunk(ListSIPInboundTrunkRequest())).items),
        "dispatch": _readable((await sip.list_dispatch_rule(ListSIPDispatchRuleRequest())).items),
        "outbound": _readable((await sip.list_outbound_trunk(ListSIPOutboundTrunkRequest())).items),
    }
    return yaml.safe_dump(shown, sort_keys=False)


def _readable(items: Iterable[Message]) -> list[dict[str, Any]]:
    readable = [MessageToDict(each, preserving_proto_field_name=True) for each in items]
    for each in readable:
        each.pop("auth_password", None)
    return readable


def _run(url: str, keys: Path, work: Callable[[SipService], Awaitable[_T]]) -> _T:
    async def connected() -> _T:
        key, secret = ((keys / name).read_text("utf-8").strip() for name in ("LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"))
        async with LiveKitAPI(url, key, secret, timeout=aiohttp.ClientTimeout(total=20)) as livekit:
            return await work(livekit.sip)

    try:
        return asyncio.run(connected())
    except PlanError as error:
        _fail(str(error))
    except OSError as error:
        if isinstance(error, aiohttp.ClientError):
            _fail(f"No LiveKit server answers at {url}.")
        _fail(f"{error.filename}: {error.strerror}. Name the folder of the keys: --keys")
    except (aiohttp.ClientError, TimeoutError):
        _fail(f"No LiveKit server answers at {url}.")
    except TwirpError as error:
        _fail(f"LiveKit refused ({error.code}): {error.message}")


def _fail(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
