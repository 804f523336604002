"""Embedders: text in, unit vectors out."""

from retrieval_sidecar.embeddings.base import Embedder, Vectors
from retrieval_sidecar.embeddings.collection import Embedders
from retrieval_sidecar.embeddings.factory import create_embedder, create_embedders

__all__ = ["Embedder", "Embedders", "Vectors", "create_embedder", "create_embedders"]
