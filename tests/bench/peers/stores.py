"""Other stores, each as its own documentation sets it up for filtered search."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
K = 5


@dataclass(frozen=True, slots=True)
class Rows:
    """What a store is given: a vector, a text and metadata a row.

    Attributes:
        vectors: unit rows, (n, d).
        metadata: of each row its `tenant`, its `item` and whether it is `told` (1 or 0).
    """

    ids: Sequence[int]
    vectors: Vectors
    texts: Sequence[str]
    metadata: Sequence[Mapping[str, int]]

    def batches(self, size: int) -> Iterator["Rows"]:
        for start in range(0, len(self.ids), size):
            part = slice(start, start + size)
            yield Rows(self.ids[part], self.vectors[part], self.texts[part], self.metadata[part])


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter: rows of a tenant that may be told, of some items only, or of any where `items` is None."""

    tenant: int
    items: Sequence[int] | None


class Store(Protocol):
    """A store. Searching returns the ids of the nearest rows, at most K; it must have read their texts, too."""

    def load(self, rows: Rows) -> None:
        """Store the rows and build what the documentation says; once."""

    def open(self) -> None:
        """Get ready to search what was loaded, by this process or an earlier one."""

    def search(self, vector: Vectors, wanted: Wanted) -> list[int]:
        """The ids of the nearest rows that pass the filter, best first."""


class LangchainPostgres:
    """`PGVectorStore` with typed metadata columns and its HNSW index, defaults throughout."""

    _table = "langchain_rows"

    def __init__(self, url: str, _folder: Path, dimensions: int) -> None:
        from langchain_postgres import PGEngine  # noqa: PLC0415 - only the store that runs is imported

        self._url, self._dimensions = url, dimensions
        self._engine = PGEngine.from_connection_string(url.replace("postgresql://", "postgresql+psycopg://", 1))
        self._store: Any = None

    def load(self, rows: Rows) -> None:
        import psycopg  # noqa: PLC0415
        from langchain_postgres import Column  # noqa: PLC0415
        from langchain_postgres.v2.indexes import HNSWIndex  # noqa: PLC0415

        columns = [Column(name, "INTEGER") for name in ("passage", "tenant", "item", "told")]
        self._engine.init_vectorstore_table(
            self._table, self._dimensions, metadata_columns=columns, overwrite_existing=True
        )
        # Its own way writes row after row, 100,000 of them for many minutes; what is stored is the same.
        with psycopg.connect(self._url, autocommit=True) as connection, connection.cursor() as cursor:
            names = "langchain_id, content, embedding, passage, tenant, item, told"
            with cursor.copy(f"copy {self._table} ({names}) from stdin") as copy:
                for id_, vector, text, each in zip(rows.ids, rows.vectors, rows.texts, rows.metadata, strict=True):
                    literal = f"[{','.join(map(str, vector.tolist()))}]"
                    copy.write_row((uuid4(), text, literal, id_, each["tenant"], each["item"], each["told"]))
            cursor.execute(f"vacuum analyze {self._table}")
        self.open()
        self._store.apply_vector_index(HNSWIndex())

    def open(self) -> None:
        from langchain_core.embeddings import FakeEmbeddings  # noqa: PLC0415 - vectors are given; it wants one all the same
        from langchain_postgres import PGVectorStore  # noqa: PLC0415

        self._store = PGVectorStore.create_sync(
            self._engine,
            FakeEmbeddings(size=self._dimensions),
            self._table,
            metadata_columns=["passage", "tenant", "item", "told"],
        )

    def search(self, vector: Vectors, wanted: Wanted) -> list[int]:
        conditions: list[dict[str, Any]] = [{"tenant": wanted.tenant}, {"told": 1}]
        if wanted.items is not None:
            conditions.append({"item": {"$in": list(wanted.items)}})
        found = self._store.similarity_search_by_vector(vector.tolist(), k=K, filter={"$and": conditions})
        return [document.metadata["passage"] for document in found if document.page_content]


