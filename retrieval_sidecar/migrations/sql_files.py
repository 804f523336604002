"""Migrations written in SQL, run by Alembic."""

from pathlib import Path

from alembic import op


def run_beside(module: str, name: str) -> None:
    """Run a migration's SQL file, which stands beside its module, in Alembic's transaction."""
    script = (Path(module).parent / name).read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(script)
