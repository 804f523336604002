-- name: wait
insert into waiting_document (organization_id, document_id) values (%(organization_id)s, %(document_id)s)
on conflict (organization_id, document_id) do update set
    revision = waiting_document.revision + 1, is_waiting = true, error_code = null, error = null;

-- name: forget
delete from waiting_document where organization_id = %(organization_id)s and document_id = %(document_id)s;

-- name: waiting
-- A bounded number at a time: each is cut, embedded and swapped, and the rest is for the next job.
select document_id, revision from waiting_document
where organization_id = %(organization_id)s and is_waiting
order by document_id
limit 1000;

-- name: settle
delete from waiting_document w
using unnest(%(document_ids)s::uuid[], %(revisions)s::bigint[]) done (document_id, revision)
where w.organization_id = %(organization_id)s and w.document_id = done.document_id and w.revision = done.revision;

-- name: note
update waiting_document w set error_code = %(code)s, error = %(sentence)s, is_waiting = not %(is_given_up)s
from unnest(%(document_ids)s::uuid[], %(revisions)s::bigint[]) done (document_id, revision)
where w.organization_id = %(organization_id)s and w.document_id = done.document_id and w.revision = done.revision;
