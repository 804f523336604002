"""Named SQL: each package keeps its statements in a `.sql` file, read once."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_INCLUDE = re.compile(r"/\*include (\w+)\*/")


def load(package: str, file: str = "queries.sql") -> Mapping[str, LiteralString]:
    """Read the statements of a file by name.

    A statement follows a line `-- name: its_name`. `/*include other*/` stands for the text of another entry of the
    same file, so that a condition is written once.

    Raises:
        ValueError: two statements of one name.
        KeyError: an include of a name that the file does not have.
    """
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    names, bodies = _NAME.split(text)[1::2], _NAME.split(text)[2::2]
    if len(set(names)) < len(names):
        raise ValueError(f"{package}/{file} has two statements of one name")
    entries = {name: body.strip().rstrip(";") for name, body in zip(names, bodies, strict=True)}

    def expanded(body: str) -> str:
        # An include within an include too: a condition that stayed a comment would be one that is not applied.
        return _INCLUDE.sub(lambda found: expanded(entries[found[1]]), body)

    # The text is the package's own, never built from a request.
    return {name: expanded(body) for name, body in entries.items()}
