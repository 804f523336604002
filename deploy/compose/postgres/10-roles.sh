#!/bin/sh
# Run once, by PostgreSQL's image, when its volume is empty: the roles with their passwords, the database, pgvector.
set -eu
password() { cat "/run/secrets/$1_password"; }
psql --no-psqlrc --set ON_ERROR_STOP=1 --username postgres --dbname postgres \
    --set owner="$(password owner)" --set voice="$(password voice)" --set manage="$(password manage)" <<'SQL'
create role answerline_owner login createrole password :'owner';
create role answerline_voice login password :'voice';
create role answerline_manage login password :'manage';
create database answerline owner answerline_owner;
revoke all on database answerline from public;
grant connect on database answerline to answerline_voice, answerline_manage;
\connect answerline
-- pgvector's is not a trusted extension: only a superuser makes it.
create extension vector;
SQL
