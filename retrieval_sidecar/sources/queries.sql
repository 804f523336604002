-- name: base_uses
-- The agents whose selection names a base, its own folder, or an item of it.
select a.organization_id, a.agent_id, a.name, u.base_id
from phone_agent a
join (
    select organization_id, agent_id, base_id from agent_knowledge_base
    union
    select f.organization_id, f.agent_id, b.base_id
    from agent_folder f
    join folder d on d.organization_id = f.organization_id and d.folder_id = f.folder_id
    join knowledge_base b on b.organization_id = f.organization_id and d.folder_key = 'base:' || b.base_id
    union
    select s.organization_id, s.agent_id, e.base_id
    from agent_item s
    join knowledge_item i on i.organization_id = s.organization_id and i.item_id = s.item_id
    join source e on e.organization_id = i.organization_id and e.source_id = i.source_id
) u on u.organization_id = a.organization_id and u.agent_id = a.agent_id

-- name: bases
-- With what is in them and who uses them; counts, no content.
select b.base_id, b.name, b.owner_type, b.owner_id, b.for_agents, (
        select count(*) from source s where s.organization_id = b.organization_id and s.base_id = b.base_id
    ) as sources, (
        select coalesce(sum(characters), 0) from source s
        where s.organization_id = b.organization_id and s.base_id = b.base_id
    ) as characters, (
        select count(*) from source s
        join knowledge_item i on i.organization_id = s.organization_id and i.source_id = s.source_id
        where s.organization_id = b.organization_id and s.base_id = b.base_id and i.deleted_at is null
    ) as items, (
        select count(*) from source s
        join knowledge_item i on i.organization_id = s.organization_id and i.source_id = s.source_id
        join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
        where s.organization_id = b.organization_id and s.base_id = b.base_id
    ) as passages, (
        select coalesce(json_agg(json_build_array(u.agent_id, u.name) order by u.name, u.agent_id), '[]')
        from (/*include base_uses*/) u
        where u.organization_id = b.organization_id and u.base_id = b.base_id
    ) as agents
from knowledge_base b

-- name: list_bases
-- Those that a member can see; of nobody, where that is null, those that all can.
/*include bases*/
where b.organization_id = %(organization_id)s and b.name > %(after)s and (b.for_agents or exists (
    select from base_owner w
    where w.organization_id = b.organization_id and w.base_id = b.base_id and w.member_id = %(member_id)s
))
order by b.name
limit %(limit)s;

-- name: find_base
/*include bases*/
where b.organization_id = %(organization_id)s and b.base_id = %(base_id)s;

-- name: find_base_by_name
select base_id from knowledge_base
where organization_id = %(organization_id)s and name = %(name)s and owner_type = 'organization';

-- name: count_bases
-- No row of an organization that is not there.
select (select count(*) from knowledge_base b where b.organization_id = o.organization_id)
from organization o
where o.organization_id = %(organization_id)s;

-- name: insert_base
insert into knowledge_base (organization_id, name, owner_type, owner_id)
values (%(organization_id)s, %(name)s, %(owner_type)s, %(owner_id)s)
on conflict (organization_id, name) do nothing
returning base_id;

-- name: publish_base
update knowledge_base set is_published = %(published)s
where organization_id = %(organization_id)s and base_id = %(base_id)s;

-- name: rename_base
update knowledge_base set name = %(name)s where organization_id = %(organization_id)s and base_id = %(base_id)s
returning base_id;

-- name: delete_base
-- Its sources go with it, and with them all that came of them.
delete from knowledge_base where organization_id = %(organization_id)s and base_id = %(base_id)s
returning base_id;

-- name: status_of_source
case
        when s.is_processing or (s.status = 'processing' and s.error is null) then 'processing'
        when s.error is not null or s.status = 'failed' then 'failed'
        else 'ready'
    end as status, s.status = 'ready' as is_searchable

-- name: run_columns
r.run_id, r.status as run_status, r.started_at, r.ended_at, r.bytes_read, r.lines_read, r.created, r.updated,
    r.unchanged, r.rejected, r.texts_embedded, r.texts

-- name: latest_run
left join lateral (
    select * from ingest_run r
    where r.organization_id = s.organization_id and r.source_id = s.source_id
    order by r.started_at desc
    limit 1
) r on true

-- name: states_of_sources
-- How far each is, without its counts: asked again and again by those who watch a base.
select s.source_id, s.name, /*include status_of_source*/, s.error_code, s.processed_at, /*include run_columns*/
from source s
/*include latest_run*/
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s
order by s.name
limit %(limit)s;

