"""Who may manage an organization's knowledge, and who changed what."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_beside(__file__, "0004_management.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0004_management.down.sql")
