"""The command line: `retrieval-sidecar --help`."""

# Each module adds its commands; they are shown in this order.
from retrieval_sidecar.cli import operations, management, mcp, knowledge, ingest, work, smoke  # noqa: F401, I001
from retrieval_sidecar.cli.shared import app

__all__ = ["app"]
