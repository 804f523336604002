-- name: upsert_organization
insert into organization (organization_id, name, time_zone, default_language, default_region, language_fallbacks)
values (%(id)s, %(name)s, %(time_zone)s, %(default_language)s, %(default_region)s, %(language_fallbacks)s)
on conflict (organization_id) do update set
    name = excluded.name, time_zone = excluded.time_zone, default_language = excluded.default_language,
    default_region = excluded.default_region, language_fallbacks = excluded.language_fallbacks;

-- name: upsert_segment
insert into segment (organization_id, key, name) values (%(organization_id)s, %(key)s, %(name)s)
on conflict (organization_id, key) do update set name = excluded.name
returning segment_id;

-- name: upsert_contact
insert into contact (organization_id, phone_number, name, language)
values (%(organization_id)s, %(phone)s, %(name)s, %(language)s)
on conflict (organization_id, phone_number) do update set name = excluded.name, language = excluded.language
returning contact_id;

-- name: clear_contact_segments
delete from contact_segment where organization_id = %(organization_id)s and contact_id = %(contact_id)s;

-- name: add_contact_segment
insert into contact_segment (organization_id, contact_id, segment_id)
values (%(organization_id)s, %(contact_id)s, %(segment_id)s);

-- name: upsert_directory
insert into instruction_directory (organization_id, parent_id, name)
values (%(organization_id)s, %(parent_id)s, %(name)s)
on conflict (organization_id, parent_id, name) do update set name = excluded.name
returning directory_id;

-- name: find_instruction
select instruction_id from instruction
where organization_id = %(organization_id)s and directory_id = %(directory_id)s and title = %(title)s;

-- name: insert_instruction
insert into instruction (organization_id, directory_id, title, content, language, status, dynamic)
values (%(organization_id)s, %(directory_id)s, %(title)s, %(content)s, %(language)s, %(status)s, %(dynamic)s)
returning instruction_id;

-- name: update_instruction
update instruction set content = %(content)s, language = %(language)s, status = %(status)s, dynamic = %(dynamic)s,
    deleted_at = null, updated_at = now()
where organization_id = %(organization_id)s and instruction_id = %(instruction_id)s;

-- name: clear_instruction_segments
delete from instruction_segment
where organization_id = %(organization_id)s and instruction_id = %(instruction_id)s;

-- name: add_instruction_segment
insert into instruction_segment (organization_id, instruction_id, segment_id)
values (%(organization_id)s, %(instruction_id)s, %(segment_id)s);

-- name: upsert_base
insert into knowledge_base (organization_id, name) values (%(organization_id)s, %(name)s)
on conflict (organization_id, name) do update set name = excluded.name
returning base_id;

-- name: upsert_source
insert into source (organization_id, base_id, kind, name, status)
values (%(organization_id)s, %(base_id)s, 'jsonl', %(name)s, 'ready')
on conflict (organization_id, base_id, name) do update set status = 'ready'
returning source_id;

-- name: upsert_folder
insert into folder (organization_id, folder_key) values (%(organization_id)s, %(folder_key)s)
on conflict (organization_id, folder_key) do update set folder_key = excluded.folder_key
returning folder_id;

-- name: upsert_item
insert into knowledge_item (organization_id, source_id, folder_id, external_id, title, content, source_hash, language,
    region_code, status, visibility, channels, valid_from, valid_to, open_minutes, source_url, metadata)
values (%(organization_id)s, %(source_id)s, %(folder_id)s, %(external_id)s, %(title)s, %(content)s, %(source_hash)s,
    %(language)s, %(region_code)s, %(status)s, %(visibility)s, %(channels)s,
    coalesce(%(valid_from)s, '-infinity'::timestamptz), coalesce(%(valid_to)s, 'infinity'::timestamptz),
    %(open_minutes)s::text::int4multirange, %(source_url)s, %(metadata)s)
