"""The check before the first call: does the sidecar speak our contract, and know our token?"""

import contextlib
from uuid import UUID

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential

from contracts import pins
from contracts.voice import Readiness
from worker.deadline import Deadline
from worker.errors import ContractMismatchError, NotFoundError, SidecarUnavailableError
from worker.sidecar_client import SessionIds, SidecarClient

_REQUEST_S = 3.0
_NOBODY = UUID(int=0)

log = structlog.get_logger(__name__)


async def check_sidecar(client: SidecarClient, wait_s: float) -> Readiness:
    """Wait for a sidecar that is ready, speaks our contract and knows our token.

    Args:
        client: the sidecar's.
        wait_s: seconds to wait for a sidecar that is not up or not ready yet.

    Raises:
        ContractMismatchError: at once, for a contract that we cannot speak.
        UnauthorizedError: at once, for a token that it does not know.
        SidecarUnavailableError: when it was not ready in time.
    """
    deadline = Deadline.after(wait_s)

    def say_so(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        code = error.code if isinstance(error, SidecarUnavailableError) else "unknown"
        log.warning("waiting_for_sidecar", code=code, seconds_left=round(deadline.remaining()))

    return await AsyncRetrying(
        retry=retry_if_exception_type(SidecarUnavailableError),
        stop=lambda _state: deadline.passed,
        wait=wait_exponential(multiplier=0.25, max=2),
        before_sleep=say_so,
        reraise=True,
    )(_check_once, client)


async def _check_once(client: SidecarClient) -> Readiness:
    readiness = await client.readiness(Deadline.after(_REQUEST_S))
    _compare(pins.voice(), readiness)
    if readiness.status != "ready":
        raise SidecarUnavailableError("not_ready")
    # The one harmless request that needs a token: nobody's session cannot be found, nor ended.
    ids = SessionIds(_NOBODY, _NOBODY, _NOBODY)
    with contextlib.suppress(NotFoundError):
        await client.end(ids, "failed", "token_check", Deadline.after(_REQUEST_S))
    return readiness


def _compare(ours: pins.Pin, theirs: Readiness) -> None:
    if not pins.compatible(ours.version, theirs.contract_version):
        raise ContractMismatchError(
            f"The sidecar speaks version {theirs.contract_version} of the voice contract and this"
            f" worker needs {ours.version}: the same major version and at least that minor one."
            " Deploy a sidecar of this release before this worker."
        )
    if ours.version == theirs.contract_version and ours.sha256 != theirs.contract_sha256:
        raise ContractMismatchError(
            f"Worker and sidecar both say version {ours.version} of the voice contract, but hold"
            " different documents: one of the two was built from an edit that was never pinned."
            " Run `python -m contracts check` in both, and deploy both from one release."
        )
