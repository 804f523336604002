-- name: columns
n.instruction_key, n.instruction_id, n.title, n.directory_id, n.language, n.status, n.dynamic, array(
        select g.key from instruction_segment x
        join segment g on g.organization_id = x.organization_id and g.segment_id = x.segment_id
        where x.organization_id = n.organization_id and x.instruction_id = n.instruction_id
        order by g.key
    ) as segments,
    n.updated_at, w.document_id is null and exists (
        select from passage p
        where p.organization_id = n.organization_id and p.item_id is null and p.instruction_id = n.instruction_id
    ) as is_indexed, w.error_code, w.error, n.content

-- name: find
select /*include columns*/
from instruction n
left join waiting_document w on w.organization_id = n.organization_id and w.document_id = n.instruction_id
where n.organization_id = %(organization_id)s and n.instruction_id = %(instruction_id)s and n.deleted_at is null;

-- name: default_language
select default_language from organization where organization_id = %(organization_id)s;

-- name: count
select count(*) from instruction where organization_id = %(organization_id)s;

-- name: dynamic_characters
-- What is appended to prompts: of an organization, as no caller is known yet.
select coalesce(sum(length(n.title) + length(n.content)), 0)::bigint from instruction n
where n.organization_id = %(organization_id)s and n.dynamic and n.status = 'published' and n.deleted_at is null;

-- name: insert
insert into instruction (organization_id, directory_id, title, content, language, status, dynamic)
values (%(organization_id)s, %(directory_id)s, %(title)s, %(content)s, %(language)s, %(status)s, %(dynamic)s)
returning instruction_id;

-- name: update
-- A null leaves what is there.
update instruction set
    directory_id = coalesce(%(directory_id)s, directory_id), title = coalesce(%(title)s, title),
    content = coalesce(%(content)s, content), language = coalesce(%(language)s, language),
    status = coalesce(%(status)s, status), dynamic = coalesce(%(dynamic)s, dynamic), updated_at = now()
where organization_id = %(organization_id)s and instruction_id = %(instruction_id)s;

-- name: clear_segments
delete from instruction_segment
where organization_id = %(organization_id)s and instruction_id = %(instruction_id)s;

-- name: add_segments
insert into instruction_segment (organization_id, instruction_id, segment_id)
select %(organization_id)s, %(instruction_id)s, unnest(%(segment_ids)s::integer[]);

-- name: delete
-- Selections go with it; the agents' modes stay.
delete from instruction where organization_id = %(organization_id)s and instruction_id = %(instruction_id)s;

-- name: directory
select d.directory_id, d.parent_id, d.name, (
        select count(*) from instruction n
        where n.organization_id = d.organization_id and n.directory_id = d.directory_id and n.deleted_at is null
    ), (
        select count(*) from instruction_directory c
        where c.organization_id = d.organization_id and c.parent_id = d.directory_id
    )
from instruction_directory d
where d.organization_id = %(organization_id)s and d.directory_id = %(directory_id)s;

-- name: count_directories
select count(*) from instruction_directory where organization_id = %(organization_id)s;

-- name: insert_directory
insert into instruction_directory (organization_id, parent_id, name)
values (%(organization_id)s, %(parent_id)s, %(name)s)
on conflict (organization_id, parent_id, name) do nothing
returning directory_id;

-- name: update_directory
update instruction_directory set name = %(name)s, parent_id = %(parent_id)s
where organization_id = %(organization_id)s and directory_id = %(directory_id)s;

-- name: has_sibling
-- Of this name below this parent, which may be none: the top.
select exists (
    select from instruction_directory d
    where d.organization_id = %(organization_id)s and d.parent_id is not distinct from %(parent_id)s::uuid
        and d.name = %(name)s and d.directory_id <> %(directory_id)s
);

-- name: path
-- A directory and those above it, to the top.
with recursive path as (
    select d.directory_id, d.parent_id from instruction_directory d
    where d.organization_id = %(organization_id)s and d.directory_id = %(directory_id)s
    union
    select above.directory_id, above.parent_id
    from path
    join instruction_directory above
        on above.organization_id = %(organization_id)s and above.directory_id = path.parent_id
)
select directory_id from path;

-- name: height
-- How many directories stand one below the other here, the directory itself among them.
with recursive tree as (
    select d.directory_id, 1 as depth from instruction_directory d
    where d.organization_id = %(organization_id)s and d.directory_id = %(directory_id)s
    union
    select below.directory_id, tree.depth + 1
    from tree
    join instruction_directory below
        on below.organization_id = %(organization_id)s and below.parent_id = tree.directory_id
)
select coalesce(max(depth), 0) from tree;

-- name: delete_directory
delete from instruction_directory where organization_id = %(organization_id)s and directory_id = %(directory_id)s;