on conflict (organization_id, source_id, external_id) do update set
    folder_id = excluded.folder_id, title = excluded.title, content = excluded.content,
    source_hash = excluded.source_hash, language = excluded.language, region_code = excluded.region_code,
    status = excluded.status, visibility = excluded.visibility, channels = excluded.channels,
    valid_from = excluded.valid_from, valid_to = excluded.valid_to, open_minutes = excluded.open_minutes,
    source_url = excluded.source_url, metadata = excluded.metadata, deleted_at = null, updated_at = now()
returning item_id;

-- name: clear_item_segments
delete from item_segment where organization_id = %(organization_id)s and item_id = %(item_id)s;

-- name: add_item_segment
insert into item_segment (organization_id, item_id, segment_id)
values (%(organization_id)s, %(item_id)s, %(segment_id)s);

-- name: upsert_agent
insert into phone_agent (organization_id, agent_id, name, language, region_code, prompt, greeting, handoff_number,
    knowledge_mode, instruction_scope_mode, knowledge_scope_mode)
values (%(organization_id)s, %(id)s, %(name)s, %(language)s, %(region)s, %(prompt)s, %(greeting)s,
    %(handoff_number)s, %(knowledge_mode)s, %(instruction_scope_mode)s, %(knowledge_scope_mode)s)
on conflict (organization_id, agent_id) do update set
    name = excluded.name, language = excluded.language, region_code = excluded.region_code, prompt = excluded.prompt,
    greeting = excluded.greeting, handoff_number = excluded.handoff_number, knowledge_mode = excluded.knowledge_mode,
    instruction_scope_mode = excluded.instruction_scope_mode, knowledge_scope_mode = excluded.knowledge_scope_mode;

