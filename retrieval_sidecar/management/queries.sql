-- name: add_key
insert into api_key (organization_id, key_id, name, secret_sha256, permissions, created_at, expires_at, member_id)
values (%(organization_id)s, %(key_id)s, %(name)s, %(secret_sha256)s, %(permissions)s, %(now)s,
    coalesce(%(expires_at)s, 'infinity'::timestamptz), %(member_id)s);

-- name: find_key
-- Null for what a member may: there is none, and the key is the organization's own.
select k.secret_sha256, k.permissions, k.last_used_at, k.member_id, m.permissions
from api_key k
left join member m on m.organization_id = k.organization_id and m.member_id = k.member_id
where k.organization_id = %(organization_id)s and k.key_id = %(key_id)s
    and k.revoked_at is null and k.expires_at > %(now)s;

-- name: touch_key
-- Of requests at once the first writes; the others find that it is done.
update api_key set last_used_at = %(now)s
where organization_id = %(organization_id)s and key_id = %(key_id)s
    and (last_used_at is null or last_used_at < %(before)s);

-- name: revoke_key
update api_key set revoked_at = %(now)s
where organization_id = %(organization_id)s and key_id = %(key_id)s and revoked_at is null
returning name;

-- name: keys
select key_id, name, permissions, created_at, nullif(expires_at, 'infinity'), revoked_at, last_used_at, member_id
from api_key
where organization_id = %(organization_id)s

-- name: list_keys
/*include keys*/
order by created_at, key_id;

-- name: page_of_keys
/*include keys*/
    and (%(after_at)s::timestamptz is null or (created_at, key_id) > (%(after_at)s, %(after_id)s::uuid))
order by created_at, key_id
limit %(limit)s;

-- name: find_key_by_id
/*include keys*/ and key_id = %(key_id)s;

-- name: update_key
update api_key set name = %(name)s, permissions = %(permissions)s,
    expires_at = coalesce(%(expires_at)s, 'infinity'::timestamptz)
where organization_id = %(organization_id)s and key_id = %(key_id)s;

-- name: has_admin_key
-- One that holds, by itself and by its member.
select exists (
    select from api_key k
    left join member m on m.organization_id = k.organization_id and m.member_id = k.member_id
    where k.organization_id = %(organization_id)s and k.revoked_at is null and k.expires_at > %(now)s
        and 'admin' = any(k.permissions) and (k.member_id is null or 'admin' = any(m.permissions))
);

-- name: members
select m.member_id, m.name, m.permissions, m.created_at, (
        select count(*) from api_key k
        where k.organization_id = m.organization_id and k.member_id = m.member_id and k.revoked_at is null
    ) as keys
from member m
where m.organization_id = %(organization_id)s

-- name: list_members
-- Names are cut for the order, so that a cursor, which holds one, has an end.
/*include members*/ and (left(m.name, 200), m.member_id) > (%(after_name)s, %(after_id)s)
order by left(m.name, 200), m.member_id
limit %(limit)s;

-- name: find_member
/*include members*/ and m.member_id = %(member_id)s;

-- name: add_member
insert into member (organization_id, name, permissions, created_at)
values (%(organization_id)s, %(name)s, %(permissions)s, %(now)s)
returning member_id;

-- name: update_member
update member set name = %(name)s, permissions = %(permissions)s
where organization_id = %(organization_id)s and member_id = %(member_id)s;

-- name: keys_of_member
select key_id, name from api_key
where organization_id = %(organization_id)s and member_id = %(member_id)s and revoked_at is null
order by created_at, key_id;

-- name: bases_of_member
select base_id, name, is_published from knowledge_base
where organization_id = %(organization_id)s and member_id = %(member_id)s
order by name;

-- name: hand_over_base
-- What is published already.
update knowledge_base set owner_type = 'organization', owner_id = null, is_published = false
where organization_id = %(organization_id)s and base_id = %(base_id)s and is_published;

-- name: delete_member
-- Keys, and the browsers they signed in, go with the row.
delete from member where organization_id = %(organization_id)s and member_id = %(member_id)s;

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
    and (%(with_people)s or object_type not in ('member', 'api_key'))
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

-- name: reach
-- What a base that a member can see is to them; null is no member. Of no other there is a row.
select b.owner_type = 'organization' or w.is_owner, b.for_agents
from knowledge_base b
cross join lateral (
    select exists (
        select from base_owner o
        where o.organization_id = b.organization_id and o.base_id = b.base_id and o.member_id = %(member_id)s
    ) as is_owner
) w
where b.organization_id = %(organization_id)s and b.base_id = %(base_id)s and (b.for_agents or w.is_owner);
