"""What the voice API alone reads from a request: how long its client will wait."""

import re

from aiohttp import web

from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.errors import InvalidRequest

MAX_BODY_BYTES = 4 * 1024 * 1024  # a full batch of events, each of the longest text
_MAX_DEADLINE_MS = 60_000


def read_deadline(request: web.Request) -> Deadline:
    """From X-Deadline-Ms, or the longest there is."""
    values = request.headers.getall("X-Deadline-Ms", [])
    if not values:
        return Deadline.after(LONGEST_S)
    text = values[0]
    # int() also reads other scripts' digits, signs and underscores, which the contract does not allow.
    milliseconds = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if len(values) > 1 or not 1 <= milliseconds <= _MAX_DEADLINE_MS:
        raise InvalidRequest.of("X-Deadline-Ms", f"must be a whole number from 1 to {_MAX_DEADLINE_MS}")
    return Deadline.after(milliseconds / 1000)
