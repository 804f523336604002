SET LOCAL lock_timeout = '10s';

-- Where the items stand that are written by hand: one source a base, which nothing is read from.
alter table source add column is_written boolean not null default false;
create unique index source_written on source (organization_id, base_id) where is_written;

-- The fields of an item that an operator has set. What its source says of them counts no more, however often it is read;
-- `deleted` keeps it away.
alter table knowledge_item add column set_by_hand text[] not null default '{}' check (set_by_hand <@ array[
    'title', 'language', 'region_code', 'status', 'visibility', 'channels', 'segments', 'valid_from', 'valid_until',
    'schedule', 'source_url', 'folder_key', 'deleted'
]);

-- Items and instructions whose passages do not say yet what they say. The revision tells whether one has changed again
-- while it was indexed. Given up, a document waits no more, and says why; its next change has it tried again.
create table waiting_document (
    organization_id uuid not null references organization on delete cascade,
    document_id uuid not null,
    revision bigint not null default 1,
    is_waiting boolean not null default true,
    error_code text,
    error text,
    primary key (organization_id, document_id),
    check ((error_code is null) = (error is null))
);
create index waiting_document_waiting on waiting_document (organization_id) where is_waiting;
grant select, insert, update, delete on waiting_document to answerline_manage;

-- What is listed and counted of a folder and of a source, from the index alone.
create index knowledge_item_folder on knowledge_item (organization_id, folder_id, item_key)
    include (source_id, visibility, channels, deleted_at);
create index knowledge_item_source on knowledge_item (organization_id, source_id, item_key)
    include (visibility, channels, deleted_at);
-- However few sources and folders there are, one of them is for its index: of an organization with three the planner would
-- expect the next items of one among the next few of all.
alter table knowledge_item
    alter column source_id set (n_distinct = 1000), alter column folder_id set (n_distinct = 1000);
create index folder_in_order on folder (organization_id, folder_key collate "C");

-- Whose each is, of which there are many: a directory's instructions, and what is below it.
create index instruction_of_directory on instruction (organization_id, directory_id);
create index instruction_directory_below on instruction_directory (organization_id, parent_id);
