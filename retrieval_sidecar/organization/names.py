"""What people write about people, agents and groups: names and texts of some length."""

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.text.normalize import for_embedding

LONGEST_NAME = 200


def name_of(text: str, field: str = "name") -> str:
    """A name on one line, without the space around it. Raises InvalidRequest where it is none."""
    name = " ".join(storable(text, field).split())
    if not for_embedding(name):
        raise InvalidRequest.of(field, "must hold something visible")
    if len(name) > LONGEST_NAME:
        raise InvalidRequest.of(field, f"must have at most {LONGEST_NAME} characters")
    return name


def storable(text: str, field: str) -> str:
    """A text as it is. Raises InvalidRequest where it cannot be stored."""
    if found := fault(text):
        raise InvalidRequest.of(field, found)
    return text
