"""Whether a running sidecar speaks a contract that is pinned here."""

from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pydantic import ValidationError

from contracts import management, pins, voice
from contracts.documents import digest, version_of
from contracts.errors import ContractError

_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class _Api:
    """Where a sidecar serves a contract, and how its `/readyz` speaks of it."""

    document: str
    readiness: type[voice.Readiness | management.Readiness]
    server: str


_APIS: dict[pins.Name, _Api] = {
    "voice": _Api("/internal/voice/v1/openapi.yaml", voice.Readiness, "a retrieval sidecar"),
    "management": _Api("/api/v1/openapi.yaml", management.Readiness, "the management API of a retrieval sidecar"),
}


def ask(url: str, name: pins.Name = "voice") -> tuple[voice.Readiness | management.Readiness, bytes]:
    """What a sidecar's `/readyz` says, and the document that it serves.

    Args:
        url: of the listener, without a path.
        name: which of the contracts it is to speak.

    Raises:
        ContractError: when it does not answer, or answers something else.
    """
    base, api = url.rstrip("/"), _APIS[name]
    if not base.startswith(("http://", "https://")):
        raise ContractError("--url must begin with http:// or https://")
    try:
        # Fields that only a newer sidecar knows are no matter here; its version is.
        readiness = api.readiness.model_validate_json(
            _get(f"{base}/readyz", 503), extra="ignore", by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise ContractError(f"/readyz did not answer as {api.server} does") from error
    return readiness, _get(base + api.document)


def faults(
    readiness: voice.Readiness | management.Readiness, served: bytes, name: pins.Name = "voice"
) -> Iterator[str]:
    """What does not fit between the sidecar and this installation."""
    ours, theirs = pins.pinned(name), readiness.contract_version
    if not pins.compatible(ours.version, theirs):
        yield (
            f"the sidecar speaks {theirs}, and this installation {ours.version}: it needs the same "
            "major version and a minor at least as high; deploy the sidecar first"
        )
    if version_of(served, "the served document") != theirs:
        yield "the served document has another version than /readyz reports"
    if digest(served) != readiness.contract_sha256:
        yield "the served document has another digest than /readyz reports"
    if theirs == ours.version:
        if readiness.contract_sha256 != ours.sha256:
            yield f"the sidecar reports another digest for {theirs} than is pinned here"
        if served != pins.document(name):
            yield f"the served document is not the {theirs} of this installation, byte for byte"


def _get(address: str, *also_answers: int) -> bytes:
    request = Request(address)  # noqa: S310 - `ask` lets only http and https through
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310 - as above
            return bytes(response.read())
    except HTTPError as error:
        with error:
            if error.code in also_answers:
                return error.read()
        raise ContractError(f"{address} answered {error.code}") from error
    except (URLError, OSError, HTTPException, ValueError) as error:
        raise ContractError(f"{address} does not answer: is the sidecar up?") from error
