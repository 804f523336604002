SET LOCAL lock_timeout = '10s';

-- A key is found by the organization and the id that stand in it; what is stored of the rest is a digest.
create table api_key (
    organization_id uuid not null references organization on delete cascade,
    key_id uuid not null default gen_random_uuid(),
    name text not null,
    secret_sha256 bytea not null check (length(secret_sha256) = 32),
    permissions text[] not null check (
        permissions <@ array['agents.view', 'agents.edit', 'admin'] and cardinality(permissions) > 0
    ),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null default 'infinity',
    revoked_at timestamptz,
    -- To the minute: it is there to tell which key nobody uses any more.
    last_used_at timestamptz,
    primary key (organization_id, key_id)
);

-- Who changed what. `before` and `after` hold ids, names, counts and settings, never what a source says. No reference to
-- the key or the object: the entry outlives both.
create table audit_log (
    organization_id uuid not null references organization on delete cascade,
    entry_id bigint generated always as identity,
    at timestamptz not null,
    actor text not null,
    action text not null,
    object_type text not null,
    object_id uuid not null,
    before jsonb,
    after jsonb,
    primary key (organization_id, entry_id)
);

grant select, insert, update on api_key to answerline_manage;
-- What is written there stays: nobody who manages can rewrite it.
grant select, insert on audit_log to answerline_manage;
