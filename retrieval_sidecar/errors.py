"""What can go wrong in the sidecar.

    SidecarError
    ├── InvalidRequest        the request does not fit the contract; names each field        400
    ├── Unauthorized          no token or key, or one that no longer holds                   401
    ├── Forbidden             the key has not the permission that this needs                 403
    ├── OwnersOnly            it may be seen, and changed by whom it belongs to alone        403
    ├── CrossSite             a browser's session, but not from the console's own page       403
    ├── NotFound              nothing of that identity within reach; never says more         404
    ├── Conflict              what is there does not allow it; names the field               409
    │   └── LimitReached      there are as many already as are allowed; names the setting    409
    ├── PreconditionFailed    it has changed since it was read                               412
    ├── PreconditionRequired  it does not say which state it changes                         428
    ├── PayloadTooLarge       the body is over the limit                                     413
    ├── UnsupportedMedia      the body is not of the type that is taken                      415
    ├── TooManyRequests       too many, as with keys that do not hold; says how long to wait 429
    ├── DeadlineExceeded      the client's time, or the sidecar's own, has passed            504
    ├── Unavailable           shedding load, or the database or embedder is down             503
    │   └── EmbedderUnavailable   search goes on by keywords alone
    ├── PageFailure           a web page was not had; a job's outcome (`fetching/failures.py`)
    ├── ExtractionFailed      a file that cannot be used, with a code (`extraction.outcome`)
    └── ConfigurationError    the operator must change something; says what

Each carries text that may be shown to a client; causes go to the log (`raise ... from`). HTTP statuses are known in
`retrieval_sidecar.http.problems` alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class SidecarError(Exception):
    """The root; `str()` of it is fit for a client."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field of a request and what is allowed there."""

    field: str
    message: str


class InvalidRequest(SidecarError):
    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__("The request does not fit the contract.")
        self.problems = tuple(problems)

    @classmethod
    def of(cls, field: str, message: str) -> "InvalidRequest":
        return cls([FieldProblem(field, message)])


class Unauthorized(SidecarError):
    """Nothing that holds was shown; `challenge` is the scheme of what has to be."""

    def __init__(self, needed: str = "voice token", challenge: str = "Bearer") -> None:
        super().__init__(f"A valid {needed} is required.")
        self.challenge = challenge


class Forbidden(SidecarError):
    def __init__(self, permission: str) -> None:
        super().__init__(f"This needs the permission {permission}, which the API key has not.")


class OwnersOnly(SidecarError):
    def __init__(self) -> None:
        super().__init__("It belongs to a team or a person, who alone can change it.")


class CrossSite(SidecarError):
    """A change with a browser's session that does not show that the console's own page asks for it."""

    def __init__(self) -> None:
        super().__init__("This does not come from the console's own page. Load the console again, and do it there.")


class NotFound(SidecarError):
    def __init__(self) -> None:
        super().__init__("Not found.")


class Conflict(SidecarError):
    """What is there does not allow the change.

    Attributes:
        field: of the request, that another value of would do; None where none would.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class LimitReached(Conflict):
    """As many are there as are allowed; `setting` is the variable that says how many."""

    def __init__(self, message: str, setting: str) -> None:
        super().__init__(f"{message} The limit is the setting {setting}.")
        self.setting = setting


class PreconditionFailed(SidecarError):
    def __init__(self) -> None:
        super().__init__("Somebody has changed it since it was read. Nothing was changed: read it again.")


class PreconditionRequired(SidecarError):
    def __init__(self) -> None:
        super().__init__("The header If-Match is required. It holds the ETag that came when it was read.")


class PayloadTooLarge(SidecarError):
    """The body is over its limit; `setting` is the variable that says how long it may be, where there is one."""

    def __init__(self, limit: int, *, unit: str = "bytes", setting: str | None = None) -> None:
        super().__init__(
            f"The body may hold at most {limit:,} {unit}. The limit is the setting {setting}."
            if setting
            else f"The body may hold at most {limit} {unit}."
        )
        self.setting = setting


class UnsupportedMedia(SidecarError):
    def __init__(self, taken: str = "application/json in UTF-8") -> None:
        super().__init__(f"The body must be {taken}.")


class TooManyRequests(SidecarError):
    def __init__(self, retry_after_s: int, reason: str = "Too many requests with keys that do not hold.") -> None:
        super().__init__(f"{reason} Try again in {retry_after_s} seconds.")
        self.retry_after_s = retry_after_s


class DeadlineExceeded(SidecarError):
    def __init__(self) -> None:
        super().__init__("The deadline passed before there was an answer.")


class Unavailable(SidecarError):
    retry_after_s = 1


class EmbedderUnavailable(Unavailable):
    pass


class ConfigurationError(SidecarError):
    pass
