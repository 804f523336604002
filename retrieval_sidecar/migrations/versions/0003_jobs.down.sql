SET LOCAL lock_timeout = '10s';

drop schema jobs cascade;
