-- name: calls
select s.session_id, s.call_id, s.agent_id, a.name, s.contact_id, s.status, s.end_reason, s.started_at, s.ended_at, (
        select count(*) from search_log l
        where l.organization_id = s.organization_id and l.session_id = s.session_id
    ) as searches, s.scope_snapshot
from call_session s
join phone_agent a on a.organization_id = s.organization_id and a.agent_id = s.agent_id
where s.organization_id = %(organization_id)s

-- name: list_calls
-- The latest first, and a page back from there.
/*include calls*/
    and (%(agent_id)s::uuid is null or s.agent_id = %(agent_id)s)
    and (%(status)s::text is null or s.status = %(status)s)
    and (%(from)s::timestamptz is null or s.started_at >= %(from)s)
    and (%(to)s::timestamptz is null or s.started_at < %(to)s)
    and (%(before_at)s::timestamptz is null or (s.started_at, s.session_id) < (%(before_at)s, %(before_id)s::uuid))
order by s.started_at desc, s.session_id desc
limit %(limit)s;

-- name: find_call
/*include calls*/ and s.session_id = %(session_id)s;

-- name: events_of_call
select event_id, type, at, data from session_event
where organization_id = %(organization_id)s and session_id = %(session_id)s
order by at, received_at, event_id
limit %(limit)s;

-- name: searches_of_call
-- The log has no more of a question than may be kept.
select search_id, at, query_redacted, language, region_code, status, result_count, citation_count, result_ids, top_score,
    top_relevance, degraded, cross_language_fallback, embed_ms, search_ms, total_ms
from search_log
where organization_id = %(organization_id)s and session_id = %(session_id)s
order by at, search_id
limit %(limit)s;
