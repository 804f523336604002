-- name: add_key
insert into api_key (organization_id, key_id, name, secret_sha256, permissions, created_at, expires_at)
values (%(organization_id)s, %(key_id)s, %(name)s, %(secret_sha256)s, %(permissions)s, %(now)s,
    coalesce(%(expires_at)s, 'infinity'::timestamptz));

-- name: find_key
select secret_sha256, permissions, last_used_at from api_key
where organization_id = %(organization_id)s and key_id = %(key_id)s
    and revoked_at is null and expires_at > %(now)s;

-- name: touch_key
-- Of requests at once the first writes; the others find that it is done.
update api_key set last_used_at = %(now)s
where organization_id = %(organization_id)s and key_id = %(key_id)s
    and (last_used_at is null or last_used_at < %(before)s);

-- name: revoke_key
update api_key set revoked_at = %(now)s
where organization_id = %(organization_id)s and key_id = %(key_id)s and revoked_at is null
returning name;

-- name: list_keys
select key_id, name, permissions, created_at, nullif(expires_at, 'infinity'), revoked_at, last_used_at from api_key
where organization_id = %(organization_id)s
order by created_at, key_id;

-- name: organization_exists
select exists (select from organization where organization_id = %(organization_id)s);

-- name: record
insert into audit_log (organization_id, at, actor, action, object_type, object_id, before, after)
values (%(organization_id)s, %(at)s, %(actor)s, %(action)s, %(object_type)s, %(object_id)s, %(before)s, %(after)s);

-- name: list_entries
-- The latest first, and a page back from there.
select entry_id, at, actor, action, object_type, object_id, before, after from audit_log
where organization_id = %(organization_id)s
    and (%(before_id)s::bigint is null or entry_id < %(before_id)s)
    and (%(object_id)s::uuid is null or object_id = %(object_id)s)
order by entry_id desc
limit %(limit)s;

-- name: number_of_contact
select phone_number from contact where organization_id = %(organization_id)s and contact_id = %(contact_id)s;

-- name: origins
-- Which base and which source items came from.
select i.item_id, s.base_id, s.source_id, s.name
from knowledge_item i
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
where i.organization_id = %(organization_id)s and i.item_id = any(%(item_ids)s);

-- name: is_reachable
-- A base of a team or of a person is theirs: no key reaches it.
select exists (
    select from knowledge_base
    where organization_id = %(organization_id)s and base_id = %(base_id)s and owner_type = 'organization'
);
