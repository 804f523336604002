"""What the data takes on disk."""

from typing import Any

from tests.bench.database import Database

# The tables that grow with passages, and the indexes of each.
_SIZES = """
    select relname, pg_table_size(oid), pg_indexes_size(oid)
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname like 'passage%'
    order by relname
"""


def on_disk(database: Database) -> dict[str, Any]:
    """Megabytes of the passages' tables and indexes, and bytes a passage."""
    with database.superuser() as connection:
        rows = connection.execute(_SIZES).fetchall()
    total = sum(table + indexes for _, table, indexes in rows)
    return {
        "passages": database.passages,
        "tables": {
            name: {"table_mb": round(table / 2**20, 1), "indexes_mb": round(indexes / 2**20, 1)}
            for name, table, indexes in rows
        },
        "total_mb": round(total / 2**20, 1),
        "bytes_a_passage": round(total / database.passages),
    }
