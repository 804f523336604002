"""What a failure of a job comes to: a code, a sentence for its owner, and how often it is tried again."""

from dataclasses import dataclass

from retrieval_sidecar import errors
from retrieval_sidecar.extraction.outcome import ExtractionFailed
from retrieval_sidecar.fetching.failures import PageFailure

# Seconds until the next attempt; the last one goes on.
_PAUSES_S = (5, 30, 120, 600, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a source could not be processed.

    Attributes:
        code: stable; consoles and scripts go by it.
        sentence: why, and what to do; no content, no part of an address but its host.
        attempts: how often it is tried in all.
        is_ours: nobody but those who run this can do anything about it; it belongs into the log.
    """

    code: str
    sentence: str
    attempts: int = 1
    is_ours: bool = False


class TooMuch(errors.SidecarError):
    """The source yields more than is allowed; `setting` says how much that is."""

    def __init__(self, code: str, message: str, setting: str) -> None:
        super().__init__(f"{message} Split it, or raise the limit: the setting {setting}.")
        self.code = code


WORKER_DIED = Failure(
    "worker_died",
    "Whoever read this ended while reading it, again and again. Split it or save it in a simpler format; "
    "the log of the workers says how they ended.",
    is_ours=True,
)


_KNOWN: tuple[tuple[type[Exception], Failure], ...] = (
    (
        errors.EmbedderUnavailable,
        Failure(
            "embedder_unavailable",
            "The embedding model does not answer. It is tried again for some hours; after that, check it with "
            "`retrieval-sidecar self-test`, then process the source again.",
            attempts=12,
            is_ours=True,
        ),
    ),
    (
        errors.Unavailable,
        Failure(
            "unavailable",
            "The database was busy or away. It is tried again for some hours; after that, process the source again.",
            attempts=12,
            is_ours=True,
        ),
    ),
)
_UNKNOWN = Failure(
    "internal_error",
    "Something went wrong here, not in the source. Process it again; if that does not help, the log of the workers has "
    "the source's id and the kind of the error.",
    attempts=3,
    is_ours=True,
)


def failure_of(error: Exception) -> Failure:
    """What an error means to the source's owner."""
    match error:
        case ExtractionFailed():
            return Failure(error.reason.value, str(error))
        case PageFailure():
            return Failure(error.reason.value, str(error), attempts=5 if error.retryable else 1)
        case TooMuch():
            return Failure(error.code, str(error))
        case ImportError():
            return Failure(
                "configuration", f"{error.name} is not installed: pip install 'answerline[ingest]'.", is_ours=True
            )
        case errors.ConfigurationError():
            return Failure("configuration", str(error), is_ours=True)
    return next((failure for kind, failure in _KNOWN if isinstance(error, kind)), _UNKNOWN)


def pause_s(failures: int) -> float:
    """How long to wait after so many failures in a row."""
    return _PAUSES_S[min(failures, len(_PAUSES_S)) - 1]
