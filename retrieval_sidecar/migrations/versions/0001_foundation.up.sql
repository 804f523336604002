SET LOCAL lock_timeout = '10s';

-- pgvector's needs a superuser, who creates it with the database (`deploy/README.md`); the others are trusted.
create extension if not exists vector;
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Every table that holds a tenant's data leads its keys with organization_id, so that it can be the distribution key.

create table organization (
    organization_id uuid primary key default gen_random_uuid(),
    name text not null,
    time_zone text not null default 'UTC',
    default_language text not null default 'en',
    default_region text not null default 'GLOBAL',
    language_fallbacks jsonb not null default '{}',
    created_at timestamptz not null default now()
);

-- Who may call -------------------------------------------------------------------------------------------------------

create table segment (
    organization_id uuid not null references organization on delete cascade,
    segment_id integer generated always as identity,
    key text not null,
    name text not null,
    primary key (organization_id, segment_id),
    unique (organization_id, key)
);

create table contact (
    organization_id uuid not null references organization on delete cascade,
    contact_id uuid not null default gen_random_uuid(),
    phone_number text not null check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
    name text not null,
    language text,
    primary key (organization_id, contact_id),
    unique (organization_id, phone_number)
);

create table contact_segment (
    organization_id uuid not null,
    contact_id uuid not null,
    segment_id integer not null,
    primary key (organization_id, contact_id, segment_id),
    foreign key (organization_id, contact_id) references contact on delete cascade,
    foreign key (organization_id, segment_id) references segment on delete cascade
);

-- What is known ------------------------------------------------------------------------------------------------------

create table knowledge_base (
    organization_id uuid not null references organization on delete cascade,
    base_id uuid not null default gen_random_uuid(),
    base_key integer generated always as identity,
    name text not null,
    owner_type text not null default 'organization' check (owner_type in ('organization', 'team', 'user')),
    owner_id uuid,
    primary key (organization_id, base_id),
    unique (organization_id, base_key),
    unique (organization_id, name),
    check ((owner_type = 'organization') = (owner_id is null))
);

create table source (
    organization_id uuid not null,
    source_id uuid not null default gen_random_uuid(),
    base_id uuid not null,
    kind text not null check (kind in ('file', 'url', 'text', 'jsonl', 'integration')),
    name text not null,
    status text not null default 'processing' check (status in ('processing', 'ready', 'failed')),
    created_at timestamptz not null default now(),
    primary key (organization_id, source_id),
    unique (organization_id, base_id, name),
    foreign key (organization_id, base_id) references knowledge_base on delete cascade
);

create table folder (
    organization_id uuid not null references organization on delete cascade,
    folder_id integer generated always as identity,
    folder_key text not null,
    primary key (organization_id, folder_id),
    unique (organization_id, folder_key)
);

create table knowledge_item (
    organization_id uuid not null,
    item_id uuid not null default gen_random_uuid(),
    item_key integer generated always as identity,
    source_id uuid not null,
    folder_id integer not null,
    external_id text not null,
    title text not null,
    content text not null,
    source_hash text not null,
    language text not null,
    region_code text not null default 'GLOBAL',
    status text not null default 'draft' check (status in ('draft', 'published')),
    visibility text not null default 'public' check (visibility in ('public', 'internal')),
    channels text[] not null default '{phone}',
    valid_from timestamptz not null default '-infinity',
    valid_to timestamptz not null default 'infinity',
    -- Minutes of the week from Monday 00:00, on the organization's wall clock; null is always.
    open_minutes int4multirange,
    source_url text,
    metadata jsonb not null default '{}',
    deleted_at timestamptz,
    updated_at timestamptz not null default now(),
    primary key (organization_id, item_id),
    unique (organization_id, item_key),
    unique (organization_id, source_id, external_id),
    foreign key (organization_id, source_id) references source on delete cascade,
    foreign key (organization_id, folder_id) references folder,
    check (valid_from < valid_to)
);

create table item_segment (
    organization_id uuid not null,
    item_id uuid not null,
    segment_id integer not null,
    primary key (organization_id, item_id, segment_id),
    foreign key (organization_id, item_id) references knowledge_item on delete cascade,
    -- No cascade: losing its last segment would open the item to everybody.
    foreign key (organization_id, segment_id) references segment
);

create table instruction_directory (
    organization_id uuid not null references organization on delete cascade,
    directory_id uuid not null default gen_random_uuid(),
    parent_id uuid,
    name text not null,
    primary key (organization_id, directory_id),
    unique nulls not distinct (organization_id, parent_id, name),
    foreign key (organization_id, parent_id) references instruction_directory on delete cascade
);

