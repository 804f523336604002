"""The people of an organization, their teams and knowledge bases; what else operators edit."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_beside(__file__, "0005_people.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0005_people.down.sql")
