"""Names that people give to bases and sources."""

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.text.normalize import for_embedding

_LONGEST = 200


def name_of(text: str) -> str:
    """A name without the space around it. Raises InvalidRequest where it is none."""
    name = " ".join(text.split())
    if found := fault(name):
        raise InvalidRequest.of("name", found)
    if not for_embedding(name):
        raise InvalidRequest.of("name", "must hold something visible")
    # A source's name becomes a folder's key, where an emoji takes twelve characters.
    if len(name) > _LONGEST or FolderKey.parse(str(FolderKey("upload", (name,)))) is None:
        raise InvalidRequest.of("name", f"must have at most {_LONGEST} characters, or 160 where they are emoji")
    return name
