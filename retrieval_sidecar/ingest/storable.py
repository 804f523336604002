"""What PostgreSQL can keep of a JSON or YAML document."""

import math
import re
from typing import Any

_MAX_DEPTH = 50
# NUL stands in no PostgreSQL text, half of a surrogate pair in no UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def fault(document: Any) -> str | None:
    """What must not be there, keys included; None where all of it can be stored."""
    waiting = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            return f"must not be nested more than {_MAX_DEPTH} deep"
        if isinstance(value, str) and _UNSTORABLE.search(value):
            return "must not hold the character NUL or half of a surrogate pair"
        if isinstance(value, float) and not math.isfinite(value):
            return "must not hold NaN or an infinite number"
        if isinstance(value, dict):
            waiting += [(part, depth + 1) for entry in value.items() for part in entry]
        elif isinstance(value, list):
            waiting += [(part, depth + 1) for part in value]
    return None
