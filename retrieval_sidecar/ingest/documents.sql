-- name: upsert_folder
insert into folder (organization_id, folder_key)
select organization_id, %(folder_key)s from source
where organization_id = %(organization_id)s and source_id = %(source_id)s
on conflict (organization_id, folder_key) do update set folder_key = excluded.folder_key
returning folder_id;

-- name: put_document
-- What its owner has made of the item since (a draft, internal, for some segments, for some weeks) stays as it is: to read
-- a source again must not open what somebody has closed. So do the title and the like where they are set by hand.
insert into knowledge_item (organization_id, source_id, folder_id, external_id, title, content, source_hash, language,
    region_code, status, visibility, channels, source_url)
select o.organization_id, %(source_id)s, %(folder_id)s, 'document', %(title)s, %(content)s, %(source_hash)s, %(language)s,
    o.default_region, 'published', 'public', '{phone}', %(source_url)s
from organization o
where o.organization_id = %(organization_id)s
on conflict (organization_id, source_id, external_id) do update set
    folder_id = /*include kept_folder*/, title = /*include kept_title*/, content = excluded.content,
    source_hash = excluded.source_hash, language = /*include kept_language*/, source_url = /*include kept_url*/,
    deleted_at = null, updated_at = now()
where (knowledge_item.folder_id, knowledge_item.title, knowledge_item.content, knowledge_item.source_hash,
        knowledge_item.language, knowledge_item.source_url, knowledge_item.deleted_at)
    is distinct from (/*include kept_folder*/, /*include kept_title*/, excluded.content, excluded.source_hash,
        /*include kept_language*/, /*include kept_url*/, null);

-- name: kept_folder
case when 'folder_key' = any(knowledge_item.set_by_hand) then knowledge_item.folder_id else excluded.folder_id end

-- name: kept_title
case when 'title' = any(knowledge_item.set_by_hand) then knowledge_item.title else excluded.title end

-- name: kept_language
case when 'language' = any(knowledge_item.set_by_hand) then knowledge_item.language else excluded.language end

-- name: kept_url
case when 'source_url' = any(knowledge_item.set_by_hand) then knowledge_item.source_url else excluded.source_url end
