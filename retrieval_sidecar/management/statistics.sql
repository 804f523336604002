-- name: one_state
-- Of the log, for all that is counted together.
set transaction isolation level repeatable read, read only;

-- name: time_zone
select time_zone from organization where organization_id = %(organization_id)s;

-- name: counted_searches
-- Of each interval and, where `starts_at` is null, of all: the log is read once for both.
select w.starts_at, count(*) as searches,
    count(*) filter (where w.status = 'ok') as answered,
    count(*) filter (where w.status = 'no_match') as no_match,
    count(*) filter (where w.status = 'restricted_empty') as restricted_empty,
    count(*) filter (where w.degraded) as degraded,
    percentile_cont(0.5) within group (order by w.total_ms) as p50_ms,
    percentile_cont(0.95) within group (order by w.total_ms) as p95_ms
from (
    select date_trunc(%(interval)s, l.at, %(time_zone)s) as starts_at, l.status, l.degraded, l.total_ms
    from search_log l
    where l.organization_id = %(organization_id)s and l.at >= %(from)s and l.at < %(to)s
        and (%(agent_id)s::uuid is null or /*include is_of_agent*/)
) w
group by grouping sets ((), (w.starts_at));

-- name: counted_calls
select w.starts_at, count(*) as calls
from (
    select date_trunc(%(interval)s, s.started_at, %(time_zone)s) as starts_at
    from call_session s
    where s.organization_id = %(organization_id)s and s.started_at >= %(from)s and s.started_at < %(to)s
        and (%(agent_id)s::uuid is null or s.agent_id = %(agent_id)s)
) w
group by grouping sets ((), (w.starts_at));

-- name: intervals
-- All there are, also those in which nobody called: hour by hour, as days and hours of a time zone are not of one length.
select distinct date_trunc(%(interval)s, moment, %(time_zone)s) as starts_at
from generate_series(%(from)s::timestamptz, %(to)s::timestamptz, '1 hour') moment
where moment < %(to)s
order by 1;

-- name: unanswered
-- As they were asked, letter for letter but for capitals; who reads them puts more of them together.
select lower(l.query_redacted) as query, count(*) as times, max(l.at) as last_at,
    (array_agg(l.query_redacted order by l.at desc))[1] as latest
from search_log l
where l.organization_id = %(organization_id)s and l.at >= %(from)s and l.at < %(to)s and l.status = 'no_match'
    and (%(agent_id)s::uuid is null or /*include is_of_agent*/)
group by lower(l.query_redacted)
order by times desc, last_at desc, query
limit %(most)s;

-- name: is_of_agent
exists (
    select from call_session s
    where s.organization_id = l.organization_id and s.session_id = l.session_id and s.agent_id = %(agent_id)s
)
