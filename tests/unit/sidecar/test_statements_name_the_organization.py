"""Every statement on tenants' tables is of one organization, so that a distributed database asks one shard.

A table's rows are tied to the organization by its alias: `x.organization_id` is compared in the statement for each `x`,
and something in it is compared with the parameter. A statement that is of all organizations by its nature has its
reason here.
"""

import re
from pathlib import Path

import pytest

import retrieval_sidecar
from retrieval_sidecar import sql

PRODUCT = Path(retrieval_sidecar.__file__).parent

OF_ALL = {
    ("ingest/queries.sql", "organizations"): "what a command for every organization goes through, one by one",
    ("ingest/queries.sql", "upsert_organization"): "an organization is made",
    ("jobs/queries.sql", "level_priorities"): "organizations take turns: the queue is the installation's",
    ("jobs/queries.sql", "waiting_without_job"): "a sweep for what the queue has lost",
    ("jobs/queries.sql", "documents_without_job"): "the same, for what operators write",
    ("jobs/queries.sql", "queue_state"): "what is watched is the installation",
    ("partitions/queries.sql", "standings"): "advice on all organizations, for whoever runs the installation",
    ("partitions/queries.sql", "abandoned"): "partitions of spaces that are no more",
    ("knowledge/queries.sql", "agent_of_number"): "a dialled number leads to its organization",
    ("voice/queries.sql", "find_agent"): "an agent is found among the organizations that a token may answer for",
    ("voice/queries.sql", "count_open_sessions"): "what is watched is the installation",
    ("voice/queries.sql", "end_lost_sessions"): "the watchdog, by an index of active calls",
    ("self_test.sql", "active_models"): "how many organizations are searched by which model",
    ("sources/queries.sql", "copy_parts"): "COPY: the organization is in each row",
}
# Common table expressions and functions, and tables that are not a tenant's, have no organization to be tied to.
_TENANTS = re.compile(r"create table (\w+) \(\s*organization_id\b")
_COMMENT = re.compile(r"--.*")
_NO_ALIAS = r"(?!(?:on|where|set|using|order|group|union|left|join|cross|limit|for|returning|select|values)\b)"
_USE = re.compile(rf"\b(from|join|update|into|using)\s+(\w+)(?:\s+(?:as\s+)?{_NO_ALIAS}(\w+))?")
_INCLUDED = re.compile(r"/\*include (\w+)\*/")
_STATEMENT = re.compile(r"^\s*(select|insert|update|delete|with|copy)\b")


def tenants_tables() -> set[str]:
    found: set[str] = set()
    for path in (PRODUCT / "migrations" / "versions").glob("*.up.sql"):
        found |= set(_TENANTS.findall(path.read_text(encoding="utf-8")))
    return found


def statements() -> dict[tuple[str, str], str]:
    """Whole statements by file and name, what they include in its place; parts of statements stand in those."""
    found = {}
    for path in sorted(PRODUCT.rglob("*.sql")):
        if "migrations" in path.parts:
            continue
        included = set(_INCLUDED.findall(path.read_text(encoding="utf-8")))
        package = ".".join(("retrieval_sidecar", *path.relative_to(PRODUCT).parent.parts))
        for name, body in sql.load(package, path.name).items():
            text = _COMMENT.sub("", body)
            if _STATEMENT.match(text) and name not in included:
                found[str(path.relative_to(PRODUCT)), name] = text
    return found


def uses(body: str) -> set[tuple[str, str]]:
    """The tenants' tables of a statement, each with the name that its columns have there."""
    tenants = tenants_tables()
    return {(table, alias or table) for _, table, alias in _USE.findall(body) if table in tenants}


STATEMENTS = {place: body for place, body in statements().items() if uses(body)}


def test_there_are_tables_and_statements_to_look_at() -> None:
    assert {"passage_vector", "knowledge_item", "call_session", "audit_log"} <= tenants_tables()
    assert len(STATEMENTS) > 100
    assert set(OF_ALL) <= set(statements()), "a reason for a statement that is no more"


@pytest.mark.parametrize("place", [place for place in STATEMENTS if place not in OF_ALL], ids="/".join)
def test_a_statement_is_of_one_organization(place: tuple[str, str]) -> None:
    body = STATEMENTS[place]
    assert "%(organization_id)s" in body, "bind %(organization_id)s, or give the reason in OF_ALL"
    untied = [
        table
        for table, alias in uses(body)
        if not re.search(rf"\b{alias}\.organization_id\b", body)
        and not (alias == table and re.search(r"(?<![\w.])organization_id\b", body))
    ]
    assert untied == [], "tie each to the organization by its own column"
