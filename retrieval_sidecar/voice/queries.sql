-- name: find_token
select token_id, secret_sha256 from voice_token
where token_id = %(token_id)s and revoked_at is null and expires_at > %(now)s;

-- name: find_agent
-- By the dialled number or by its id, among the organizations that the token may answer for. An id may be that of an
-- agent of several; two rows tell.
select a.organization_id, a.agent_id, a.name, a.language, coalesce(a.region_code, o.default_region), a.prompt,
    a.greeting, a.handoff_number, a.knowledge_mode
from phone_agent a
join organization o on o.organization_id = a.organization_id
join voice_token_grant t on t.organization_id = a.organization_id and t.token_id = %(token_id)s
where case when %(phone_number)s::text is not null
    then (a.organization_id, a.agent_id) = (
        select r.organization_id, r.agent_id from number_route r where r.phone_number = %(phone_number)s)
    else a.agent_id = %(agent_id)s end
    and a.deleted_at is null
limit 2;

-- name: find_contact
select contact_id, name, language from contact
where organization_id = %(organization_id)s and phone_number = %(phone_number)s;

-- name: owned_bases
select base_id from knowledge_base
where organization_id = %(organization_id)s and base_id = any(%(base_ids)s) and for_agents;

-- name: dynamic_instructions
select n.instruction_id, n.title, n.content from instruction n
where n.organization_id = %(organization_id)s and n.dynamic and n.status = 'published' and n.deleted_at is null
    and (
        not exists (
            select from instruction_segment g
            where g.organization_id = n.organization_id and g.instruction_id = n.instruction_id
        )
        or exists (
            select from instruction_segment g
            join contact_segment c on c.organization_id = g.organization_id and c.segment_id = g.segment_id
            where g.organization_id = n.organization_id and g.instruction_id = n.instruction_id
                and c.contact_id = %(contact_id)s
        )
    )
order by n.title, n.instruction_id;

-- name: find_session
select session_id, agent_id, contact_id, scope_snapshot from call_session
where organization_id = %(organization_id)s and call_id = %(call_id)s;

-- name: open_session
insert into call_session (organization_id, agent_id, contact_id, call_id, room_name, narrowed_base_ids, scope_snapshot,
    started_at, last_seen_at)
values (%(organization_id)s, %(agent_id)s, %(contact_id)s, %(call_id)s, %(room_name)s, %(narrowed_base_ids)s,
    %(scope_snapshot)s, %(now)s, %(now)s)
on conflict (organization_id, call_id) do nothing
returning session_id;

-- name: touch_session
-- The session, agent, organization and token must belong together; ended ones are still found.
update call_session s set last_seen_at = greatest(s.last_seen_at, %(now)s)
where s.organization_id = %(organization_id)s and s.session_id = %(session_id)s and s.agent_id = %(agent_id)s
    and exists (
        select from voice_token_grant t where t.organization_id = s.organization_id and t.token_id = %(token_id)s
    )
returning s.session_id;

-- name: add_event
insert into session_event (organization_id, session_id, event_id, type, at, data)
values (%(organization_id)s, %(session_id)s, %(event_id)s, %(type)s, %(at)s, %(data)s)
on conflict do nothing
returning event_id;

-- name: end_session
-- The first terminal status stays.
update call_session s set
    status = case when s.status = 'active' then %(status)s else s.status end,
    end_reason = case when s.status = 'active' then %(reason)s else s.end_reason end,
    ended_at = case when s.status = 'active' then %(now)s else s.ended_at end
where s.organization_id = %(organization_id)s and s.session_id = %(session_id)s and s.agent_id = %(agent_id)s
    and exists (
        select from voice_token_grant t where t.organization_id = s.organization_id and t.token_id = %(token_id)s
    )
returning s.status, s.ended_at;

-- name: end_lost_sessions
-- Calls that no worker ended and of which there was no sign for long.
update call_session set status = 'lost', end_reason = 'no_sign_of_life', ended_at = %(now)s
where status = 'active' and last_seen_at < %(before)s;

-- name: count_open_sessions
-- Of all organizations: what is watched is the installation.
select count(*), count(*) filter (where last_seen_at < %(before)s) from call_session where status = 'active';

-- name: add_token
insert into voice_token (token_id, name, secret_sha256, expires_at)
values (%(token_id)s, %(name)s, %(secret_sha256)s, coalesce(%(expires_at)s, 'infinity'::timestamptz));

-- name: grant_token
insert into voice_token_grant (organization_id, token_id) values (%(organization_id)s, %(token_id)s);

-- name: revoke_token
update voice_token set revoked_at = %(now)s where token_id = %(token_id)s and revoked_at is null returning token_id;
