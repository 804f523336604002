"""Browsers that a key signed in, and calls by when they began."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_beside(__file__, "0007_console.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0007_console.down.sql")
