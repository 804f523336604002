-- name: begin_moving
-- One at a time in a database, until the session ends.
select pg_try_advisory_lock(hashtext('answerline partition'));

-- name: end_moving
select pg_advisory_unlock(hashtext('answerline partition'));

-- name: spaces
select space_id, dimensions, partition_id from embedding_space
where organization_id = %(organization_id)s
order by space_id;

-- name: standings
-- What each organization's searches go through, for the rule's advice.
select o.organization_id, o.name, e.partition_id, (
    select count(*) from passage_vector v
    where v.organization_id = e.organization_id and v.space_id = e.space_id and v.partition_id = e.partition_id
        and v.servable
) as servable_rows
from organization o
join embedding_space e on e.organization_id = o.organization_id and e.active
order by servable_rows desc, o.organization_id;

-- name: lock_writers
-- Whoever writes passages waits, whoever searches does not. At once or not at all: to wait for this lock would make all
-- other writers wait behind it, and perhaps each other. These are the tables that an attached partition refers to.
lock table embedding_space, passage, passage_vector in share row exclusive mode nowait;

-- name: has_partition
select to_regclass(%(partition)s) is not null;

-- name: create_partition
create table {partition} (like passage_vector including defaults including constraints including storage
    including indexes)
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- name: expect_few_of_each
-- As the shared partition is told, and why: see the migration.
alter table {partition} alter column folder_id set (n_distinct = 1000), alter column base_key set (n_distinct = 1000);

-- name: attach_partition
-- Empty, so that there is nothing to check, and without a default partition nothing else to scan.
alter table passage_vector attach partition {partition} for values in ({partition_id});

-- name: may_grant_maintain
select current_setting('server_version_num')::integer >= 170000;

-- name: grant_maintain
-- Whoever loads knowledge vacuums all partitions after it.
grant maintain on {partition} to answerline_manage;

-- name: columns
passage_id, is_instruction, owner_key, folder_id, base_key, servable, reserved, valid_from, valid_to, open_minutes,
segment_ids, language, region_code, embedding

-- name: remove_outdated_copies
-- What the copy has, and the original has not, or no longer so.
delete from passage_vector c
where c.organization_id = %(organization_id)s and c.space_id = %(space_id)s and c.partition_id = %(target)s
    and not exists (
        select from passage_vector o
        where o.organization_id = c.organization_id and o.space_id = c.space_id and o.partition_id = %(source)s
            and o.passage_id = c.passage_id
            and (o.is_instruction, o.owner_key, o.folder_id, o.base_key, o.servable, o.reserved, o.valid_from,
                o.valid_to, o.open_minutes, o.segment_ids, o.language, o.region_code, o.embedding)
            is not distinct from (c.is_instruction, c.owner_key, c.folder_id, c.base_key, c.servable, c.reserved,
                c.valid_from, c.valid_to, c.open_minutes, c.segment_ids, c.language, c.region_code, c.embedding)
    );

-- name: copy_missing
insert into passage_vector (organization_id, space_id, partition_id, /*include columns*/)
select organization_id, space_id, %(target)s, /*include columns*/
from passage_vector o
where o.organization_id = %(organization_id)s and o.space_id = %(space_id)s and o.partition_id = %(source)s
    and not exists (
        select from passage_vector c
        where c.organization_id = o.organization_id and c.space_id = o.space_id and c.partition_id = %(target)s
            and c.passage_id = o.passage_id
    );

-- name: analyze
-- The planner is to know the partition before the first search goes there; nobody analyzes it for us in time.
vacuum (analyze) {partition};

-- name: index_state
-- Whether there is an index; false where building it was interrupted.
select i.indisvalid from pg_index i where i.indexrelid = to_regclass(%(index)s);

-- name: drop_index
drop index concurrently {index};

-- name: room_to_build
-- In memory: a graph that does not fit is built many times slower. By one process: parallel ones need shared memory
-- of this size, of which a container has little, and the calls go on meanwhile.
select set_config('maintenance_work_mem', greatest(65536, %(kilobytes)s)::text, false),
    set_config('max_parallel_maintenance_workers', '0', false);

-- name: build_index
create index concurrently {index} on {partition} using hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)
where servable;

-- name: how_far
-- Of the one index that is being built on the partition.
select tuples_done from pg_stat_progress_create_index where relid = to_regclass(%(partition)s);

-- name: count_rows
select count(*) from passage_vector
where organization_id = %(organization_id)s and space_id = %(space_id)s and partition_id = %(partition_id)s;

-- name: switch
update embedding_space set partition_id = %(target)s
where organization_id = %(organization_id)s and space_id = %(space_id)s;

-- name: forget_counts
delete from vector_count where organization_id = %(organization_id)s;

-- name: count_vectors
insert into vector_count (organization_id, space_id, is_instruction, base_key, folder_id, servable_rows, open_rows)
select v.organization_id, v.space_id, v.is_instruction, coalesce(v.base_key, 0), coalesce(v.folder_id, 0), count(*),
    count(*) filter (
        where v.valid_from = '-infinity' and v.valid_to = 'infinity' and v.open_minutes is null
            and v.segment_ids is null
    )
from embedding_space e
join passage_vector v
    on v.organization_id = e.organization_id and v.space_id = e.space_id and v.partition_id = e.partition_id
where e.organization_id = %(organization_id)s and e.partition_id > 0 and v.servable
group by 1, 2, 3, 4, 5;

-- name: has_rows_elsewhere
select exists (
    select from passage_vector
    where organization_id = %(organization_id)s and space_id = %(space_id)s and partition_id <> %(partition_id)s
);

-- name: remove_rows_elsewhere
delete from passage_vector
where organization_id = %(organization_id)s and space_id = %(space_id)s and partition_id <> %(partition_id)s;

-- name: lock_patience
-- Searches wait behind a drop that waits for others: a moment, and it gives way.
select set_config('lock_timeout', '100ms', true);

-- name: drop_partition
drop table if exists {partition};

-- name: abandoned
-- Partitions of spaces that are no more.
select c.relname from pg_inherits h
join pg_class c on c.oid = h.inhrelid
where h.inhparent = 'passage_vector'::regclass and c.relname ~ '^passage_vector_[0-9]+$'
    and not exists (select from embedding_space e where c.relname = 'passage_vector_' || e.space_id);
