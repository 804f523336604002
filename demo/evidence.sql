-- name: sessions
-- The calls that these call ids are, as the sidecar stored them.
select s.call_id, s.session_id, s.status, s.end_reason, s.scope_snapshot
from call_session s
where s.organization_id = %(organization_id)s and s.call_id = any(%(call_ids)s);

-- name: events
select e.session_id, e.type, e.at, e.data from session_event e
where e.organization_id = %(organization_id)s and e.session_id = any(%(session_ids)s)
order by e.at, e.event_id;

-- name: searches
select l.session_id, l.search_id, l.status, l.result_ids, l.cross_language_fallback, l.embed_ms, l.search_ms, l.total_ms
from search_log l
where l.organization_id = %(organization_id)s and l.session_id = any(%(session_ids)s)
order by l.at;

-- name: items
select item_id, external_id from knowledge_item where organization_id = %(organization_id)s;
