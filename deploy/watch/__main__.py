"""Write the dashboards: `python -m deploy.watch`, or `--check`."""

import json
from typing import Annotated

import typer

from deploy.watch.dashboards import DASHBOARDS, FOLDER, dashboard


def main(
    *, check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when something would change.")] = False
) -> None:
    """Write the dashboards for Grafana into deploy/watch/dashboards."""
    FOLDER.mkdir(exist_ok=True)
    for name in DASHBOARDS:
        path, text = FOLDER / f"{name}.json", json.dumps(dashboard(name), indent=2, ensure_ascii=False) + "\n"
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            typer.echo(f"{path.name} is not what deploy/watch/dashboards.py says: python -m deploy.watch", err=True)
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
