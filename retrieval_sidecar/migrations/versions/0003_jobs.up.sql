SET LOCAL lock_timeout = '10s';

-- After the library's own schema: who manages knowledge puts jobs into the queue, and works on them.
grant usage on schema jobs to answerline_manage;
grant select, insert, update, delete on all tables in schema jobs to answerline_manage;
grant usage on all sequences in schema jobs to answerline_manage;
