-- name: revision_exists
select to_regclass('alembic_version') is not null;

-- name: revision
select version_num from alembic_version;
