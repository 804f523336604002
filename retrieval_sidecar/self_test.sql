-- name: postgres
select current_setting('server_version_num')::integer, current_setting('server_version');

-- name: pgvector
select extversion from pg_extension where extname = 'vector';

-- name: revision
select version_num from alembic_version;

-- name: may_edit
-- Tables that the voice API reads scopes and knowledge from, and that its role could change all the same.
select string_agg(table_name, ', ') from unnest(array[
    'phone_agent', 'agent_item', 'agent_folder', 'agent_knowledge_base', 'agent_instruction', 'knowledge_item',
    'instruction', 'passage', 'passage_vector', 'contact_segment', 'voice_token', 'voice_token_grant'
]) table_name
where has_table_privilege(table_name, 'insert, update, delete');

-- name: active_models
-- By which models how many organizations are searched; null where nothing was indexed yet.
select e.model, count(*)
from organization o
left join embedding_space e on e.organization_id = o.organization_id and e.active
group by e.model
order by e.model;
