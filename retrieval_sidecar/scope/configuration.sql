-- name: owned_instructions
select instruction_id from instruction
where organization_id = %(organization_id)s and instruction_id = any(%(asked)s) and deleted_at is null;

-- name: owned_directories
select directory_id from instruction_directory
where organization_id = %(organization_id)s and directory_id = any(%(asked)s);

-- name: owned_items
-- Not those in a base that a team or a person has to themselves, which no agent searches.
select i.item_id from knowledge_item i
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
where i.organization_id = %(organization_id)s and i.item_id = any(%(asked)s) and i.deleted_at is null
    and b.for_agents;

-- name: owned_folders
-- One in which something stands that is for agents: of others the name may say too much.
select f.folder_key from folder f
where f.organization_id = %(organization_id)s and f.folder_key = any(%(asked)s) and /*include is_shown*/;

-- name: owned_bases
select base_id from knowledge_base
where organization_id = %(organization_id)s and base_id = any(%(asked)s) and for_agents;

-- name: clear_instructions
delete from agent_instruction where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: add_instructions
insert into agent_instruction (organization_id, agent_id, instruction_id)
select %(organization_id)s, %(agent_id)s, unnest(%(asked)s::uuid[]);

-- name: clear_directories
delete from agent_instruction_directory where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: add_directories
insert into agent_instruction_directory (organization_id, agent_id, directory_id)
select %(organization_id)s, %(agent_id)s, unnest(%(asked)s::uuid[]);

-- name: clear_items
delete from agent_item where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: add_items
insert into agent_item (organization_id, agent_id, item_id)
select %(organization_id)s, %(agent_id)s, unnest(%(asked)s::uuid[]);

-- name: clear_folders
delete from agent_folder where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: add_folders
insert into agent_folder (organization_id, agent_id, folder_id)
select f.organization_id, %(agent_id)s, f.folder_id from folder f
where f.organization_id = %(organization_id)s and f.folder_key = any(%(asked)s);

-- name: clear_bases
delete from agent_knowledge_base where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: add_bases
insert into agent_knowledge_base (organization_id, agent_id, base_id)
select %(organization_id)s, %(agent_id)s, unnest(%(asked)s::uuid[]);

-- name: set_modes
-- In the transaction that writes the rows, and from the rows themselves. No other statement of the product changes a mode
-- by what is selected: what disappears leaves the agent restricted.
update phone_agent a set
    instruction_scope_mode = case
        when not %(instructions)s then a.instruction_scope_mode
        when exists (
            select from agent_instruction x where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        ) or exists (
            select from agent_instruction_directory x
            where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        ) then 'selected'
        else 'all'
    end,
    knowledge_scope_mode = case
        when not %(knowledge)s then a.knowledge_scope_mode
        when exists (
            select from agent_item x where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        ) or exists (
            select from agent_folder x where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        ) or exists (
            select from agent_knowledge_base x where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        ) then 'selected'
        else 'all'
    end
where a.organization_id = %(organization_id)s and a.agent_id = %(agent_id)s;

-- name: agents
-- Names are cut for the order, so that a cursor, which holds one, has an end.
select a.agent_id, a.name, a.language, a.region_code, a.instruction_scope_mode, a.knowledge_scope_mode, array(
        select r.phone_number from number_route r
        where r.organization_id = a.organization_id and r.agent_id = a.agent_id order by 1 limit 100
    ) as numbers
from phone_agent a
where a.organization_id = %(organization_id)s and a.deleted_at is null

-- name: list_agents
/*include agents*/ and (left(a.name, 200), a.agent_id) > (%(after_name)s, %(after_id)s)
order by left(a.name, 200), a.agent_id
limit %(limit)s;

-- name: find_agent
/*include agents*/ and a.agent_id = %(agent_id)s;

-- name: is_shown
exists (
    select from knowledge_item i
    join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
    join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
    where i.organization_id = f.organization_id and i.folder_id = f.folder_id and b.for_agents
)

-- name: selectable
-- What may be selected of items: drafts too, so that publishing one needs no second look at each agent.
i.visibility = 'public' and 'phone' = any(i.channels) and i.deleted_at is null

-- name: shown_bases
-- Bases, which have a key as a folder has one.
select 'base:' || b.base_id as key, b.name, null::integer as folder_id, b.base_id, exists (
        select from agent_knowledge_base x
        where x.organization_id = b.organization_id and x.agent_id = %(agent_id)s and x.base_id = b.base_id
    ) as is_selected
from knowledge_base b
where b.organization_id = %(organization_id)s and b.for_agents

-- name: shown_folders
-- Folders with something in them.
select f.folder_key, null, f.folder_id, null::uuid, exists (
        select from agent_folder x
        where x.organization_id = f.organization_id and x.agent_id = %(agent_id)s and x.folder_id = f.folder_id
    )
from folder f
where f.organization_id = %(organization_id)s and f.folder_key not like 'base:%%' and /*include is_shown*/

