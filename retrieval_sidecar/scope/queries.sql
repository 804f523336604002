-- name: scope_columns
-- Everything that decides what a call may hear. `s` has the organization, the agent, the contact and the narrowing.
    s.contact_id,
    o.time_zone,
    o.default_language,
    o.default_region,
    o.language_fallbacks,
    a.language,
    a.region_code,
    e.space_id,
    e.model,
    e.calibration,
    array(
        select c.segment_id from contact_segment c
        where c.organization_id = s.organization_id and c.contact_id = s.contact_id
    ) as segment_ids,
    case when a.instruction_scope_mode = 'selected' then array(
        with recursive tree as (
            select d.directory_id from agent_instruction_directory d
            where d.organization_id = a.organization_id and d.agent_id = a.agent_id
            union
            select child.directory_id from instruction_directory child join tree on child.parent_id = tree.directory_id
            where child.organization_id = a.organization_id
        )
        select n.instruction_key from instruction n
        where n.organization_id = a.organization_id and (
            n.directory_id in (select directory_id from tree)
            or exists (
                select from agent_instruction x
                where x.organization_id = a.organization_id and x.agent_id = a.agent_id
                    and x.instruction_id = n.instruction_id
            )
        )
    ) end as instruction_keys,
    a.knowledge_scope_mode = 'selected' as knowledge_selected,
    array(
        select i.item_key from agent_item x
        join knowledge_item i on i.organization_id = x.organization_id and i.item_id = x.item_id
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id
    ) as item_keys,
    array(
        select x.folder_id from agent_folder x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id
    ) as folder_ids,
    array(
        select b.base_key from agent_knowledge_base x
        join knowledge_base b on b.organization_id = x.organization_id and b.base_id = x.base_id
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id
    ) as base_keys,
    case when s.narrowed_base_ids is not null then array(
        select b.base_key from knowledge_base b
        where b.organization_id = s.organization_id and b.base_id = any(s.narrowed_base_ids)
    ) end as narrowed_base_keys,
    coalesce(e.partition_id, 0) as partition_id,
    coalesce(e.dimensions, 0) as dimensions

-- name: of_session
-- Read afresh for each search. No row: session, agent, organization and token do not belong together, or the call has
-- ended.
select /*include scope_columns*/
from call_session s
join phone_agent a on a.organization_id = s.organization_id and a.agent_id = s.agent_id and a.deleted_at is null
join organization o on o.organization_id = s.organization_id
join voice_token_grant t on t.organization_id = s.organization_id and t.token_id = %(token_id)s
left join embedding_space e on e.organization_id = s.organization_id and e.active
where s.organization_id = %(organization_id)s and s.session_id = %(session_id)s and s.agent_id = %(agent_id)s
    and s.status = 'active';

-- name: of_agent
-- What a call of this contact to this agent would hear, without a call.
select /*include scope_columns*/
from (
    select a.organization_id, a.agent_id, null::uuid[] as narrowed_base_ids, (
        select c.contact_id from contact c
        where c.organization_id = a.organization_id and c.phone_number = %(caller_number)s
    ) as contact_id
    from phone_agent a
    where a.organization_id = %(organization_id)s and a.agent_id = %(agent_id)s and a.deleted_at is null
) s
join phone_agent a on a.organization_id = s.organization_id and a.agent_id = s.agent_id
join organization o on o.organization_id = s.organization_id
left join embedding_space e on e.organization_id = s.organization_id and e.active;

-- name: of_base
-- All that an unknown caller, or a contact, may be told of one base, whatever agents select. No row: the base or the
-- contact is not the organization's, or the base is another team's or person's alone.
select /*include scope_columns*/,
    s.with_reserved
from (
    select b.organization_id, array[b.base_id] as narrowed_base_ids, c.contact_id, not b.for_agents as with_reserved
    from knowledge_base b
    left join contact c on c.organization_id = b.organization_id and c.contact_id = %(contact_id)s
    where b.organization_id = %(organization_id)s and b.base_id = %(base_id)s
        and (%(contact_id)s::uuid is null or c.contact_id is not null)
        and (b.for_agents or exists (
            select from base_owner w
            where w.organization_id = b.organization_id and w.base_id = b.base_id and w.member_id = %(member_id)s
        ))
) s
join organization o on o.organization_id = s.organization_id
-- In an agent's place: no instructions, all knowledge.
cross join lateral (
    select s.organization_id, null::uuid as agent_id, o.default_language as language, null::text as region_code,
        'selected' as instruction_scope_mode, 'all' as knowledge_scope_mode
) a
left join embedding_space e on e.organization_id = s.organization_id and e.active;

-- name: selected
-- By both categories: the mode and what is named, but for folders and bases.
    a.instruction_scope_mode,
    array(
        select x.instruction_id from agent_instruction x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id order by 1
    ),
    array(
        select x.directory_id from agent_instruction_directory x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id order by 1
    ),
    a.knowledge_scope_mode,
    array(
        select x.item_id from agent_item x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id order by 1
    )

-- name: snapshot
-- What is selected, as the operator sees it; for the session's record.
select
    /*include selected*/,
    array(
        select f.folder_key from agent_folder x
        join folder f on f.organization_id = x.organization_id and f.folder_id = x.folder_id
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        union all
        select 'base:' || x.base_id from agent_knowledge_base x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id
        order by 1
    )
from phone_agent a
where a.organization_id = %(organization_id)s and a.agent_id = %(agent_id)s and a.deleted_at is null;

-- name: selection
-- All that an operator has selected, as one statement sees it. A base's own folder, which only files written by hand can
-- have selected, is none of the keys that the API speaks.
select
    /*include selected*/,
    array(
        select f.folder_key from agent_folder x
        join folder f on f.organization_id = x.organization_id and f.folder_id = x.folder_id
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id and f.folder_key not like 'base:%%'
        order by 1
    ),
    array(
        select x.base_id from agent_knowledge_base x
        where x.organization_id = a.organization_id and x.agent_id = a.agent_id order by 1
    )
from phone_agent a
where a.organization_id = %(organization_id)s and a.agent_id = %(agent_id)s and a.deleted_at is null;
