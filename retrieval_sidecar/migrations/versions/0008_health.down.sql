SET LOCAL lock_timeout = '10s';

drop index call_session_started, search_log_unanswered, search_log_at;
