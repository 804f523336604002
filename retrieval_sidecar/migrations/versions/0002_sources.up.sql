SET LOCAL lock_timeout = '10s';

-- `status` says whether what a source yields may be returned. It stays ready while the source is read again, and where
-- that fails: what was searchable goes on answering until there is something to take its place.
alter table source
    add column is_processing boolean not null default false,
    add column url text,
    add column content_type text,
    add column size_bytes bigint not null default 0 check (size_bytes >= 0),
    add column content_hash bytea,
    add column characters bigint not null default 0 check (characters >= 0),
    -- Of the last time that it was read: a code for programs and a sentence for its owner; null where that went well.
    add column error_code text,
    add column error text,
    add column created_by text,
    add column processed_at timestamptz,
    add check ((error_code is null) = (error is null));

-- What waits to be read, of all organizations: each sweep of the jobs looks here for what the queue has lost.
create index source_processing on source (organization_id, source_id) where is_processing;

-- What was uploaded, in pieces, as it came: sidecars keep nothing on their own disks, and any of them may read it again.
create table source_part (
    organization_id uuid not null,
    source_id uuid not null,
    part integer not null check (part >= 0),
    content bytea not null,
    primary key (organization_id, source_id, part),
    foreign key (organization_id, source_id) references source on delete cascade
);
alter table source_part alter column content set storage external; -- most of it is compressed already

-- One reading of a source: what it came to, and how far it is. Of an import `bytes_read` is where it goes on after an
-- interruption; it is written together with what was read until there.
create table ingest_run (
    organization_id uuid not null,
    run_id uuid not null default gen_random_uuid(),
    source_id uuid not null,
    status text not null default 'running' check (status in ('running', 'done', 'failed')),
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    bytes_read bigint not null default 0,
    lines_read integer not null default 0,
    created integer not null default 0,
    updated integer not null default 0,
    unchanged integer not null default 0,
    rejected integer not null default 0,
    texts_embedded integer not null default 0,
    texts integer not null default 0,
    primary key (organization_id, run_id),
    foreign key (organization_id, source_id) references source on delete cascade,
    check ((status = 'running') = (ended_at is null))
);
create index ingest_run_source on ingest_run (organization_id, source_id, started_at desc);
create unique index ingest_run_one_running on ingest_run (organization_id, source_id) where status = 'running';

-- The ids that the lines of a running import have taken: of two lines of one id the first counts, also after an
-- interruption. Emptied once the file is read.
create table ingest_taken (
    organization_id uuid not null,
    run_id uuid not null,
    external_id text not null,
    primary key (organization_id, run_id, external_id),
    foreign key (organization_id, run_id) references ingest_run on delete cascade
);

-- Lines that were not taken, the first of each run; `ingest_run.rejected` counts all.
create table ingest_rejection (
    organization_id uuid not null,
    run_id uuid not null,
    line integer not null check (line > 0),
    field text not null,
    reason text not null,
    primary key (organization_id, run_id, line, field),
    foreign key (organization_id, run_id) references ingest_run on delete cascade
);

grant select, insert, update, delete on source_part, ingest_run, ingest_taken, ingest_rejection to answerline_manage;
