-- name: count_unfinished
-- The more of an organization's jobs wait, the later its next one comes.
select count(*) from jobs.procrastinate_jobs
where queue_name = %(queue)s and status in ('todo', 'doing') and args ->> 'organization_id' = %(organization_id)s;

-- name: bring_forward
-- What waits out a pause is asked for again: now, and as if nothing had failed.
update jobs.procrastinate_jobs
set scheduled_at = null, args = args || '{"failures": 0, "deaths": 0}'
where queueing_lock = %(lock)s and status = 'todo';

-- name: level_priorities
-- Organizations take turns by what is waiting now: a first job that was once the fiftieth is a first one all the same.
with waiting as (
    select id, priority, args ->> 'organization_id' as organization_id
    from jobs.procrastinate_jobs
    where queue_name = %(queue)s and status = 'todo'
), ranked as (
    select w.id, w.priority, -(
            row_number() over (partition by w.organization_id order by w.priority desc, w.id) - 1 + (
                select count(*) from jobs.procrastinate_jobs d
                where d.queue_name = %(queue)s and d.status = 'doing'
                    and d.args ->> 'organization_id' = w.organization_id
            )
        ) as turn
    from waiting w
)
update jobs.procrastinate_jobs j set priority = r.turn
from ranked r
where j.id = r.id and j.status = 'todo' and r.turn <> r.priority;

-- name: waiting_without_job
-- Sources of any organization: who asked for them has died before the queue had the job, or the queue has lost it.
select s.organization_id, s.source_id
from source s
where s.is_processing and not exists (
    select from jobs.procrastinate_jobs j where j.lock = s.source_id::text and j.status in ('todo', 'doing')
);

-- name: documents_without_job
-- Organizations where something was changed by hand, likewise.
select distinct w.organization_id
from waiting_document w
where w.is_waiting and not exists (
    select from jobs.procrastinate_jobs j
    where j.lock = 'documents of ' || w.organization_id and j.status in ('todo', 'doing')
);

-- name: has_worker
select exists (
    select from jobs.procrastinate_workers where last_heartbeat > now() - make_interval(secs => %(seconds)s)
);

-- name: queue_state
-- Of all organizations: what is watched is the installation. A job is due when it was asked for, or its pause is over.
select
    count(*) filter (where status = 'todo' and due <= now()),
    count(*) filter (where status = 'todo' and due > now()),
    count(*) filter (where status = 'doing'),
    coalesce(extract(epoch from now() - min(due) filter (where status = 'todo' and due <= now())), 0)::float8,
    coalesce(
        extract(epoch from now() - (select min(started_at) from ingest_run where status = 'running')), 0
    )::float8
from (
    select j.status, coalesce(j.scheduled_at, max(e.at)) as due
    from jobs.procrastinate_jobs j
    join jobs.procrastinate_events e on e.job_id = j.id and e.type = 'deferred'
    where j.queue_name = any(%(queues)s) and j.status in ('todo', 'doing')
    group by j.id
) unfinished;

-- name: hold
-- For as long as this connection lives: a worker that dies lets go at once, one that only seems dead does not.
select pg_try_advisory_lock(hashtextextended(%(lock)s, 0));

-- name: begin
select s.kind, s.name, s.url, s.status, s.is_processing, o.default_language
from source s
join organization o on o.organization_id = s.organization_id
where s.organization_id = %(organization_id)s and s.source_id = %(source_id)s;

-- name: add_run
insert into ingest_run (organization_id, source_id) values (%(organization_id)s, %(source_id)s)
on conflict do nothing;

-- name: running
select run_id, texts from ingest_run
where organization_id = %(organization_id)s and source_id = %(source_id)s and status = 'running';

-- name: hold_run
-- Until the end of the transaction nobody ends the run; no row where somebody has.
select run_id from ingest_run
where organization_id = %(organization_id)s and run_id = %(run_id)s and status = 'running'
for update;

-- name: set_progress
update ingest_run set texts_embedded = %(done)s, texts = %(total)s
where organization_id = %(organization_id)s and run_id = %(run_id)s and status = 'running';

-- name: run_status
select status from ingest_run where organization_id = %(organization_id)s and run_id = %(run_id)s;

-- name: count_characters
select coalesce(sum(length(content)), 0) from knowledge_item
where organization_id = %(organization_id)s and source_id = %(source_id)s and deleted_at is null;

-- name: make_searchable
update source set status = 'ready'
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: complete_source
-- What is null is as it was: an upload knows its size and hash from when it came.
update source set
    is_processing = false, error_code = null, error = null, processed_at = now(),
    characters = %(characters)s, content_type = coalesce(%(content_type)s, content_type),
    size_bytes = coalesce(%(size_bytes)s, size_bytes), content_hash = coalesce(%(content_hash)s, content_hash)
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: name_page
-- A page that nobody named is called as its title says, where no other source of the base is.
update source s set name = %(title)s
where s.organization_id = %(organization_id)s and s.source_id = %(source_id)s and s.name = %(name)s and not exists (
    select from source o
    where o.organization_id = s.organization_id and o.base_id = s.base_id and o.name = %(title)s
);

-- name: forget_taken
delete from ingest_taken where organization_id = %(organization_id)s and run_id = %(run_id)s;

-- name: end_run
update ingest_run set status = %(status)s, ended_at = now()
where organization_id = %(organization_id)s and run_id = %(run_id)s;

-- name: note_failure
-- It will be tried again; until then its owner sees why it takes so long.
update source set error_code = %(code)s, error = %(sentence)s
where organization_id = %(organization_id)s and source_id = %(source_id)s;

-- name: fail_source
-- What is searchable stays so.
update source set
    status = case status when 'processing' then 'failed' else status end, is_processing = false,
    error_code = %(code)s, error = %(sentence)s, processed_at = now()
where organization_id = %(organization_id)s and source_id = %(source_id)s;
