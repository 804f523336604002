-- name: database_exists
select true from pg_database where datname = %(name)s;

-- name: create_database
create database {name} owner {owner} template {template};

-- name: drop_database
drop database if exists {name} with (force);

-- name: create_vector
-- As the superuser: pgvector's is not a trusted extension.
create extension if not exists vector;

-- name: role_exists
select true from pg_roles where rolname = %(name)s;

-- name: create_owner
create role {owner} login createrole;
