"""Voice tokens: `alv_<id>_<secret>`, stored as a digest, compared in constant time.

The secret is 256 random bits, so that a plain SHA-256 of it cannot be guessed back.
"""

import hmac
import secrets
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Unauthorized
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.voice")
_PREFIX = "alv"
_DIGEST_OF_NOTHING = sha256(b"").digest()


def _digest(secret: str) -> bytes:
    # A header may hold any bytes; those that are not UTF-8 come as surrogates.
    return sha256(secret.encode(errors="surrogateescape")).digest()


async def create_token(
    connection: Connection,
    name: str,
    organization_ids: list[UUID],
    expires_at: datetime | None = None,
) -> str:
    """A new token for calls of these organizations. It is shown once and cannot be read back."""
    token_id, secret = uuid4(), secrets.token_urlsafe(32)
    async with connection.transaction():
        await connection.execute(
            _SQL["add_token"],
            {
                "token_id": token_id,
                "name": name,
                "secret_sha256": _digest(secret),
                "expires_at": expires_at,
            },
        )
        for organization_id in organization_ids:
            await connection.execute(_SQL["grant_token"], {"organization_id": organization_id, "token_id": token_id})
    return f"{_PREFIX}_{token_id.hex}_{secret}"


async def revoke_token(connection: Connection, token_id: UUID, now: datetime) -> bool:
    """End a token at once; False where there was none to end."""
    cursor = await connection.execute(_SQL["revoke_token"], {"token_id": token_id, "now": now})
    return await cursor.fetchone() is not None


async def authenticate(connection: Connection, authorization: str | None, now: datetime) -> UUID:
    """The id of the token of an Authorization header. Raises Unauthorized, without saying why."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized
    prefix, _, rest = token.strip().partition("_")
    id_text, _, secret = rest.partition("_")
    try:
        token_id = UUID(hex=id_text)
    except ValueError:
        raise Unauthorized from None
    if prefix != _PREFIX:
        raise Unauthorized
    cursor = await connection.execute(_SQL["find_token"], {"token_id": token_id, "now": now})
    row = await cursor.fetchone()
    stored = bytes(row[1]) if row else _DIGEST_OF_NOTHING
    if not hmac.compare_digest(stored, _digest(secret)) or row is None:
        raise Unauthorized
    return token_id