-- name: chosen
-- What an agent has selected item by item, of what may be.
select i.folder_id, s.base_id from agent_item x
join knowledge_item i on i.organization_id = x.organization_id and i.item_id = x.item_id
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
where x.organization_id = %(organization_id)s and x.agent_id = %(agent_id)s and b.for_agents
    and /*include selectable*/

-- name: counted
-- How much is in the folders and bases of a page, from the indexes of items: those of other pages are not looked at. Each
-- by its own condition and fenced, or one plan for both would have neither index.
select p.key, p.name, case when p.folder_id is null then (
        select coalesce(sum(of_source.items), 0)::bigint
        from source s
        cross join lateral (
            select count(*) as items from knowledge_item i
            where i.organization_id = %(organization_id)s and i.source_id = s.source_id and /*include selectable*/
        ) of_source
        where s.organization_id = %(organization_id)s and s.base_id = p.base_id
    ) else (
        select count(*) from knowledge_item i
        join source s on s.organization_id = %(organization_id)s and s.source_id = i.source_id
        join knowledge_base b on b.organization_id = %(organization_id)s and b.base_id = s.base_id
        where i.organization_id = %(organization_id)s and i.folder_id = p.folder_id and b.for_agents
            and /*include selectable*/
    ) end as items, p.is_selected, p.selected
from page p

-- name: list_folders
-- Keys are ASCII: their order is that of bytes in every database, and that of an index.
with page as materialized (
    select *, 0::bigint as selected from (
        (/*include shown_bases*/)
        union all
        (
            /*include shown_folders*/ and f.folder_key collate "C" > %(after)s
            order by f.folder_key collate "C"
            limit %(limit)s
        )
    ) shown
    where key collate "C" > %(after)s
    order by key collate "C"
    limit %(limit)s
)
/*include counted*/
order by p.key collate "C";

-- name: folders_of_agent
with chosen as materialized (/*include chosen*/),
of_folders as (select folder_id, count(*) as items from chosen group by folder_id),
of_bases as (select base_id, count(*) as items from chosen group by base_id),
page as materialized (
    select * from (
        select shown.*, coalesce(f.items, b.items, 0) as selected
        from (/*include shown_bases*/ union all /*include shown_folders*/) shown
        left join of_folders f on f.folder_id = shown.folder_id
        left join of_bases b on b.base_id = shown.base_id
    ) counted
    order by is_selected desc, selected > 0 desc, key collate "C"
    limit %(limit)s
)
/*include counted*/
order by p.is_selected desc, p.selected > 0 desc, p.key collate "C";

-- name: folder_exists
select exists (
    select from folder f
    where f.organization_id = %(organization_id)s and f.folder_key = %(folder_key)s and /*include is_shown*/
);

-- name: items_of_folder
select i.item_key, i.item_id, i.title, i.status from knowledge_item i
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
where i.organization_id = %(organization_id)s and i.item_key > %(after)s and i.folder_id = (
        select folder_id from folder where organization_id = %(organization_id)s and folder_key = %(folder_key)s
    )
    and b.for_agents and /*include selectable*/
order by i.item_key
limit %(limit)s;

-- name: items_of_base
-- A page of each source, each by its index, and the first of them all.
select i.item_key, i.item_id, i.title, i.status
from source s
cross join lateral (
    select * from knowledge_item i
    where i.organization_id = %(organization_id)s and i.source_id = s.source_id and i.item_key > %(after)s
        and /*include selectable*/
    order by i.item_key
    limit %(limit)s
) i
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s
order by i.item_key
limit %(limit)s;

-- name: directories
select d.directory_id, d.parent_id, d.name, (
        select count(*) from instruction n
        where n.organization_id = d.organization_id and n.directory_id = d.directory_id and n.deleted_at is null
    ) as instructions, exists (
        select from agent_instruction_directory x
        where x.organization_id = d.organization_id and x.agent_id = %(agent_id)s and x.directory_id = d.directory_id
    ) as is_selected, (
        select count(*) from instruction n
        join agent_instruction x on x.organization_id = n.organization_id and x.instruction_id = n.instruction_id
        where n.organization_id = d.organization_id and n.directory_id = d.directory_id and n.deleted_at is null
            and x.agent_id = %(agent_id)s
    ) as selected
from instruction_directory d
where d.organization_id = %(organization_id)s

-- name: list_directories
/*include directories*/ and (left(d.name, 200), d.directory_id) > (%(after_name)s, %(after_id)s)
order by left(d.name, 200), d.directory_id
limit %(limit)s;

-- name: directories_of_agent
/*include directories*/
order by is_selected desc, left(d.name, 200), d.directory_id
limit %(limit)s;

-- name: list_instructions
select n.instruction_key, n.instruction_id, n.title, n.directory_id, n.status from instruction n
where n.organization_id = %(organization_id)s and n.instruction_key > %(after)s and n.deleted_at is null
    and (%(directory_id)s::uuid is null or n.directory_id = %(directory_id)s)
order by n.instruction_key
limit %(limit)s;
