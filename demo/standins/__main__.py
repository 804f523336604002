"""`python -m demo.standins`: serves the stand-ins until it is stopped."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from demo.standins.server import StandIns

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    sentences: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="What callers may say, one a line.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8095,
    log: Annotated[Path | None, typer.Option(help="JSONL record of what was heard and said.")] = None,
    api_key: Annotated[str | None, typer.Option(envvar="STANDINS_API_KEY", help="Bearer key to ask for.")] = None,
) -> None:
    """Stand-ins for model providers, on OpenAI's wire format; prints the base URL."""
    lines = sentences.read_text(encoding="utf-8").splitlines()
    asyncio.run(_serve([line for line in lines if line.strip()], host, port, log, api_key))


async def _serve(sentences: list[str], host: str, port: int, log: Path | None, api_key: str | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stand_ins = StandIns(sentences, journal=log, api_key=api_key)
    async with stand_ins.serve(host, port) as url:
        print(url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    app()
