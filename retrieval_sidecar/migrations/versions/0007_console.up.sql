SET LOCAL lock_timeout = '10s';

-- A browser that an API key signed in. It is found by the organization and the id that stand in its cookie; what is stored
-- of the rest is a digest. What it may do is read from its key each time: it ends with it.
create table console_session (
    organization_id uuid not null references organization on delete cascade,
    session_id uuid not null,
    key_id uuid not null,
    secret_sha256 bytea not null check (length(secret_sha256) = 32),
    created_at timestamptz not null,
    -- To the minute.
    last_seen_at timestamptz not null,
    ends_at timestamptz not null,
    primary key (organization_id, session_id),
    foreign key (organization_id, key_id) references api_key on delete cascade
);
create index console_session_key on console_session (organization_id, key_id);

grant select, insert, update, delete on console_session to answerline_manage;

-- The list of calls goes back from the latest, or from a time.
create index call_session_started on call_session (organization_id, started_at desc, session_id desc);
