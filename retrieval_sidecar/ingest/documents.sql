-- name: upsert_folder
insert into folder (organization_id, folder_key)
select organization_id, %(folder_key)s from source
where organization_id = %(organization_id)s and source_id = %(source_id)s
on conflict (organization_id, folder_key) do update set folder_key = excluded.folder_key
returning folder_id;

-- name: put_document
-- What its owner has made of the item since (a draft, internal, for some segments, for some weeks) stays as it is: to read
-- a source again must not open what somebody has closed.
insert into knowledge_item (organization_id, source_id, folder_id, external_id, title, content, source_hash, language,
    region_code, status, visibility, channels, source_url)
select o.organization_id, %(source_id)s, %(folder_id)s, 'document', %(title)s, %(content)s, %(source_hash)s, %(language)s,
    o.default_region, 'published', 'public', '{phone}', %(source_url)s
from organization o
where o.organization_id = %(organization_id)s
on conflict (organization_id, source_id, external_id) do update set
    folder_id = excluded.folder_id, title = excluded.title, content = excluded.content,
    source_hash = excluded.source_hash, language = excluded.language, source_url = excluded.source_url,
    deleted_at = null, updated_at = now()
where (knowledge_item.folder_id, knowledge_item.title, knowledge_item.content, knowledge_item.source_hash,
        knowledge_item.language, knowledge_item.source_url, knowledge_item.deleted_at)
    is distinct from (excluded.folder_id, excluded.title, excluded.content, excluded.source_hash, excluded.language,
        excluded.source_url, null);
