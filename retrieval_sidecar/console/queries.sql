-- name: add_session
insert into console_session (organization_id, session_id, key_id, secret_sha256, created_at, last_seen_at, ends_at)
values (%(organization_id)s, %(session_id)s, %(key_id)s, %(secret_sha256)s, %(now)s, %(now)s, %(ends_at)s);

-- name: find_session
select secret_sha256, key_id, last_seen_at, ends_at from console_session
where organization_id = %(organization_id)s and session_id = %(session_id)s
    and ends_at > %(now)s and last_seen_at > %(idle_since)s;

-- name: touch_session
-- Of requests at once the first writes; the others find that it is done.
update console_session set last_seen_at = %(now)s
where organization_id = %(organization_id)s and session_id = %(session_id)s and last_seen_at < %(before)s;

-- name: end_session
delete from console_session
where organization_id = %(organization_id)s and session_id = %(session_id)s
returning key_id;

-- name: sweep_sessions
-- Those of the organization that have ended by themselves.
delete from console_session
where organization_id = %(organization_id)s and (ends_at <= %(now)s or last_seen_at <= %(idle_since)s);

-- name: describe_key
select o.name, k.name from api_key k
join organization o on o.organization_id = k.organization_id
where k.organization_id = %(organization_id)s and k.key_id = %(key_id)s;
