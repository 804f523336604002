"""The queue of the work on sources: procrastinate's tables, in a schema of their own, as none is a tenant's data."""

from alembic import op
from procrastinate.schema import SchemaManager

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql("create schema jobs")
    connection.exec_driver_sql("set local search_path = jobs")
    connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))  # a driver of placeholders reads it
    connection.exec_driver_sql("set local search_path to default")
    run_beside(__file__, "0003_jobs.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0003_jobs.down.sql")
