"""Changes of what an organization knows, one after the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.knowledge")


@asynccontextmanager
async def change(connection: Connection, organization_id: UUID) -> AsyncIterator[None]:
    """A transaction that is the only one to change this organization's knowledge while it lasts.

    The rule for every change of items, instructions, segments of either, sources, bases, passages, vectors or
    embedding spaces, now and to come. What the search reads repeats those rows (`refresh_facts`, `add_vectors`): of two
    changes at once each would compute it without the other's rows, and what one of them closed would stay open.

    It locks the organization's row, as the first statement, so that all later ones see what was committed before.
    Searches and calls never wait for it. Keep it short: embed before, and check inside that what was read still holds.
    A new organization has no row to lock; its insertion is the lock.
    """
    async with connection.transaction():
        await connection.execute(_SQL["lock_organization"], {"organization_id": organization_id})
        yield
