"""What operators write and set by hand, and what waits to be indexed of it."""

from retrieval_sidecar.migrations.sql_files import run_beside

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_beside(__file__, "0006_content.up.sql")


def downgrade() -> None:
    run_beside(__file__, "0006_content.down.sql")