class LlamaIndexPostgres:
    """`PGVectorStore` with its HNSW index and indexed metadata keys; parameters are those of its documentation."""

    def __init__(self, url: str, _folder: Path, dimensions: int) -> None:
        self._url, self._dimensions = url, dimensions
        self._store: Any = None

    def load(self, rows: Rows) -> None:
        from llama_index.core.schema import TextNode  # noqa: PLC0415

        # Without the index, which `open` builds: the same as if it had been there, in a fraction of the time.
        store = self._connected(hnsw=None)
        for batch in rows.batches(1000):
            nodes = [
                TextNode(id_=str(id_), text=text, embedding=vector, metadata=dict(metadata))
                for id_, text, vector, metadata in zip(
                    batch.ids, batch.texts, batch.vectors.tolist(), batch.metadata, strict=True
                )
            ]
            store.add(nodes)

    def open(self) -> None:
        hnsw = {
            "hnsw_m": 16,
            "hnsw_ef_construction": 64,
            "hnsw_ef_search": 40,
            "hnsw_dist_method": "vector_cosine_ops",
        }
        self._store = self._connected(hnsw=hnsw)

    def _connected(self, *, hnsw: dict[str, Any] | None) -> Any:
        from llama_index.vector_stores.postgres import PGVectorStore  # noqa: PLC0415

        parts = urlsplit(self._url)
        name, host = parts.path.lstrip("/"), parse_qs(parts.query)["host"][0]
        return PGVectorStore.from_params(
            connection_string=f"postgresql+psycopg2://{parts.username}@/{name}?host={host}",
            async_connection_string=f"postgresql+asyncpg://{parts.username}@/{name}?host={host}",
            table_name="llama_rows",
            embed_dim=self._dimensions,
            hnsw_kwargs=hnsw,
            use_jsonb=True,
            # As its filters read them: numbers as floats, members of a list as text.
            indexed_metadata_keys={("tenant", "double precision"), ("item", "text")},
        )

    def search(self, vector: Vectors, wanted: Wanted) -> list[int]:
        from llama_index.core.vector_stores.types import (  # noqa: PLC0415
            FilterOperator,
            MetadataFilter,
            MetadataFilters,
            VectorStoreQuery,
        )

        filters = [MetadataFilter(key="tenant", value=wanted.tenant), MetadataFilter(key="told", value=1)]
        if wanted.items is not None:
            filters.append(MetadataFilter(key="item", value=list(wanted.items), operator=FilterOperator.IN))
        found = self._store.query(
            VectorStoreQuery(
                query_embedding=vector.tolist(), similarity_top_k=K, filters=MetadataFilters(filters=filters)
            )
        )
        return [int(node.node_id) for node in found.nodes if node.text]


class Chroma:
    """A persistent client; a collection with cosine distance, defaults otherwise."""

    def __init__(self, _url: str, folder: Path, _dimensions: int) -> None:
        import chromadb  # noqa: PLC0415

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        self._collection: Any = None

    def load(self, rows: Rows) -> None:
        self.open()
        for batch in rows.batches(5000):
            self._collection.add(
                ids=[str(id_) for id_ in batch.ids],
                embeddings=batch.vectors,
                metadatas=[dict(each) for each in batch.metadata],
                documents=list(batch.texts),
            )

    def open(self) -> None:
        self._collection = self._client.get_or_create_collection(
            "rows", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def search(self, vector: Vectors, wanted: Wanted) -> list[int]:
        conditions: list[dict[str, Any]] = [{"tenant": wanted.tenant}, {"told": 1}]
        if wanted.items is not None:
            conditions.append({"item": {"$in": list(wanted.items)}})
        found = self._collection.query(
            query_embeddings=[vector], n_results=K, where={"$and": conditions}, include=["documents", "distances"]
        )
        return [int(id_) for id_, text in zip(found["ids"][0], found["documents"][0], strict=True) if text]


class Lance:
    """An embedded database, exact search behind scalar indexes, as its documentation filters before it searches."""

    def __init__(self, _url: str, folder: Path, _dimensions: int) -> None:
        import lancedb  # noqa: PLC0415

        self._database: Any = lancedb.connect(str(folder / "lance"))
        self._table: Any = None

    def load(self, rows: Rows) -> None:
        from lancedb.index import BTree  # noqa: PLC0415

        data = [
            {"id": id_, "vector": vector, "text": text, **metadata}
            for id_, vector, text, metadata in zip(rows.ids, rows.vectors, rows.texts, rows.metadata, strict=True)
        ]
        table = self._database.create_table("rows", data, mode="overwrite")
        for column in ("tenant", "item"):
            table.create_index(column, config=BTree())

    def open(self) -> None:
        self._table = self._database.open_table("rows")

    def search(self, vector: Vectors, wanted: Wanted) -> list[int]:
        condition = f"tenant = {wanted.tenant} AND told = 1"
        if wanted.items is not None:
            condition += f" AND item IN ({', '.join(map(str, wanted.items))})"
        query = self._table.search(vector).distance_type("cosine").where(condition, prefilter=True)
        return [row["id"] for row in query.select(["id", "text", "_distance"]).limit(K).to_list() if row["text"]]


STORES: Mapping[str, Callable[[str, Path, int], Store]] = {
    "langchain-postgres": LangchainPostgres,
    "llama-index-vector-stores-postgres": LlamaIndexPostgres,
    "chromadb": Chroma,
    "lancedb": Lance,
}
