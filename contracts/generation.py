"""The models, generated from a document."""

import subprocess
import sys

from contracts.documents import Document
from contracts.errors import ContractError

_HEADER = "# Generated from {} by `python -m contracts generate`; never edited."
_GENERATE = (
    *("--input-file-type", "openapi"),
    *("--output-model-type", "pydantic_v2.BaseModel"),
    *("--base-class", "contracts.model.ContractModel"),
    *("--target-python-version", "3.11"),
    *("--enum-field-as-literal", "all"),
    "--snake-case-field",
    "--use-annotated",
    "--use-standard-collections",
    "--use-union-operator",
    "--use-schema-description",
    "--collapse-root-models",
    "--use-one-literal-as-default",
    "--skip-root-model",
    "--disable-timestamp",
    "--no-formatters",  # they would read the settings of whatever folder they run in
)
_FORMAT = ("format", "--isolated", "--line-length", "100", "--target-version", "py311", "-")


def generate(document: Document) -> str:
    """The source of the models of a document.

    Raises:
        ContractError: when the generator is not installed, or refuses the document.
    """
    header = _HEADER.format(document.path.name)
    asked = ("--input", str(document.path), "--custom-file-header", header)
    return _run("ruff", _FORMAT, _run("datamodel_code_generator", (*asked, *_GENERATE), ""))


def _run(module: str, arguments: tuple[str, ...], text: str) -> str:
    run = subprocess.run(  # noqa: S603 - this Python, our own arguments
        [sys.executable, "-m", module, *arguments],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode != 0:
        reason = run.stderr.strip().rpartition("\n")[2]
        raise ContractError(f"{module} failed ({reason}); is the `dev` extra installed?")
    return run.stdout
