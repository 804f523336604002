-- name: create_stage
-- One for a session, emptied by each transaction.
create temporary table if not exists staged_item (
    source_id uuid not null,
    external_id text not null,
    folder_key text not null,
    title text not null,
    content text not null,
    source_hash text not null,
    language text not null,
    region_code text not null,
    status text not null,
    visibility text not null,
    channels text[] not null,
    valid_from timestamptz not null,
    valid_to timestamptz not null,
    open_minutes int4multirange,
    source_url text,
    metadata jsonb not null,
    segment_ids integer[] not null
) on commit delete rows;

-- name: stage
copy pg_temp.staged_item from stdin;

-- name: unstage
delete from pg_temp.staged_item;

-- name: segments
select key, segment_id from segment where organization_id = %(organization_id)s;

-- name: add_folders
insert into folder (organization_id, folder_key)
select distinct %(organization_id)s::uuid, folder_key from pg_temp.staged_item
on conflict (organization_id, folder_key) do nothing;

-- name: write_staged
-- Rows that say what is staged are not touched: not even locked, as `on conflict do update … where` would. What an operator
-- has set by hand is what is staged too, as far as a row is concerned.
with compared as materialized (
    select t.source_id, t.external_id, t.content, t.source_hash, t.metadata, i.item_id, e.*,
        (i.folder_id, i.title, i.content, i.source_hash, i.language, i.region_code, i.status, i.visibility, i.channels,
            i.valid_from, i.valid_to, i.open_minutes, i.source_url, i.metadata, i.deleted_at)
        is not distinct from
        (e.folder_id, e.title, t.content, t.source_hash, e.language, e.region_code, e.status, e.visibility, e.channels,
            e.valid_from, e.valid_to, e.open_minutes, e.source_url, t.metadata, e.deleted_at)
        and g.segment_ids = e.segment_ids as is_unchanged
    from pg_temp.staged_item t
    cross join lateral (
        select f.folder_id from folder f
        where f.organization_id = %(organization_id)s and f.folder_key = t.folder_key
        limit 1
    ) f
    -- The limit is a fence: without statistics the planner would read all items for each.
    left join lateral (
        select * from knowledge_item i
        where i.organization_id = %(organization_id)s and i.source_id = t.source_id and i.external_id = t.external_id
        limit 1
    ) i on true
    cross join lateral (
        select array(
            select g.segment_id from item_segment g
            where g.organization_id = %(organization_id)s and g.item_id = i.item_id order by g.segment_id
        ) as segment_ids
    ) g
    -- None of one that is new.
    cross join lateral (select coalesce(i.set_by_hand, '{}') as fields) h
    cross join lateral (
        select
            case when 'folder_key' = any(h.fields) then i.folder_id else f.folder_id end as folder_id,
            case when 'title' = any(h.fields) then i.title else t.title end as title,
            case when 'language' = any(h.fields) then i.language else t.language end as language,
            case when 'region_code' = any(h.fields) then i.region_code else t.region_code end as region_code,
            case when 'status' = any(h.fields) then i.status else t.status end as status,
            case when 'visibility' = any(h.fields) then i.visibility else t.visibility end as visibility,
            case when 'channels' = any(h.fields) then i.channels else t.channels end as channels,
            case when 'valid_from' = any(h.fields) then i.valid_from else t.valid_from end as valid_from,
            case when 'valid_until' = any(h.fields) then i.valid_to else t.valid_to end as valid_to,
            case when 'schedule' = any(h.fields) then i.open_minutes else t.open_minutes end as open_minutes,
            case when 'source_url' = any(h.fields) then i.source_url else t.source_url end as source_url,
            case when 'segments' = any(h.fields) then g.segment_ids else t.segment_ids end as segment_ids,
            case when 'deleted' = any(h.fields) then i.deleted_at end as deleted_at
    ) e
), written as (
    insert into knowledge_item (organization_id, source_id, folder_id, external_id, title, content, source_hash,
        language, region_code, status, visibility, channels, valid_from, valid_to, open_minutes, source_url, metadata,
        deleted_at)
    select %(organization_id)s, source_id, folder_id, external_id, title, content, source_hash, language, region_code,
        status, visibility, channels, valid_from, valid_to, open_minutes, source_url, metadata, deleted_at
    from compared
    where not is_unchanged
    on conflict (organization_id, source_id, external_id) do update set
        folder_id = excluded.folder_id, title = excluded.title, content = excluded.content,
        source_hash = excluded.source_hash, language = excluded.language, region_code = excluded.region_code,
        status = excluded.status, visibility = excluded.visibility, channels = excluded.channels,
        valid_from = excluded.valid_from, valid_to = excluded.valid_to, open_minutes = excluded.open_minutes,
        source_url = excluded.source_url, metadata = excluded.metadata, deleted_at = excluded.deleted_at,
        updated_at = now()
    returning source_id, external_id, item_id
), left_segments as (
    delete from item_segment where organization_id = %(organization_id)s and ctid = any(array(
        select g.ctid from compared c
        cross join lateral (
            select ctid, segment_id from item_segment
            where organization_id = %(organization_id)s and item_id = c.item_id
            offset 0
        ) g
        where not c.is_unchanged and g.segment_id <> all(c.segment_ids)
    ))
), joined_segments as (
    insert into item_segment (organization_id, item_id, segment_id)
    select %(organization_id)s, w.item_id, unnest(c.segment_ids)
    from written w
    join compared c on c.source_id = w.source_id and c.external_id = w.external_id
    on conflict do nothing
)
select count(*) filter (where item_id is null), count(*) filter (where is_unchanged),
    coalesce(array_agg(item_id) filter (where item_id is not null and not is_unchanged), '{}')
from compared;

-- name: begun
-- What an import is of, and how far it is; no row of one that was ended, by another content or a new request.
select o.time_zone, s.base_id, r.bytes_read
from ingest_run r
join source s on s.organization_id = r.organization_id and s.source_id = r.source_id
join organization o on o.organization_id = r.organization_id
where r.organization_id = %(organization_id)s and r.run_id = %(run_id)s and r.source_id = %(source_id)s
    and r.status = 'running';

-- name: take_ids
-- Of these ids those that no earlier line of the run had; they are taken then.
insert into ingest_taken (organization_id, run_id, external_id)
select %(organization_id)s, %(run_id)s, unnest(%(external_ids)s::text[])
on conflict do nothing
returning external_id;

-- name: forget_ids
delete from ingest_taken where organization_id = %(organization_id)s and run_id = %(run_id)s;

-- name: account
-- Only from where the batch began: whoever reads the same import at the same time counts nothing twice.
update ingest_run set bytes_read = %(end)s, lines_read = lines_read + %(lines)s, created = created + %(created)s,
    updated = updated + %(updated)s, unchanged = unchanged + %(unchanged)s, rejected = rejected + %(rejected)s
where organization_id = %(organization_id)s and run_id = %(run_id)s and bytes_read = %(start)s
returning rejected - %(rejected)s;

-- name: reject
insert into ingest_rejection (organization_id, run_id, line, field, reason)
select %(organization_id)s, %(run_id)s, line, field, reason
from unnest(%(lines)s::integer[], %(fields)s::text[], %(reasons)s::text[]) rejected (line, field, reason)
on conflict do nothing;
