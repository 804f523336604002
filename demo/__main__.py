"""`python -m demo`: a spoken call, answered from knowledge. `python -m demo run`: keep it up."""

from pathlib import Path

import typer
from rich.console import Console

ROOT = Path(__file__).parents[1]
DATA = ROOT / ".cache" / "demo" / "postgres"
BUILD = ROOT / "build" / "demo"

app = typer.Typer(help=__doc__, pretty_exceptions_enable=False, add_completion=False)
console = Console()
