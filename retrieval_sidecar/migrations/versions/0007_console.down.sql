SET LOCAL lock_timeout = '10s';

drop index call_session_started;
drop table console_session;
