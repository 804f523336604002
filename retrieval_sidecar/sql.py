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
    """
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    entries = {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    return {
        # The text is the package's own, never built from a request.
        name: _INCLUDE.sub(lambda found: entries[found[1]], body)
        for name, body in entries.items()
    }
