-- name: time_limit
-- For this transaction alone, so that the connection goes back to the pool as it came.
select set_config('statement_timeout', %(milliseconds)s, true);

-- name: setting
-- For this transaction alone, too.
select set_config(%(name)s, %(value)s, true);
