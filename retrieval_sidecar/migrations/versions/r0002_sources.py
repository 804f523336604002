"""What was uploaded, and how its reading went."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_beside(__file__, "0002_sources.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0002_sources.down.sql")
