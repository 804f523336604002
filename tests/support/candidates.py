"""Candidates of a search, as unit tests want them."""

from typing import Any
from uuid import UUID

from retrieval_sidecar.search.ranking import Candidate


def candidate(number: int, **changes: Any) -> Candidate:
    """A candidate like no other; `words` is the share of the question's words that it holds."""
    values: dict[str, Any] = {
        "passage_id": number,
        "is_instruction": False,
        "id": UUID(int=number),
        "chunk_index": 0,
        "title": "t",
        "content": f"content {number}",
        "source_url": None,
        "language": "en",
        "region_code": "DE",
        "meaning": 0.5,
        "words": 0.0,
        "code": False,
    }
    values |= changes
    words = values.pop("words")
    return Candidate(**values, matched={"word": words} if words else {})
