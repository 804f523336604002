"""Every migration goes up, down and up again; the schema keeps tenants apart and the roles to their work."""

from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from alembic import op
from alembic.script import ScriptDirectory

from retrieval_sidecar import migrations
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.migrations import sql_files
from tests.support.database import TestDatabase, clone
from tests.support.inspection import rows, value

VERSIONS = Path(migrations.__file__).parent / "versions"
REVISIONS = [script.revision for script in ScriptDirectory.from_config(migrations._config()).walk_revisions()][::-1]

# Not a tenant's: the schema's own revision, tokens of the installation (their grants are tenants'), and the table that
# leads from a dialled number to an organization before any is known.
PLATFORM_TABLES = {"alembic_version", "voice_token", "number_route"}
# What the voice API writes; everything else it reads.
VOICE_WRITES = {"call_session": {"INSERT", "UPDATE"}, "session_event": {"INSERT"}, "search_log": {"INSERT"}}

CATALOGS: dict[str, LiteralString] = {
    "columns": (
        # Their places among those that are there: a column that went keeps its number.
        "select table_name, row_number() over (partition by table_name order by ordinal_position), column_name,"
        " data_type, udt_name, is_nullable, column_default, is_identity, is_generated"
        " from information_schema.columns where table_schema = 'public' order by 1, 2"
    ),
    "storage": (
        "select attrelid::regclass::text, attname, attstorage from pg_attribute join pg_class c on c.oid = attrelid"
        " where c.relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0"
        " and not attisdropped order by 1, 2"
    ),
    "constraints": (
        "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'public'::regnamespace order by 1, 2"
    ),
    "indexes": "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2",
    "grants": (
        "select relname, coalesce(a.grantee::regrole::text, ''), a.privilege_type"
        " from pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner))) a"
        " where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') order by 1, 2, 3"
    ),
    "partitions": (
        "select oid::regclass::text, pg_get_expr(relpartbound, oid), reloptions from pg_class"
        " where relnamespace = 'public'::regnamespace and relispartition order by 1"
    ),
    "schema grants": (
        "select coalesce(nullif(a.grantee, 0)::regrole::text, 'public'), a.privilege_type"
        " from pg_namespace, aclexplode(nspacl) a where nspname = 'public' order by 1, 2"
    ),
    "others": ("select relkind::text, relname from pg_class where relnamespace = 'public'::regnamespace order by 1, 2"),
    "routines": (
        "select p.oid::regprocedure::text from pg_proc p where pronamespace = 'public'::regnamespace"
        " and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1"
    ),
    "schemas": "select nspname, nspacl::text from pg_namespace where nspname !~ '^pg_' order by 1",
    "queue": "select table_name from information_schema.tables where table_schema = 'jobs' order by 1",
    "triggers": "select tgrelid::regclass::text, tgname from pg_trigger where not tgisinternal order by 1, 2",
}


@pytest.fixture
def blank(postgres: LocalServer) -> Iterator[TestDatabase]:
    """A database without any schema."""
    with clone(postgres, "template1") as database:
        yield database


async def schema(database: TestDatabase) -> dict[str, list[tuple[object, ...]]]:
    return {name: await rows(database, statement) for name, statement in CATALOGS.items()}


async def test_every_migration_goes_up_down_and_up_to_the_same_schema(blank: TestDatabase) -> None:
    url = blank.url("owner")
    before = "base"
    for revision in REVISIONS:
        below = await schema(blank)
        migrations.upgrade(url, revision)
        above = await schema(blank)
        assert migrations.current(url) == revision
        assert above != below
        migrations.downgrade(url, before)
        if before != "base":  # the first one leaves Alembic's own table
            assert await schema(blank) == below
        migrations.upgrade(url, revision)
        assert await schema(blank) == above
        before = revision
    assert migrations.current(url) == migrations.head()


async def test_down_to_the_base_leaves_nothing_but_the_revisions_table(empty_database: TestDatabase) -> None:
    migrations.downgrade(empty_database.url("owner"), "base")
    tables = await rows(empty_database, "select tablename from pg_tables where schemaname = 'public'")
    assert tables == [("alembic_version",)]
    assert migrations.current(empty_database.url("owner")) is None


async def test_up_with_nothing_to_do_changes_nothing(empty_database: TestDatabase) -> None:
    before = await schema(empty_database)
    migrations.upgrade(empty_database.url("owner"))
    assert await schema(empty_database) == before


async def test_down_is_possible_with_data_in_every_table(database: TestDatabase) -> None:
    migrations.downgrade(database.url("owner"), "base")
    assert migrations.current(database.url("owner")) is None


