"""What Alembic runs: the connection comes from `retrieval_sidecar.migrations`, in one transaction a revision."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