-- name: sources
-- As operators see them, with the latest reading of each; counts, no content.
select s.source_id, s.base_id, s.kind, s.name, s.url, s.content_type, s.size_bytes, s.characters, /*include status_of_source*/, s.error_code, s.error, (
        select count(*) from knowledge_item i
        where i.organization_id = s.organization_id and i.source_id = s.source_id and i.deleted_at is null
    ) as items, (
        select count(*) from knowledge_item i
        join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
        where i.organization_id = s.organization_id and i.source_id = s.source_id
    ) as passages, s.created_at, s.created_by, s.processed_at, /*include run_columns*/
from source s
/*include latest_run*/

-- name: list_sources
/*include sources*/
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s and s.name > %(after)s
order by s.name
limit %(limit)s;

-- name: find_source
/*include sources*/
where s.organization_id = %(organization_id)s and s.source_id = %(source_id)s;

-- name: find_source_by_name
/*include sources*/
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s and s.name = %(name)s;

-- name: find_page
/*include sources*/
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s and s.kind = 'url' and s.url = %(url)s
order by s.name
limit 1;

-- name: count_sources
-- No row of a base that is not this organization's.
select (
    select count(*) from source s where s.organization_id = b.organization_id and s.base_id = b.base_id
)
from knowledge_base b
where b.organization_id = %(organization_id)s and b.base_id = %(base_id)s;

-- name: insert_source
insert into source (organization_id, base_id, kind, name, url, content_type, size_bytes, content_hash, created_by,
    is_processing)
values (%(organization_id)s, %(base_id)s, %(kind)s, %(name)s, %(url)s, %(content_type)s, %(size_bytes)s,
    %(content_hash)s, %(created_by)s, true)
on conflict (organization_id, base_id, name) do nothing
returning source_id;

-- name: stored_content
select kind, content_hash, is_processing, status = 'ready' and error is null as is_done, is_written from source
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: replace_content
-- What it yielded goes on answering until there is something to take its place.
update source set
    content_type = %(content_type)s, size_bytes = %(size_bytes)s, content_hash = %(content_hash)s,
    is_processing = true, error_code = null, error = null
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: forget_parts
delete from source_part where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: end_runs
-- Whoever is in the middle of one finds it ended with the next thing that it would write, and stops.
with ended as (
    update ingest_run set status = 'failed', ended_at = now()
    where organization_id = %(organization_id)s and source_id = %(source_id)s and status = 'running'
    returning organization_id, run_id
)
delete from ingest_taken t
using ended e
where t.organization_id = %(organization_id)s and t.organization_id = e.organization_id and t.run_id = e.run_id;

-- name: copy_parts
-- The quickest way in for what may be a gigabyte.
copy source_part (organization_id, source_id, part, content) from stdin (format binary);

-- name: read_part
select content from source_part
where organization_id = %(organization_id)s and source_id = %(source_id)s and part = %(part)s;

-- name: request_processing
update source set is_processing = true, error_code = null, error = null
where organization_id = %(organization_id)s and source_id = %(source_id)s
returning source_id;

-- name: texts_of_source
-- The keys of what is kept of its passages' vectors; read before they go.
select distinct p.text_hash
from knowledge_item i
join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
where i.organization_id = %(organization_id)s
    and (s.source_id = %(source_id)s or s.base_id = %(base_id)s);

-- name: delete_source
-- Items, passages, vectors, parts and runs go with it.
delete from source where organization_id = %(organization_id)s and source_id = %(source_id)s
returning source_id;

-- name: passages_of_source
-- For those who manage the source: what it yielded, whether or not a caller may hear it.
select i.item_key, p.chunk_index, i.item_id, i.external_id, i.title, p.heading, p.content, p.language
from knowledge_item i
join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
where i.organization_id = %(organization_id)s and i.source_id = %(source_id)s
    and (i.item_key, p.chunk_index) > (%(after_item)s, %(after_index)s)
order by i.item_key, p.chunk_index
limit %(limit)s;

-- name: rejections
-- Of the latest reading.
select j.line, j.field, j.reason
from ingest_rejection j
where j.organization_id = %(organization_id)s and j.run_id = (
    select r.run_id from ingest_run r
    where r.organization_id = %(organization_id)s and r.source_id = %(source_id)s
    order by r.started_at desc
    limit 1
)
order by j.line, j.field
limit %(limit)s;