def test_every_revision_has_both_files_and_each_gives_up_waiting_for_locks() -> None:
    files = sorted(VERSIONS.glob("*.sql"))
    assert {path.name.removesuffix(".sql").rpartition(".")[2] for path in files} == {"up", "down"}
    assert len(files) == 2 * len(REVISIONS)
    for path in files:
        assert path.read_text(encoding="utf-8").startswith("SET LOCAL lock_timeout = '10s';\n"), path.name


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The migrations as they are, but for how long they wait for a lock."""

    def run(module: str, name: str) -> None:
        script = (Path(module).parent / name).read_text(encoding="utf-8")
        assert script.count("'10s'") == 1
        op.get_bind().exec_driver_sql(script.replace("'10s'", "'50ms'"))

    monkeypatch.setattr(sql_files, "run_beside", run)


async def test_a_lock_that_somebody_holds_makes_a_migration_fail_and_leaves_the_schema(
    empty_database: TestDatabase, impatient: None
) -> None:
    url = empty_database.url("owner")
    migrations.downgrade(url, REVISIONS[0])  # a transaction each: those after it would go all the same
    before = await schema(empty_database)
    with psycopg.connect(url) as holder:
        holder.execute("select from passage")
        with pytest.raises(ConfigurationError, match="lock timeout"):
            migrations.downgrade(url, "base")
    assert await schema(empty_database) == before
    assert migrations.current(url) == REVISIONS[0]


async def test_a_role_that_does_not_own_the_schema_cannot_migrate(empty_database: TestDatabase) -> None:
    for role in ("voice", "manage"):
        with pytest.raises(ConfigurationError, match="The schema stays as it was"):
            migrations.downgrade(empty_database.url(role), "base")
    assert migrations.current(empty_database.url("owner")) == migrations.head()


async def test_the_organization_leads_every_key_and_index_of_every_tenants_table(
    empty_database: TestDatabase,
) -> None:
    leading = await rows(
        empty_database,
        "select i.indrelid::regclass::text, i.indexrelid::regclass::text, a.attname"
        " from pg_index i join pg_class c on c.oid = i.indrelid"
        " left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]"
        " where c.relnamespace = 'public'::regnamespace",
    )
    astray = [
        (table, index)
        for table, index, column in leading
        if table not in PLATFORM_TABLES and column != "organization_id"
    ]
    assert astray == []


async def test_every_tenants_table_has_a_primary_key_and_the_platforms_are_all_named(
    empty_database: TestDatabase,
) -> None:
    keyed = await rows(
        empty_database,
        "select c.relname, exists (select from pg_index where indrelid = c.oid and indisprimary),"
        " exists (select from pg_attribute where attrelid = c.oid and attname = 'organization_id' and attnotnull)"
        " from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
    )
    assert [table for table, has_key, _ in keyed if not has_key] == []
    without = {table for table, _, has_organization in keyed if not has_organization}
    assert without <= PLATFORM_TABLES <= {table for table, _, _ in keyed}


async def test_every_reference_between_tenants_tables_is_within_one_organization(
    empty_database: TestDatabase,
) -> None:
    references = await rows(
        empty_database,
        "select conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'public'::regnamespace and contype = 'f'"
        " and confrelid not in ('organization'::regclass, 'voice_token'::regclass)",
    )
    assert references
    assert [each for each in references if not each[1].startswith("FOREIGN KEY (organization_id,")] == []


async def test_the_voice_role_writes_calls_and_nothing_else(empty_database: TestDatabase) -> None:
    privileges = await rows(
        empty_database,
        "select c.relname, p.name from pg_class c,"
        " unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p(name)"
        " where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')"
        " and has_table_privilege('answerline_voice', c.oid, p.name)",
    )
    writes: dict[str, set[str]] = {}
    for table, privilege in privileges:
        writes.setdefault(table, set()).add(privilege)
    assert writes == VOICE_WRITES
    assert await value(empty_database, "select has_schema_privilege('answerline_voice', 'public', 'CREATE')") is False
    assert (
        await rows(
            empty_database,
            "select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication from pg_roles"
            " where rolname in ('answerline_voice', 'answerline_manage')",
        )
        == [(False,) * 5] * 2
    )


@pytest.mark.parametrize(
    "statement",
    [
        "update phone_agent set knowledge_scope_mode = 'all'",
        "delete from agent_item",
        "insert into agent_folder select organization_id, agent_id, 1 from phone_agent",
        "update knowledge_item set status = 'published'",
        "update passage_vector set segment_ids = null",
        "insert into contact_segment select organization_id, contact_id, 1 from contact",
        "insert into voice_token_grant select organization_id, gen_random_uuid() from organization",
        "delete from call_session",
        "delete from search_log",
        "update session_event set data = '{}'",
        "create table notes (note text)",
        "set role answerline_owner",
    ],
)
async def test_the_voice_role_cannot_widen_a_scope_or_rewrite_what_happened(
    database: TestDatabase, statement: LiteralString
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await rows(database, statement, role="voice")


async def test_the_manage_role_sees_no_tokens_and_cannot_claim_another_schema(database: TestDatabase) -> None:
    statements: list[LiteralString] = [
        "select from voice_token",
        "select from voice_token_grant",
        "update alembic_version set version_num = '0'",
        "drop table passage",
    ]
    for statement in statements:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await rows(database, statement, role="manage")