create table instruction (
    organization_id uuid not null,
    instruction_id uuid not null default gen_random_uuid(),
    instruction_key integer generated always as identity,
    directory_id uuid not null,
    title text not null,
    content text not null,
    language text not null,
    status text not null default 'draft' check (status in ('draft', 'published')),
    dynamic boolean not null default false,
    deleted_at timestamptz,
    updated_at timestamptz not null default now(),
    primary key (organization_id, instruction_id),
    unique (organization_id, instruction_key),
    foreign key (organization_id, directory_id) references instruction_directory on delete cascade
);

create table instruction_segment (
    organization_id uuid not null,
    instruction_id uuid not null,
    segment_id integer not null,
    primary key (organization_id, instruction_id, segment_id),
    foreign key (organization_id, instruction_id) references instruction on delete cascade,
    foreign key (organization_id, segment_id) references segment
);

-- Who answers, and what each may say ---------------------------------------------------------------------------------

create table phone_agent (
    organization_id uuid not null references organization on delete cascade,
    agent_id uuid not null default gen_random_uuid(),
    name text not null,
    language text not null,
    region_code text,
    prompt text not null check (length(prompt) <= 30000),
    greeting text not null check (length(greeting) <= 1000),
    handoff_number text check (handoff_number ~ '^\+[1-9][0-9]{1,14}$'),
    knowledge_mode text not null default 'search' check (knowledge_mode in ('search', 'auto')),
    -- Stored, not derived from the selection rows: deleting the last selected item must leave the agent restricted.
    instruction_scope_mode text not null default 'all' check (instruction_scope_mode in ('all', 'selected')),
    knowledge_scope_mode text not null default 'all' check (knowledge_scope_mode in ('all', 'selected')),
    primary key (organization_id, agent_id),
    unique (organization_id, name)
);

create table agent_instruction (
    organization_id uuid not null,
    agent_id uuid not null,
    instruction_id uuid not null,
    primary key (organization_id, agent_id, instruction_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, instruction_id) references instruction on delete cascade
);

create table agent_instruction_directory (
    organization_id uuid not null,
    agent_id uuid not null,
    directory_id uuid not null,
    primary key (organization_id, agent_id, directory_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, directory_id) references instruction_directory on delete cascade
);

create table agent_item (
    organization_id uuid not null,
    agent_id uuid not null,
    item_id uuid not null,
    primary key (organization_id, agent_id, item_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, item_id) references knowledge_item on delete cascade
);

create table agent_folder (
    organization_id uuid not null,
    agent_id uuid not null,
    folder_id integer not null,
    primary key (organization_id, agent_id, folder_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, folder_id) references folder on delete cascade
);

create table agent_knowledge_base (
    organization_id uuid not null,
    agent_id uuid not null,
    base_id uuid not null,
    primary key (organization_id, agent_id, base_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, base_id) references knowledge_base on delete cascade
);

-- Routing, not a tenant's data: a dialled number must lead to one organization before any is known. A reference table
-- where the database is distributed.
create table number_route (
    phone_number text primary key check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
    organization_id uuid not null,
    agent_id uuid not null,
    foreign key (organization_id, agent_id) references phone_agent on delete cascade
);

-- Passages: the text and, apart from it, what the search reads --------------------------------------------------------

-- One embedding model as one organization uses it, with what centres its vectors and calibrates its scores. All that are
-- not filling are written together; the active one answers, and which one that is can be changed by itself.
create table embedding_space (
    organization_id uuid not null references organization on delete cascade,
    space_id integer generated always as identity,
    model text not null,
    dimensions integer not null check (dimensions between 1 and 4000),
    active boolean not null default false,
    -- What `retrieval-sidecar calibrate` made; null is the model's own.
    calibration jsonb,
    -- While it is filled for the first time: it has kept vectors, but not yet one of each passage.
    filling boolean not null default false,
    -- Which partition of passage_vector its vectors are read from and written to: the shared one, or its own.
    partition_id integer not null default 0 check (partition_id in (0, space_id)),
    primary key (organization_id, space_id),
    unique (organization_id, model),
    check (not (active and filling))
);
create unique index embedding_space_one_active on embedding_space (organization_id) where active;

