SET LOCAL lock_timeout = '10s';

drop table audit_log, api_key;
