"""Sources without the jobs that read them."""

from uuid import UUID

from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.small_organization import ORGANIZATION_ID


async def new_source(
    database: TestDatabase,
    name: str = "Handbook",
    *,
    kind: str = "file",
    base: str = "Main",
    status: str = "processing",
) -> UUID:
    """A source of the small organization that has yielded nothing yet."""
    found = await value(
        database,
        "insert into source (organization_id, base_id, kind, name, status)"
        " select organization_id, base_id, %s, %s, %s from knowledge_base where organization_id = %s and name = %s"
        " returning source_id",
        [kind, name, status, ORGANIZATION_ID, base],
    )
    assert isinstance(found, UUID)
    return found


async def new_run(database: TestDatabase, source_id: UUID) -> UUID:
    """A reading of a source that has just begun."""
    found = await value(
        database,
        "insert into ingest_run (organization_id, source_id) values (%s, %s) returning run_id",
        [ORGANIZATION_ID, source_id],
    )
    assert isinstance(found, UUID)
    return found


async def statuses(database: TestDatabase) -> dict[str, str]:
    """The stored status of each source, by its name."""
    return dict(await rows(database, "select name, status from source"))
