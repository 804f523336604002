SET LOCAL lock_timeout = '10s';

-- For lists and statistics of a time; until now both logs were looked into by the call alone.
create index search_log_at on search_log (organization_id, at, search_id);
create index search_log_unanswered on search_log (organization_id, at) where status = 'no_match';
create index call_session_started on call_session (organization_id, started_at, session_id);
