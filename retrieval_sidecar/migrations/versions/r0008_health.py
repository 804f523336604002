"""What was asked, by its time: indexes of the logs."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_beside(__file__, "0008_health.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0008_health.down.sql")
