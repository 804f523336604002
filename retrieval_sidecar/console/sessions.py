"""Sessions of browsers: opened with an API key, and never worth more than it.

A session's cookie reads `als_<organization>_<session>_<secret>`; stored of it is a digest. It ends when its browser
signs out, when nothing was asked with it for a while, after some hours whatever was asked, and with its key.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Unauthorized
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management.keys import Caller, authenticate_by_id
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.console")
KIND = "als"
_TOUCHED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Session:
    """A session that holds.

    Attributes:
        key_id: of the key that opened it.
        ends_at: whatever is asked with it.
    """

    session_id: UUID
    key_id: UUID
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Sessions:
    """How long sessions last.

    Attributes:
        idle: without a request.
        longest: with requests.
    """

    idle: timedelta
    longest: timedelta

    async def open(self, connection: Connection, key: Credential, now: datetime) -> tuple[Credential, Session]:
        """A new one of a key that was found to hold, and what its cookie says, which cannot be read back."""
        organization_id, key_id = key.ids
        session = Session(uuid4(), key_id, now + self.longest)
        shown = Credential.new(KIND, organization_id, session.session_id)
        parameters = {"organization_id": organization_id, "now": now, "idle_since": now - self.idle}
        await connection.execute(_SQL["sweep_sessions"], parameters)
        added = {
            "session_id": session.session_id,
            "key_id": key_id,
            "secret_sha256": shown.digest,
            "ends_at": session.ends_at,
        }
        await connection.execute(_SQL["add_session"], parameters | added)
        return shown, session

    async def find(self, connection: Connection, shown: Credential, now: datetime, *, is_asked: bool = True) -> Session:
        """The session that a cookie is of. Raises Unauthorized, without saying why.

        Args:
            is_asked: whether somebody asks something with it, which has been seen now.
        """
        organization_id, session_id = shown.ids
        parameters = {
            "organization_id": organization_id,
            "session_id": session_id,
            "now": now,
            "idle_since": now - self.idle,
        }
        row = await (await connection.execute(_SQL["find_session"], parameters)).fetchone()
        if not shown.matches(bytes(row[0]) if row else None) or row is None:
            raise no_session()
        _, key_id, last_seen_at, ends_at = row
        before = now - min(_TOUCHED_EVERY, self.idle / 2)
        if is_asked and last_seen_at < before:
            await connection.execute(_SQL["touch_session"], parameters | {"before": before})
        return Session(session_id, key_id, ends_at)

    async def authenticate(
        self, connection: Connection, shown: Credential, now: datetime, *, is_asked: bool = True
    ) -> Caller:
        """Whose session this is: its key, as long as that holds. Raises Unauthorized, without saying why."""
        session = await self.find(connection, shown, now, is_asked=is_asked)
        try:
            return await authenticate_by_id(connection, shown.ids[0], session.key_id, now)
        except Unauthorized:
            raise no_session() from None


async def end_session(connection: Connection, shown: Credential) -> UUID | None:
    """End one at once; the key that it was of, and None where another was quicker."""
    organization_id, session_id = shown.ids
    parameters = {"organization_id": organization_id, "session_id": session_id}
    row = await (await connection.execute(_SQL["end_session"], parameters)).fetchone()
    return row[0] if row else None


async def describe_key(connection: Connection, organization_id: UUID, key_id: UUID) -> tuple[str, str]:
    """The names of the organization and of its key. Raises Unauthorized where there is none such."""
    parameters = {"organization_id": organization_id, "key_id": key_id}
    row = await (await connection.execute(_SQL["describe_key"], parameters)).fetchone()
    if row is None:
        raise no_session()
    return row[0], row[1]


def no_session() -> Unauthorized:
    return Unauthorized("console session, or an API key in the header X-API-Key,", "ApiKey")