-- What is subtracted from vectors of a language, its passages' and its questions'; '*' is for any other language.
create table language_center (
    organization_id uuid not null,
    space_id integer not null,
    language text not null,
    passages integer not null,
    of_passages vector not null,
    of_queries vector not null,
    primary key (organization_id, space_id, language),
    foreign key (organization_id, space_id) references embedding_space on delete cascade
);

-- Vectors as the model gave them, by the text they are of: unchanged text is never embedded twice, and vectors can be
-- centred anew without asking the model.
create table embedding_cache (
    organization_id uuid not null,
    space_id integer not null,
    text_hash bytea not null,
    embedding halfvec not null,
    primary key (organization_id, space_id, text_hash),
    foreign key (organization_id, space_id) references embedding_space on delete cascade
);

create table passage (
    organization_id uuid not null,
    passage_id bigint generated always as identity,
    item_id uuid,
    instruction_id uuid,
    chunk_index integer not null check (chunk_index >= 0),
    language text not null,
    heading text not null default '',
    content text not null,
    text_hash bytea not null,
    -- Of the title, content and language that it was cut from: it is cut again only when they have changed.
    document_hash bytea,
    primary key (organization_id, passage_id),
    unique nulls not distinct (organization_id, item_id, instruction_id, chunk_index),
    foreign key (organization_id, item_id) references knowledge_item on delete cascade,
    foreign key (organization_id, instruction_id) references instruction on delete cascade,
    check ((item_id is null) <> (instruction_id is null))
);

-- Narrow on purpose: what the eligibility predicate and the distance need, kept in the row (PLAIN), nothing else.
-- owner_key is the item's or the instruction's integer key, by is_instruction. segment_ids and open_minutes are null where
-- there is no such restriction. In this order, because to reach a column PostgreSQL walks over all before it (measured
-- with 6,000 rows: 3.9 ms so, 4.4 with the vector last, 2.4 with nulls for arrays that are empty).
--
-- Partition 0 is shared: ordinary organizations, searched exactly, by btrees. `retrieval-sidecar partition` gives a
-- space of a large organization a partition of its own, where partition_id is its space_id, with an HNSW index: that
-- needs vectors of one dimension, and one space is what has them. The partitions are by partition_id, not by
-- organization_id, for two reasons. A space may so stand in two of them while it is moved, and the one row of
-- embedding_space says which one counts. And there is no default partition, which PostgreSQL would scan, with every
-- search of every organization waiting, to attach another one. Where the database is distributed, organization_id is
-- the distribution column of this table all the same: it leads the keys, and each shard has these partitions.
create table passage_vector (
    organization_id uuid not null,
    space_id integer not null,
    partition_id integer not null,
    passage_id bigint not null,
    valid_from timestamptz not null,
    valid_to timestamptz not null,
    owner_key integer not null,
    is_instruction boolean not null,
    servable boolean not null,
    embedding halfvec not null,
    segment_ids integer[] check (cardinality(segment_ids) > 0),
    open_minutes int4multirange,
    folder_id integer,
    base_key integer,
    language text not null,
    region_code text not null,
    primary key (organization_id, space_id, passage_id, partition_id),
    foreign key (organization_id, space_id) references embedding_space on delete cascade,
    foreign key (organization_id, passage_id) references passage on delete cascade
) partition by list (partition_id);
alter table passage_vector alter column embedding set storage plain;
create index passage_vector_owner on passage_vector (organization_id, space_id, is_instruction, owner_key)
    where servable;
create index passage_vector_folder on passage_vector (organization_id, space_id, folder_id) where servable;
create index passage_vector_base on passage_vector (organization_id, space_id, base_key) where servable;
-- Replaced rows slow each scan down, so they go early: a fifth of a large table, the default, is all of many tenants.
create table passage_vector_shared partition of passage_vector for values in (0)
    with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- A selection of folders or bases is for their indexes, however few there are. Of an organization with three bases the
-- planner would expect that any selection is nearly all of them, and ask each row instead.
alter table passage_vector_shared
    alter column folder_id set (n_distinct = 1000), alter column base_key set (n_distinct = 1000);

-- How many vectors stand where, of the spaces in partitions of their own: from these the choice between exact and
-- approximate search is made. Instructions have the keys 0. `open_rows` of them anyone may see at any time.
create table vector_count (
    organization_id uuid not null,
    space_id integer not null,
    is_instruction boolean not null,
    base_key integer not null,
    folder_id integer not null,
    servable_rows integer not null,
    open_rows integer not null,
    primary key (organization_id, space_id, is_instruction, base_key, folder_id),
    foreign key (organization_id, space_id) references embedding_space on delete cascade
);

