"""What can go wrong in the worker, as far as somebody acts on it.

    WorkerError
    ├── ContractMismatchError    the sidecar speaks another contract: the worker does not start
    ├── DispatchError            nothing says which agent answers: apology, hang-up
    ├── HandoffRefusedError      nobody took the caller over: the caller is told, and stays
    └── SidecarError
        ├── SidecarUnavailableError   no usable answer in time: "it can't be looked up just now"
        ├── SidecarRefusedError       it answered, and will not answer otherwise next time
        │   └── UnauthorizedError         the token is not known: the worker does not start
        └── NotFoundError             no agent answers this number; or no such session

Messages hold codes and ids, never what was said, found or dialled.
"""


class WorkerError(Exception):
    """The root: a fault that the worker itself names."""


class ContractMismatchError(WorkerError):
    """The sidecar's contract is not one that this worker can speak; the message says what to do."""


class DispatchError(WorkerError):
    """The dispatch does not say which agent answers, or says it in a way that cannot be read."""


class HandoffRefusedError(WorkerError):
    """The telephone side did not put the caller through.

    Attributes:
        code: why, short and content-free: `sip_603`, `timeout`, `not_a_phone`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"The call was not put through: {code}.")
        self.code = code


class SidecarError(WorkerError):
    """A request to the sidecar brought no result.

    Attributes:
        code: what went wrong, short and content-free: `http_503`, `timeout`, `connection`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"The sidecar gave no result: {code}.")
        self.code = code


class SidecarUnavailableError(SidecarError):
    """Down, shedding load, too slow, or answering something that is no answer."""


class SidecarRefusedError(SidecarError):
    """The sidecar understood, and said no: the request or the set-up is wrong."""


class UnauthorizedError(SidecarRefusedError):
    """The token is unknown, expired or revoked."""


class NotFoundError(SidecarError):
    """Nothing of that identity that this token may reach."""
