SET LOCAL lock_timeout = '10s';

-- For lists and statistics of a time; until now the log was looked into by the call alone.
create index search_log_at on search_log (organization_id, at, search_id);
create index search_log_unanswered on search_log (organization_id, at) where status = 'no_match';
