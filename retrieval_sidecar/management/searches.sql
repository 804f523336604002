-- name: searches
-- Redacted as they were written. The place to go on from is a bound of the index, whether or not there is one.
select l.search_id, l.session_id, l.at, l.query_redacted, l.language, l.region_code, l.status, l.result_count,
    l.citation_count, l.result_ids, l.top_score, l.top_relevance, l.degraded, l.cross_language_fallback, l.embed_ms,
    l.search_ms, l.total_ms, a.agent_id, a.name as agent_name
from search_log l
join call_session s on s.organization_id = l.organization_id and s.session_id = l.session_id
join phone_agent a on a.organization_id = s.organization_id and a.agent_id = s.agent_id
where l.organization_id = %(organization_id)s
    and l.at >= coalesce(%(from)s::timestamptz, '-infinity') and l.at < coalesce(%(to)s::timestamptz, 'infinity')
    and (l.at, l.search_id) < (
        coalesce(%(before_at)s::timestamptz, 'infinity'),
        coalesce(%(before_id)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    )
    and (%(status)s::text is null or l.status = %(status)s)
    and (%(degraded)s::boolean is null or l.degraded = %(degraded)s)
    and (%(agent_id)s::uuid is null or s.agent_id = %(agent_id)s)

-- name: list_searches
-- The latest first, and a page back from there.
/*include searches*/
order by l.at desc, l.search_id desc
limit %(limit)s;

-- name: list_searches_of_call
-- Apart, so that it is asked of the index of its own: one plan serves all values of a parameter.
/*include searches*/
    and l.session_id = %(session_id)s
order by l.at desc, l.search_id desc
limit %(limit)s;
