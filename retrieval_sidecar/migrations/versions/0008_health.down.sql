SET LOCAL lock_timeout = '10s';

drop index search_log_unanswered, search_log_at;
