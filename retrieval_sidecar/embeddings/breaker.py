"""A circuit breaker: a service that fails again and again is left alone for a while, and nobody waits for it."""

import asyncio
import time
from collections.abc import Callable, Sequence

import structlog

from retrieval_sidecar.embeddings.base import Embedder, EmbedderWrapper, Vectors
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.metrics import CIRCUIT_OPEN

log = structlog.get_logger()

# A caller who leaves says nothing of the service, unless the service had kept him waiting: of questions whose deadlines
# are all shorter than the patience, none would ever count, and each would cost its whole deadline. A service that is
# well answers in less than this share of the patience.
_LATE_SHARE = 0.25


class CircuitBreaker(EmbedderWrapper):
    """Closed, it passes questions on. After failures in a row it opens and refuses them at once.

    When the pause is over, one question is tried (half-open) while others are still refused: its success closes the
    circuit, its failure begins another pause. Passages are for the caller to try again, and are not counted.
    """

    def __init__(
        self,
        inner: Embedder,
        *,
        failures: int,
        pause_s: float,
        patience_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap an embedder.

        Args:
            failures: so many in a row open the circuit.
            pause_s: seconds that it stays open.
            patience_s: seconds after which a request counts as failed, its retries included; a quarter of them where
                its caller has left by then.
        """
        super().__init__(inner)
        self._failures_to_open = failures
        self._pause_s = pause_s
        self._patience_s = patience_s
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._is_trying = False

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        is_trial = self._admit()
        asked = self._clock()
        try:
            async with asyncio.timeout(self._patience_s):
                rows = await self._inner.embed_queries(texts)
        except EmbedderUnavailable:
            self._failed(is_trial=is_trial)
            raise
        except TimeoutError as error:
            self._failed(is_trial=is_trial)
            raise EmbedderUnavailable("The embedding service does not answer in time.") from error
        except asyncio.CancelledError:
            if self._clock() - asked >= _LATE_SHARE * self._patience_s:
                self._failed(is_trial=is_trial)
            raise
        finally:
            # Also of one whose caller left at once: the next one is tried.
            if is_trial:
                self._is_trying = False
        self._succeeded()
        return rows

    def _admit(self) -> bool:
        """Whether this request is the one that is tried. Raises EmbedderUnavailable while the circuit is open."""
        if self._open_until is None:
            return False
        if self._is_trying or self._clock() < self._open_until:
            raise EmbedderUnavailable("The embedding service failed too often and is left alone for a while.")
        self._is_trying = True
        log.info("embedding circuit half-open")
        return True

    def _failed(self, *, is_trial: bool) -> None:
        self._failures += 1
        # What was under way when the circuit opened does not make the pause longer.
        if is_trial or (self._open_until is None and self._failures >= self._failures_to_open):
            self._open_until = self._clock() + self._pause_s
            CIRCUIT_OPEN.set(1)
            log.warning("embedding circuit open", failures=self._failures, pause_s=self._pause_s)

    def _succeeded(self) -> None:
        self._failures = 0
        if self._open_until is not None:
            self._open_until = None
            CIRCUIT_OPEN.set(0)
            log.info("embedding circuit closed")
