-- name: time_limit
-- For this transaction alone, so that the connection goes back to the pool as it came.
select set_config('statement_timeout', %(milliseconds)s, true);
