"""Organizations, scopes, passages and calls."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_beside(__file__, "0001_foundation.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0001_foundation.down.sql")
