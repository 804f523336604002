"""`python -m retrieval_sidecar`."""

from retrieval_sidecar.cli import app

app()
