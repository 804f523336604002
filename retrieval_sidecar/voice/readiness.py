"""Whether this sidecar can answer calls."""

import asyncio
from typing import Literal

from contracts import pins
from contracts import voice as wire
from retrieval_sidecar import migrations
from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.sql import load as load_sql

_PATIENCE_S = 1.0
State = Literal["ok", "failing"]
_SQL = load_sql("retrieval_sidecar.voice")


class Readiness:
    """The checks of `/readyz`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._head = migrations.head()
        self.embedder_loaded = False

    async def check(self) -> wire.Readiness:
        revision = await self._revision()
        checks = wire.Checks(
            database=_state(ok=revision is not None),
            migrations=_state(ok=revision == self._head),
            embedder=_state(ok=self.embedder_loaded),
        )
        ready = all(state == "ok" for state in (checks.database, checks.migrations, checks.embedder))
        pin = pins.voice()
        return wire.Readiness(
            status="ready" if ready else "not_ready",
            contract_version=pin.version,
            contract_sha256=pin.sha256,
            checks=checks,
        )

    async def _revision(self) -> str | None:
        """The schema's revision; "" in a database without one, None where the database cannot be reached."""
        try:
            async with (
                asyncio.timeout(_PATIENCE_S),
                translated_errors(),
                self._pool.connection() as connection,
            ):
                cursor = await connection.execute(_SQL["revision_exists"])
                found = await cursor.fetchone()
                if found is None or not found[0]:
                    return ""
                cursor = await connection.execute(_SQL["revision"])
                row = await cursor.fetchone()
        except (SidecarError, TimeoutError):
            return None
        return str(row[0]) if row else ""


def _state(*, ok: bool) -> State:
    return "ok" if ok else "failing"
