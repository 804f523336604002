"""Changes of what was read before, so that of two editors neither undoes what the other did."""

import re

from aiohttp import web

from retrieval_sidecar.errors import InvalidRequest, PreconditionRequired


def read_etag(request: web.Request) -> str:
    """The state that is to be changed. Raises PreconditionRequired, and InvalidRequest for what is none of ours."""
    values = request.headers.getall("If-Match", [])
    if not values:
        raise PreconditionRequired
    found = re.fullmatch('"([0-9a-f]{64})"', values[0])
    if len(values) > 1 or found is None:
        raise InvalidRequest.of("If-Match", "must be the ETag of what is changed as it was read, in its quotes")
    return found[1]


def etag_header(etag: str) -> dict[str, str]:
    """What an answer says of the state that it shows."""
    return {"ETag": f'"{etag}"'}
