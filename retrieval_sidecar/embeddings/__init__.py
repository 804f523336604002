"""Embedders: text in, unit vectors out."""

from retrieval_sidecar.embeddings.base import Embedder, Vectors
from retrieval_sidecar.embeddings.factory import create_embedder

__all__ = ["Embedder", "Vectors", "create_embedder"]
