"""The contract's tools: `python -m contracts --help`."""

from pathlib import Path
from typing import Annotated

import typer

from contracts import generation, pinning, pins, running
from contracts.changes import NoOasdiffError, changes, find_oasdiff
from contracts.documents import DOCUMENTS, Document
from contracts.errors import ContractError

app = typer.Typer(
    help="Keep the OpenAPI documents, their pins and their generated models in step.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Oasdiff = Annotated[
    Path | None,
    typer.Option(
        "--oasdiff",
        envvar="OASDIFF_BIN",
        help="The oasdiff program; without it, that on the PATH or in .cache/bin (`make oasdiff`).",
    ),
]


@app.command()
def generate(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when something would change.")] = False,
) -> None:
    """Write the models that the documents give."""
    for document in DOCUMENTS:
        if not check:
            document.models.write_text(generation.generate(document), encoding="utf-8")
            typer.echo(f"{document.models.name} is written.")
        elif drift := pinning.model_drift(document):
            raise ContractError(drift)
        else:
            typer.echo(f"{document.models.name} is current.")


@app.command()
def pin(
    *,
    amend: Annotated[
        bool,
        typer.Option("--amend", help="Replace the pin of a version that no release (git tag) holds yet."),
    ] = False,
    oasdiff: Oasdiff = None,
) -> None:
    """Agree on the documents as they stand: write their versions and digests to pins.toml.

    The version must say what changed: a breaking change needs a new major, any other change of
    what is spoken a new minor, prose and examples a new patch.
    """
    for document in DOCUMENTS:
        typer.echo(pinning.pin(document, oasdiff, amend=amend))


@app.command()
def check(
    *,
    url: Annotated[
        str | None,
        typer.Option(help="A running sidecar to check instead, such as http://127.0.0.1:8090."),
    ] = None,
    speaks: Annotated[
        pins.Name, typer.Option("--document", help="With --url: which contract is to be spoken there.")
    ] = "voice",
    ci: Annotated[bool, typer.Option("--ci", envvar="CI", help="Fail where a part has to be skipped.")] = False,
    oasdiff: Oasdiff = None,
) -> None:
    """Fail unless documents, pins, pinned copies and models agree and no promise is broken."""
    if url is not None:
        _check_running(url, speaks)
        return
    found: list[str] = []
    for document in DOCUMENTS:
        found += pinning.faults(document)
        try:
            found += filter(None, [pinning.step_fault(document, oasdiff)])
        except NoOasdiffError as missing:
            typer.echo(f"SKIPPED: breaking changes of {document.path.name}. {missing}", err=True)
            found += ["CI skips nothing: breaking changes must be looked for"] if ci else []
    _report(found)
    for document in DOCUMENTS:
        typer.echo(f"{document.path.name} {document.version()}: in order.")


@app.command()
def diff(
    *,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="The pinned version to compare with; without it, the last that differs.",
        ),
    ] = None,
    oasdiff: Oasdiff = None,
) -> None:
    """Tell what changed in the documents since a pinned version."""
    compared = [each for each in DOCUMENTS if against is None or against in each.history().sha256]
    if not compared:
        pinned = ", ".join(dict.fromkeys(version for each in DOCUMENTS for version in each.history().sha256))
        raise ContractError(f"{against} is not pinned; there are: {pinned}")
    for document in compared:
        base = against or _last_that_differs(document)
        if base is None:
            typer.echo(f"{document.path.name}: nothing before it is pinned.")
            continue
        found = changes(find_oasdiff(oasdiff), document.pinned(base), document.path)
        head = f"{document.path.name} since {base}:"
        typer.echo(f"{head}\n{pinning.describe(found)}" if found else f"{head} no change.")


def _last_that_differs(document: Document) -> str | None:
    content, history = document.path.read_bytes(), document.history()
    if history.version and document.pinned(history.version).read_bytes() != content:
        return history.version
    return history.newest_before(history.version) if history.version else None


def _check_running(url: str, name: pins.Name) -> None:
    readiness, served = running.ask(url, name)
    _report(list(running.faults(readiness, served, name)))
    typer.echo(
        f"The sidecar speaks the contract, {readiness.contract_version} "
        f"({readiness.contract_sha256}), and is {readiness.status.replace('_', ' ')}."
    )


def _report(faults: list[str]) -> None:
    if faults:
        raise ContractError("\n".join(faults))


def main() -> None:
    """Run a command; an error of the contract ends it with its text and status 1."""
    try:
        app()
    except ContractError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
