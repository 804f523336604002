"""Lists in pages: how many, and where the next one begins."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from aiohttp import web

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import refuse_parameters
from retrieval_sidecar.ingest.storable import fault

_MOST, _USUALLY = 100, 50
_LONGEST_CURSOR = 3000  # of a folder's key, the longest, which has at most 2,000 characters
_LARGEST_KEY = 2**31 - 1
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Page(Generic[_T]):
    """A page, and the cursor of the next one; None after the last."""

    rows: Sequence[_T]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page is asked for.

    Attributes:
        after: what the cursor says; None for the first page.
    """

    limit: int
    after: Any | None

    @property
    def wanted(self) -> int:
        """How many rows to ask for: one more, which tells whether there is a next page."""
        return self.limit + 1

    def of(self, rows: Sequence[_T], place: Callable[[_T], Any]) -> Page[_T]:
        """The page that so many rows make.

        Args:
            rows: as many as `wanted`, where there are so many.
            place: what of a row a list goes on after; as JSON can hold it.
        """
        page = rows[: self.limit]
        return Page(page, _cursor(place(page[-1])) if len(rows) > self.limit else None)


def read_page(request: web.Request, is_place: Callable[[Any], bool], *filters: str) -> PageRequest:
    """The page that a request's `limit` and `cursor` ask for.

    Args:
        filters: further parameters that the list takes.
        is_place: whether a cursor's content is one of this list.

    Raises:
        InvalidRequest: for another parameter or value.
    """
    refuse_parameters(request, "limit", "cursor", *filters)
    text = request.query.get("limit", str(_USUALLY))
    limit = int(text) if re.fullmatch("[0-9]{1,3}", text) else 0
    if not 1 <= limit <= _MOST:
        raise InvalidRequest.of("limit", f"must be a whole number from 1 to {_MOST}")
    cursor = request.query.get("cursor")
    if cursor is None:
        return PageRequest(limit, None)
    after = _place(cursor)
    if not is_place(after):
        raise InvalidRequest.of("cursor", "must be the next_cursor of the page before")
    return PageRequest(limit, after)


def is_name(place: Any) -> bool:
    """Whether a list goes on after a name."""
    return isinstance(place, str) and fault(place) is None


def is_named_place(place: Any) -> bool:
    """Whether a list goes on after the beginning of a name, and the id of what has it."""
    return isinstance(place, list) and len(place) == 2 and all(map(is_name, place)) and _is_id(place[1])


def is_moment(place: Any) -> bool:
    """Whether a list goes on after a time with an offset, and the id of what was then."""
    if not (isinstance(place, list) and len(place) == 2 and all(map(is_name, place)) and _is_id(place[1])):
        return False
    try:
        return datetime.fromisoformat(place[0]).tzinfo is not None
    except ValueError:
        return False


def is_key(place: Any) -> bool:
    """Whether a list goes on after a key that the database counts up."""
    return type(place) is int and 0 <= place <= _LARGEST_KEY


def is_position(place: Any) -> bool:
    """Whether a list goes on after a passage, which has two keys."""
    return isinstance(place, list) and len(place) == 2 and all(map(is_key, place))


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _cursor(place: Any) -> str:
    text = json.dumps(place, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _place(cursor: str) -> Any | None:
    if not re.fullmatch(f"[A-Za-z0-9_-]{{1,{_LONGEST_CURSOR}}}", cursor):
        return None
    try:
        return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