create table passage_words (
    organization_id uuid not null,
    passage_id bigint not null,
    words tsvector not null,
    primary key (organization_id, passage_id),
    foreign key (organization_id, passage_id) references passage on delete cascade
);
create index passage_words_gin on passage_words using gin (organization_id, words);

-- Words that so many of an organization's passages hold (COMMON in ingest) that a search for everything spares itself
-- the look-up.
create table common_word (
    organization_id uuid not null references organization on delete cascade,
    word text not null,
    passages integer not null,
    primary key (organization_id, word)
);

-- Codes as callers say them: normalised, so that "PIN-44-X" is met by "pin 44 x".
create table passage_code (
    organization_id uuid not null,
    code text not null,
    passage_id bigint not null,
    primary key (organization_id, code, passage_id),
    foreign key (organization_id, passage_id) references passage on delete cascade
);
create index passage_code_passage on passage_code (organization_id, passage_id);

-- Calls --------------------------------------------------------------------------------------------------------------

create table call_session (
    organization_id uuid not null references organization on delete cascade,
    session_id uuid not null default gen_random_uuid(),
    agent_id uuid not null,
    contact_id uuid,
    call_id text not null,
    room_name text not null,
    narrowed_base_ids uuid[],
    scope_snapshot jsonb not null,
    status text not null default 'active' check (status in ('active', 'completed', 'transferred', 'failed', 'lost')),
    end_reason text,
    started_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (organization_id, session_id),
    unique (organization_id, call_id),
    foreign key (organization_id, agent_id) references phone_agent on delete cascade,
    foreign key (organization_id, contact_id) references contact on delete set null (contact_id),
    check ((status = 'active') = (ended_at is null))
);
create index call_session_active on call_session (organization_id, last_seen_at) where status = 'active';

create table session_event (
    organization_id uuid not null,
    session_id uuid not null,
    event_id uuid not null,
    type text not null,
    at timestamptz not null,
    data jsonb not null,
    received_at timestamptz not null default now(),
    primary key (organization_id, session_id, event_id),
    foreign key (organization_id, session_id) references call_session on delete cascade
);

create table search_log (
    organization_id uuid not null,
    search_id uuid not null,
    session_id uuid not null,
    at timestamptz not null default now(),
    query_redacted text not null,
    language text not null,
    region_code text not null,
    status text not null check (status in ('ok', 'no_match', 'restricted_empty')),
    result_count integer not null,
    citation_count integer not null,
    result_ids uuid[] not null,
    top_score real,
    top_relevance real,
    cross_language_fallback boolean not null,
    degraded boolean not null,
    embed_ms real not null,
    search_ms real not null,
    total_ms real not null,
    primary key (organization_id, search_id),
    foreign key (organization_id, session_id) references call_session on delete cascade
);
create index search_log_session on search_log (organization_id, session_id, at);

-- Voice tokens belong to the installation; the grants say which organizations' calls their workers may answer.
create table voice_token (
    token_id uuid primary key default gen_random_uuid(),
    name text not null,
    secret_sha256 bytea not null check (length(secret_sha256) = 32),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null default 'infinity',
    revoked_at timestamptz
);

create table voice_token_grant (
    organization_id uuid not null references organization on delete cascade,
    token_id uuid not null references voice_token on delete cascade,
    primary key (organization_id, token_id)
);

-- Roles: the voice API reads what search needs and writes calls; it can neither edit knowledge nor widen a scope.
do $$
begin
    if not exists (select from pg_roles where rolname = 'answerline_voice') then
        create role answerline_voice login;
    end if;
    if not exists (select from pg_roles where rolname = 'answerline_manage') then
        create role answerline_manage login;
    end if;
exception when duplicate_object or unique_violation then null; -- another database of this cluster was quicker
end
$$;
grant usage on schema public to answerline_voice, answerline_manage;
grant select on all tables in schema public to answerline_voice;
grant insert, update on call_session to answerline_voice;
grant insert on session_event, search_log to answerline_voice;
grant select, insert, update, delete on all tables in schema public to answerline_manage;
revoke all on voice_token, voice_token_grant from answerline_manage;
revoke insert, update, delete on alembic_version from answerline_manage;

-- Whoever loads knowledge also vacuums after it: scans slow down while replaced rows are still there.
do $$
begin
    if current_setting('server_version_num')::integer >= 170000 then
        grant maintain on passage, passage_vector, passage_vector_shared, passage_words, passage_code
            to answerline_manage;
    end if;
end
$$;
