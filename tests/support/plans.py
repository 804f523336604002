"""Plans as PostgreSQL carried them out: `auto_explain`, on a connection set up as those of the pool are."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.errors import Diagnostic

from retrieval_sidecar.database import _SESSION_SETTINGS, Connection
from tests.support.database import TestDatabase


@dataclass(frozen=True)
class Node:
    """A step of a plan."""

    fields: dict[str, Any]

    def __getitem__(self, name: str) -> str:
        return str(self.fields.get(name, ""))

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.fields.get("Plans", ()):
            yield from Node(child).walk()

    @property
    def was_executed(self) -> bool:
        return bool(self.fields["Actual Loops"] > 0)

    @property
    def index(self) -> str:
        """The index it reads, itself or by the bitmap below it."""
        return next((node["Index Name"] for node in self.walk() if node["Index Name"]), "")

    @property
    def condition(self) -> str:
        """What it asks the index for."""
        return " ".join(node["Index Cond"] for node in self.walk())

    def scans(self, table: str = "passage_vector") -> list["Node"]:
        """The steps that read a table, or any partition of it."""
        return [node for node in self.walk() if node["Relation Name"].startswith(table + "_")]

    def exact_legs(self) -> list["Node"]:
        """What reads the vectors below each order by exact distance, or below the list of all that is allowed."""
        lists = [node for node in self.walk() if node["Subplan Name"] == "CTE allowed"]
        sorts = [node for node in self.walk() if node["Node Type"].endswith("Sort") and "<#>" in node["Sort Key"]]
        tops = lists or sorts
        return [scan for top in tops for scan in top.scans()]

    def approximate_legs(self) -> list["Node"]:
        """What reads vectors in the order of an index."""
        return [node for node in self.scans() if "<=>" in node["Order By"]]


@dataclass
class Explained:
    """A connection, and what was carried out on it since somebody looked."""

    connection: Connection
    _plans: list[dict[str, Any]] = field(default_factory=list)

    def hear(self, diagnostic: Diagnostic) -> None:
        _, _, plan = (diagnostic.message_primary or "").partition("plan:\n")
        if plan:
            self._plans.append(json.loads(plan))

    def last(self) -> Node:
        """The plan of the last statement; all are forgotten then."""
        plan = self._plans[-1]
        self._plans.clear()
        return Node(plan["Plan"])

    def of_search(self) -> Node:
        """The plan of the last search, which is forgotten then."""
        searches = [plan for plan in self._plans if plan["Query Text"].lstrip().startswith("-- Candidates by meaning")]
        self._plans.clear()
        return Node(searches[-1]["Plan"])


@asynccontextmanager
async def explained(database: TestDatabase) -> AsyncIterator[Explained]:
    url = database.server.url("postgres", database.name)  # only a superuser may load it
    connecting = psycopg.AsyncConnection.connect(url, autocommit=True, options=_SESSION_SETTINGS, prepare_threshold=0)
    async with await connecting as connection:
        await register_vector_async(connection)
        await connection.execute("load 'auto_explain'")
        for name, value in {
            "log_min_duration": "0",
            "log_analyze": "on",
            "log_timing": "off",
            "log_format": "json",
            "log_level": "notice",
        }.items():
            await connection.execute("select set_config(%s, %s, false)", [f"auto_explain.{name}", value])
        found = Explained(connection)
        connection.add_notice_handler(found.hear)
        yield found