-- name: clear_agent_selections
with gone_instructions as (
    delete from agent_instruction where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_directories as (
    delete from agent_instruction_directory where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_items as (
    delete from agent_item where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_folders as (
    delete from agent_folder where organization_id = %(organization_id)s and agent_id = %(agent_id)s
)
delete from agent_knowledge_base where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: select_instruction
insert into agent_instruction (organization_id, agent_id, instruction_id)
values (%(organization_id)s, %(agent_id)s, %(selected)s) on conflict do nothing;

-- name: select_directory
insert into agent_instruction_directory (organization_id, agent_id, directory_id)
values (%(organization_id)s, %(agent_id)s, %(selected)s) on conflict do nothing;

-- name: select_item
insert into agent_item (organization_id, agent_id, item_id)
values (%(organization_id)s, %(agent_id)s, %(selected)s) on conflict do nothing;

-- name: select_folder
insert into agent_folder (organization_id, agent_id, folder_id)
values (%(organization_id)s, %(agent_id)s, %(selected)s) on conflict do nothing;

-- name: select_base
insert into agent_knowledge_base (organization_id, agent_id, base_id)
values (%(organization_id)s, %(agent_id)s, %(selected)s) on conflict do nothing;

-- name: route_number
insert into number_route (phone_number, organization_id, agent_id)
values (%(phone_number)s, %(organization_id)s, %(agent_id)s)
on conflict (phone_number) do update set agent_id = excluded.agent_id
where number_route.organization_id = excluded.organization_id
returning phone_number;

-- name: documents
-- Everything that yields passages. Drafts and internal items too: publishing one must not wait for an embedding.
select item_id, null::uuid as instruction_id, language, title, content from knowledge_item
where organization_id = %(organization_id)s and deleted_at is null
union all
select null, instruction_id, language, title, content from instruction
where organization_id = %(organization_id)s and deleted_at is null
order by 1, 2;

-- name: active_space
insert into embedding_space (organization_id, model, dimensions, active)
values (%(organization_id)s, %(model)s, %(dimensions)s, true)
on conflict (organization_id, model) do update set dimensions = excluded.dimensions
returning space_id;

-- name: cached_embeddings
select text_hash, embedding from embedding_cache
where organization_id = %(organization_id)s and space_id = %(space_id)s and text_hash = any(%(hashes)s);

-- name: keep_embedding
insert into embedding_cache (organization_id, space_id, text_hash, embedding)
values (%(organization_id)s, %(space_id)s, %(text_hash)s, %(embedding)s)
on conflict do nothing;

-- name: forget_passages
delete from passage where organization_id = %(organization_id)s;

-- name: forget_centers
delete from language_center where organization_id = %(organization_id)s and space_id = %(space_id)s;

-- name: add_center
insert into language_center (organization_id, space_id, language, passages, of_passages, of_queries)
values (%(organization_id)s, %(space_id)s, %(language)s, %(passages)s, %(of_passages)s, %(of_queries)s);

-- name: add_passage
insert into passage (organization_id, item_id, instruction_id, chunk_index, language, content, text_hash)
values (%(organization_id)s, %(item_id)s, %(instruction_id)s, %(chunk_index)s, %(language)s, %(content)s, %(text_hash)s)
returning passage_id;

-- name: add_words
insert into passage_words (organization_id, passage_id, words)
values (%(organization_id)s, %(passage_id)s, array_to_tsvector(%(words)s::text[]));

-- name: add_code
insert into passage_code (organization_id, code, passage_id)
values (%(organization_id)s, %(code)s, %(passage_id)s) on conflict do nothing;

-- name: facts
-- What a passage's vector repeats of the rows that it comes from: computed here and nowhere else.
select p.organization_id, p.passage_id, false as is_instruction, i.item_key as owner_key, i.folder_id, b.base_key,
    i.status = 'published' and i.visibility = 'public' and 'phone' = any(i.channels) and i.deleted_at is null
        and s.status = 'ready' and b.owner_type = 'organization' as servable,
    i.valid_from, i.valid_to, i.open_minutes,
    nullif(array(select segment_id from item_segment g
                 where g.organization_id = i.organization_id and g.item_id = i.item_id order by segment_id),
           array[]::integer[]) as segment_ids,
    p.language, i.region_code
from passage p
join knowledge_item i on i.organization_id = p.organization_id and i.item_id = p.item_id
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
union all
select p.organization_id, p.passage_id, true, n.instruction_key, null, null,
    n.status = 'published' and n.deleted_at is null,
    '-infinity', 'infinity', null,
    nullif(array(select segment_id from instruction_segment g
                 where g.organization_id = n.organization_id and g.instruction_id = n.instruction_id
                 order by segment_id),
           array[]::integer[]),
    p.language, 'GLOBAL'
from passage p
join instruction n on n.organization_id = p.organization_id and n.instruction_id = p.instruction_id

-- name: add_vector
insert into passage_vector (organization_id, space_id, partition_id, passage_id, is_instruction, owner_key, folder_id,
    base_key, servable, valid_from, valid_to, open_minutes, segment_ids, language, region_code, embedding)
select f.organization_id, e.space_id, e.partition_id, f.passage_id, f.is_instruction, f.owner_key, f.folder_id,
    f.base_key, f.servable, f.valid_from, f.valid_to, f.open_minutes, f.segment_ids, f.language, f.region_code,
    %(embedding)s
from (/*include facts*/) f
join embedding_space e on e.organization_id = f.organization_id and e.space_id = %(space_id)s
where f.organization_id = %(organization_id)s and f.passage_id = %(passage_id)s;

-- name: refresh_facts
-- In the transaction that changes the rows, so that what was closed is closed before anything is embedded again.
update passage_vector v set
    folder_id = f.folder_id, base_key = f.base_key, servable = f.servable, valid_from = f.valid_from,
    valid_to = f.valid_to, open_minutes = f.open_minutes, segment_ids = f.segment_ids, region_code = f.region_code
from (/*include facts*/) f
where v.organization_id = %(organization_id)s and f.organization_id = v.organization_id and f.passage_id = v.passage_id
    and (v.folder_id, v.base_key, v.servable, v.valid_from, v.valid_to, v.open_minutes, v.segment_ids, v.region_code)
        is distinct from
        (f.folder_id, f.base_key, f.servable, f.valid_from, f.valid_to, f.open_minutes, f.segment_ids, f.region_code);
