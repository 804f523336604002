"""Voice tokens: `alv_<id>_<secret>`."""

from datetime import datetime
from uuid import UUID, uuid4

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Unauthorized
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.voice")
_KIND = "alv"


async def create_token(
    connection: Connection,
    name: str,
    organization_ids: list[UUID],
    expires_at: datetime | None = None,
) -> str:
    """A new token for calls of these organizations. It is shown once and cannot be read back."""
    token_id = uuid4()
    token = Credential.new(_KIND, token_id)
    async with connection.transaction():
        await connection.execute(
            _SQL["add_token"],
            {
                "token_id": token_id,
                "name": name,
                "secret_sha256": token.digest,
                "expires_at": expires_at,
            },
        )
        for organization_id in organization_ids:
            await connection.execute(_SQL["grant_token"], {"organization_id": organization_id, "token_id": token_id})
    return str(token)


async def revoke_token(connection: Connection, token_id: UUID, now: datetime) -> bool:
    """End a token at once; False where there was none to end."""
    cursor = await connection.execute(_SQL["revoke_token"], {"token_id": token_id, "now": now})
    return await cursor.fetchone() is not None


async def authenticate(connection: Connection, authorization: str | None, now: datetime) -> UUID:
    """The id of the token of an Authorization header. Raises Unauthorized, without saying why."""
    scheme, _, text = (authorization or "").partition(" ")
    token = Credential.parse(text, _KIND) if scheme.lower() == "bearer" else None
    if token is None:
        raise Unauthorized
    (token_id,) = token.ids
    cursor = await connection.execute(_SQL["find_token"], {"token_id": token_id, "now": now})
    row = await cursor.fetchone()
    if not token.matches(bytes(row[1]) if row else None):
        raise Unauthorized
    return token_id
