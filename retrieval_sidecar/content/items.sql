-- name: segments
select key, segment_id from segment where organization_id = %(organization_id)s and key = any(%(keys)s);

-- name: organization
select time_zone, default_language, default_region from organization where organization_id = %(organization_id)s;

-- name: columns
-- As operators see an item. A window from before the year 1900, or until the last day that there is, is open.
i.item_key, i.item_id, s.base_id, i.source_id, s.kind, s.is_written, i.external_id, i.title, i.language, i.region_code,
    i.status, i.visibility, i.channels, array(
        select g.key from item_segment x
        join segment g on g.organization_id = x.organization_id and g.segment_id = x.segment_id
        where x.organization_id = i.organization_id and x.item_id = i.item_id
        order by g.key
    ) as segments,
    case when i.valid_from >= '1900-01-01 00:00Z' then i.valid_from end as valid_from,
    case when i.valid_to < '9999-12-31 00:00Z' then i.valid_to end as valid_until,
    i.open_minutes, i.source_url, f.folder_key, i.set_by_hand, i.updated_at,
    w.document_id is null and exists (
        select from passage p where p.organization_id = i.organization_id and p.item_id = i.item_id
    ) as is_indexed, w.error_code, w.error

-- name: tables
from knowledge_item i
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
join folder f on f.organization_id = i.organization_id and f.folder_id = i.folder_id
left join waiting_document w on w.organization_id = i.organization_id and w.document_id = i.item_id

-- name: find
select /*include columns*/, i.content /*include tables*/
where i.organization_id = %(organization_id)s and i.item_id = %(item_id)s and i.deleted_at is null;

-- name: list
-- Those of a team's or a person's base are theirs until they publish it. `filters` are of the fragments below: each has an index to itself, or is
-- looked at in the order of the list.
select /*include columns*/, null as content /*include tables*/
where i.organization_id = %(organization_id)s and i.item_key > %(after)s and i.deleted_at is null
    and (b.for_agents or exists (
        select from base_owner o
        where o.organization_id = b.organization_id and o.base_id = b.base_id and o.member_id = %(member_id)s
    )) {filters}
order by i.item_key
limit %(limit)s;

-- name: of_base
-- Source by source, so that each is read in its order.
and i.source_id = any(array(
    select source_id from source where organization_id = %(organization_id)s and base_id = %(of_base)s
))

-- name: of_source
and i.source_id = %(of_source)s

-- name: in_folder
and i.folder_id = (
    select folder_id from folder where organization_id = %(organization_id)s and folder_key = %(in_folder)s
)

-- name: with_status
and i.status = %(with_status)s

-- name: with_visibility
and i.visibility = %(with_visibility)s

-- name: in_language
and i.language = %(in_language)s

-- name: for_segment
and exists (
    select from item_segment x
    join segment g on g.organization_id = x.organization_id and g.segment_id = x.segment_id
    where x.organization_id = i.organization_id and x.item_id = i.item_id and g.key = %(for_segment)s
)

-- name: written_source
select source_id from source where organization_id = %(organization_id)s and base_id = %(base_id)s and is_written;

-- name: add_written_source
-- Ready from the beginning: nothing is read from it, and each of its items is found as soon as it is indexed.
insert into source (organization_id, base_id, kind, name, status, is_written, created_by, processed_at)
values (%(organization_id)s, %(base_id)s, 'text', %(name)s, 'ready', true, %(created_by)s, now())
on conflict (organization_id, base_id, name) do nothing
returning source_id;

-- name: count_items
select count(*) from knowledge_item where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: upsert_folder
insert into folder (organization_id, folder_key) values (%(organization_id)s, %(folder_key)s)
on conflict (organization_id, folder_key) do update set folder_key = excluded.folder_key
returning folder_id;

-- name: insert
insert into knowledge_item (organization_id, item_id, source_id, folder_id, external_id, title, content, source_hash,
    language, region_code, status, visibility, channels, valid_from, valid_to, open_minutes, source_url)
values (%(organization_id)s, %(item_id)s, %(source_id)s, %(folder_id)s, %(item_id)s::text, %(title)s, %(content)s,
    %(source_hash)s, %(language)s, %(region_code)s, %(status)s, %(visibility)s, %(channels)s, %(valid_from)s, %(valid_to)s,
    %(open_minutes)s, %(source_url)s);

-- name: update
-- What is given; the rest is as it was, and so is how it is stored.
update knowledge_item set
    title = case when 'title' = any(%(given)s) then %(title)s else title end,
    content = case when 'content' = any(%(given)s) then %(content)s else content end,
    source_hash = case when 'content' = any(%(given)s) then %(source_hash)s else source_hash end,
    language = case when 'language' = any(%(given)s) then %(language)s else language end,
    region_code = case when 'region_code' = any(%(given)s) then %(region_code)s else region_code end,
    status = case when 'status' = any(%(given)s) then %(status)s else status end,
    visibility = case when 'visibility' = any(%(given)s) then %(visibility)s else visibility end,
    channels = case when 'channels' = any(%(given)s) then %(channels)s::text[] else channels end,
    valid_from = case when 'valid_from' = any(%(given)s) then %(valid_from)s::timestamptz else valid_from end,
    valid_to = case when 'valid_until' = any(%(given)s) then %(valid_to)s::timestamptz else valid_to end,
    open_minutes = case
        when 'schedule' = any(%(given)s) then %(open_minutes)s::int4multirange else open_minutes
    end,
    source_url = case when 'source_url' = any(%(given)s) then %(source_url)s else source_url end,
    folder_id = case when 'folder_key' = any(%(given)s) then %(folder_id)s::integer else folder_id end,
    set_by_hand = array(
        select distinct field from unnest(set_by_hand || %(set_by_hand)s::text[]) field order by field
    ),
    updated_at = now()
where organization_id = %(organization_id)s and item_id = %(item_id)s;

-- name: clear_segments
delete from item_segment where organization_id = %(organization_id)s and item_id = %(item_id)s;

-- name: add_segments
insert into item_segment (organization_id, item_id, segment_id)
select %(organization_id)s, %(item_id)s, unnest(%(segment_ids)s::integer[]);

-- name: count_characters
-- Of what is written by hand: those of other sources are counted when they are read.
update source set characters = greatest(0, characters + %(more)s)
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: delete
delete from knowledge_item where organization_id = %(organization_id)s and item_id = %(item_id)s;

-- name: keep_away
-- Of an import: were the row gone, its file would bring the item back.
update knowledge_item set deleted_at = now(), set_by_hand = set_by_hand || '{deleted}', updated_at = now()
where organization_id = %(organization_id)s and item_id = %(item_id)s;

-- name: unselect
-- As of a row that is gone; the agents' modes stay.
delete from agent_item where organization_id = %(organization_id)s and item_id = %(item_id)s;
