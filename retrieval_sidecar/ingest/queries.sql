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
-- No row where the name is that of a team's or a person's base, which no file fills.
insert into knowledge_base (organization_id, name) values (%(organization_id)s, %(name)s)
on conflict (organization_id, name) do update set name = excluded.name
where knowledge_base.owner_type = 'organization'
returning base_id;

-- name: upsert_source
insert into source (organization_id, base_id, kind, name, status)
values (%(organization_id)s, %(base_id)s, 'jsonl', %(name)s, 'ready')
on conflict (organization_id, base_id, name) do update set status = 'ready'
returning source_id;

-- name: item_named
-- Of what a file's bases hold, from this file or an earlier one. One that an operator has deleted is named all the same:
-- selected, it leaves an agent restricted, to nothing.
select item_id from knowledge_item
where organization_id = %(organization_id)s and source_id = any(%(source_ids)s) and external_id = %(key)s
    and (deleted_at is null or 'deleted' = any(set_by_hand));

-- name: folder_named
select folder_id from folder where organization_id = %(organization_id)s and folder_key = %(key)s;

-- name: upsert_agent
insert into phone_agent (organization_id, agent_id, name, language, region_code, prompt, greeting, handoff_number,
    knowledge_mode, instruction_scope_mode, knowledge_scope_mode)
values (%(organization_id)s, %(id)s, %(name)s, %(language)s, %(region)s, %(prompt)s, %(greeting)s,
    %(handoff_number)s, %(knowledge_mode)s, %(instruction_scope_mode)s, %(knowledge_scope_mode)s)
on conflict (organization_id, agent_id) do update set
    name = excluded.name, language = excluded.language, region_code = excluded.region_code, prompt = excluded.prompt,
    greeting = excluded.greeting, handoff_number = excluded.handoff_number, knowledge_mode = excluded.knowledge_mode,
    instruction_scope_mode = excluded.instruction_scope_mode, knowledge_scope_mode = excluded.knowledge_scope_mode,
    deleted_at = null;

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
-- The hash is of all that passages are made from, and of the version of what makes them.
select organization_id, source_id, item_id, null::uuid as instruction_id, item_id as document_id, language, title, content,
    sha256(convert_to(json_build_array(%(recipe)s::text, 'item', language, title, content)::text, 'UTF8')) as hash
from knowledge_item where deleted_at is null
union all
select organization_id, null, null, instruction_id, instruction_id, language, title, content,
    sha256(convert_to(json_build_array(%(recipe)s::text, 'instruction', language, title, content)::text, 'UTF8'))
from instruction where deleted_at is null

-- name: outdated_documents
-- What is new or says something else than when its passages were cut, and how long it is; of one source, of some
-- documents, or of all.
select d.document_id, length(d.content)
from (/*include documents*/) d
where d.organization_id = %(organization_id)s
    and (%(source_id)s::uuid is null or d.source_id = %(source_id)s)
    and (%(document_ids)s::uuid[] is null or d.document_id = any(%(document_ids)s))
    and /*include outdated*/
order by d.document_id;

-- name: outdated
-- All passages of a document have one hash. Looked up by the key of each: the planner, left to join them, may compare each
-- document with each passage.
d.hash is distinct from coalesce(
    (select p.document_hash from passage p
     where p.organization_id = d.organization_id and p.item_id = d.item_id limit 1),
    (select p.document_hash from passage p
     where p.organization_id = d.organization_id and p.item_id is null and p.instruction_id = d.instruction_id limit 1)
)

-- name: named_documents
-- The limit is a fence, here and below: without statistics the planner expects a row or two of an organization, and reads
-- all of it for each batch, or for each row of one.
unnest(%(document_ids)s::uuid[]) named (document_id)
cross join lateral (
    select d.* from (/*include documents*/) d
    where d.organization_id = %(organization_id)s and d.document_id = named.document_id
    limit 1
) d

-- name: documents_by_id
select d.item_id, d.instruction_id, d.language, d.title, d.content, d.hash
from /*include named_documents*/
where true

-- name: outdated_by_id
-- Those of some documents that are outdated still.
/*include documents_by_id*/ and /*include outdated*/;

-- name: unchanged_documents
-- How many of the documents still say what was read.
select count(*) from /*include named_documents*/
where d.hash = any(%(hashes)s::bytea[]);

-- name: spaces
select space_id, model, dimensions, active, filling from embedding_space
where organization_id = %(organization_id)s
order by space_id;

-- name: add_space
insert into embedding_space (organization_id, model, dimensions, filling)
values (%(organization_id)s, %(model)s, %(dimensions)s, true)
on conflict (organization_id, model) do nothing;

-- name: complete_space
update embedding_space set filling = false where organization_id = %(organization_id)s and space_id = %(space_id)s;

-- name: deactivate_spaces
update embedding_space set active = false where organization_id = %(organization_id)s and active;

-- name: activate_space
-- The one switch: every sidecar reads it with the scope of each search.
update embedding_space set active = true where organization_id = %(organization_id)s and model = %(model)s;

-- name: drop_space
-- Vectors, centres and kept vectors go with it.
delete from embedding_space
where organization_id = %(organization_id)s and model = %(model)s and (%(active_too)s or not active)
returning space_id;

-- name: describe_spaces
select e.model, e.dimensions, e.active, e.filling, (
        select count(*) from passage p where p.organization_id = e.organization_id
    ) as passages, (
        select count(*) from passage_vector v
        where v.organization_id = e.organization_id and v.space_id = e.space_id and v.partition_id = e.partition_id
    ) as vectors, (
        select count(distinct p.text_hash) from passage p
        join embedding_cache c on c.organization_id = p.organization_id and c.space_id = e.space_id
            and c.text_hash = p.text_hash
        where p.organization_id = e.organization_id
    ) as embedded, (
        select count(distinct p.text_hash) from passage p where p.organization_id = e.organization_id
    ) as texts
from embedding_space e
where e.organization_id = %(organization_id)s
order by e.space_id;

-- name: organizations
select organization_id from organization order by 1;

-- name: kept_embeddings
select text_hash from embedding_cache
where organization_id = %(organization_id)s and space_id = %(space_id)s and text_hash = any(%(hashes)s);

-- name: embeddings
select text_hash, embedding from embedding_cache
where organization_id = %(organization_id)s and space_id = %(space_id)s and text_hash = any(%(hashes)s);

-- name: keep_embedding
insert into embedding_cache (organization_id, space_id, text_hash, embedding)
values (%(organization_id)s, %(space_id)s, %(text_hash)s, %(embedding)s)
on conflict do nothing;

-- name: unused_embeddings
-- What no passage uses: left by texts that are gone, or embedded by a run that was interrupted before it was written.
select c.text_hash from embedding_cache c
where c.organization_id = %(organization_id)s and c.space_id = %(space_id)s and c.text_hash <> all(%(kept_hashes)s)
    and not exists (
        select from passage p where p.organization_id = c.organization_id and p.text_hash = c.text_hash
    );

-- name: has_outdated_documents
select exists (
    select from (/*include documents*/) d where d.organization_id = %(organization_id)s and /*include outdated*/
);

-- name: forget_embeddings
delete from embedding_cache c
where c.organization_id = %(organization_id)s and c.space_id = %(space_id)s and c.text_hash = any(%(hashes)s)
    and not exists (
        select from passage p where p.organization_id = c.organization_id and p.text_hash = c.text_hash
    );

-- name: plan_in_bulk
-- For this transaction: the statements below join whole organizations. Of one that is loaded for the first time there are
-- no statistics yet, and the planner, expecting a row or two, compared each passage with each (measured: 274 s for
-- 10,000).
select set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'on', true),
    set_config('enable_mergejoin', 'on', true);

-- name: plan_by_key
-- For this transaction, the other way about: a batch of passages is looked up by its keys, however many there are beside
-- it. Otherwise each batch would read the whole organization.
select set_config('enable_nestloop', 'on', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true);

-- name: of_documents
-- Both halves by the key of passages.
(p.item_id = any(%(document_ids)s) or (p.item_id is null and p.instruction_id = any(%(document_ids)s)))

-- name: unembedded_passages
-- Passages whose text has no kept vector of this space, one for each text; of one source, of some documents, or of all.
select distinct on (p.text_hash) p.passage_id
from passage p
left join knowledge_item i on i.organization_id = p.organization_id and i.item_id = p.item_id
where p.organization_id = %(organization_id)s and (%(source_id)s::uuid is null or i.source_id = %(source_id)s)
    and (%(document_ids)s::uuid[] is null or /*include of_documents*/)
    and not exists (
        select from embedding_cache c
        where c.organization_id = p.organization_id and c.space_id = %(space_id)s and c.text_hash = p.text_hash
    )
order by p.text_hash;

-- name: texts_of_passages
select coalesce(p.item_id, p.instruction_id), p.text_hash, p.chunk_index, coalesce(i.title, n.title), p.content,
    p.heading
from passage p
left join knowledge_item i on i.organization_id = p.organization_id and i.item_id = p.item_id
left join instruction n on n.organization_id = p.organization_id and n.instruction_id = p.instruction_id
where p.organization_id = %(organization_id)s and p.passage_id = any(%(passage_ids)s);

-- name: unwritten
-- Passages that have no vector in this space, where its searches look.
select p.passage_id, p.language, exists (
        select from embedding_cache c
        where c.organization_id = p.organization_id and c.space_id = e.space_id and c.text_hash = p.text_hash
    ) as is_kept
from passage p
join embedding_space e on e.organization_id = p.organization_id and e.space_id = %(space_id)s
left join knowledge_item i on i.organization_id = p.organization_id and i.item_id = p.item_id
where p.organization_id = %(organization_id)s and not exists (
    select from passage_vector v
    where v.organization_id = p.organization_id and v.space_id = e.space_id and v.partition_id = e.partition_id
        and v.passage_id = p.passage_id
)

-- name: unwritten_passages
-- Of one source, of some documents, or of all.
/*include unwritten*/ and (%(source_id)s::uuid is null or i.source_id = %(source_id)s)
    and (%(document_ids)s::uuid[] is null or /*include of_documents*/)
order by p.passage_id;

-- name: unwritten_among
/*include unwritten*/ and p.passage_id = any(%(passage_ids)s);

-- name: forget_passages
delete from passage p where p.organization_id = %(organization_id)s and /*include of_documents*/;

-- name: forget_deleted
-- Passages of documents that are marked as deleted; the others went with their rows. Of one source, of some documents, or
-- of all.
delete from passage
where organization_id = %(organization_id)s and (
    item_id = any(array(
        select item_id from knowledge_item
        where organization_id = %(organization_id)s and deleted_at is not null
            and (%(source_id)s::uuid is null or source_id = %(source_id)s)
            and (%(document_ids)s::uuid[] is null or item_id = any(%(document_ids)s))
    ))
    or (item_id is null and instruction_id = any(array(
        select instruction_id from instruction
        where organization_id = %(organization_id)s and deleted_at is not null and %(source_id)s::uuid is null
            and (%(document_ids)s::uuid[] is null or instruction_id = any(%(document_ids)s))
    )))
);

-- name: count_passages
select count(*) from passage where organization_id = %(organization_id)s;

-- name: language_means
-- Of all passages by language, as the model gave their vectors.
select p.language, count(*) as passages, avg(c.embedding::vector) as mean
from passage p
join embedding_cache c on c.organization_id = p.organization_id and c.space_id = %(space_id)s
    and c.text_hash = p.text_hash
where p.organization_id = %(organization_id)s
group by p.language;

-- name: centers
select language, passages, of_passages, of_queries from language_center
where organization_id = %(organization_id)s and space_id = %(space_id)s;

-- name: forget_centers
-- Of languages that nothing is in; all of them where there is nothing at all. What has come in meanwhile keeps its own.
delete from language_center m
where m.organization_id = %(organization_id)s and m.space_id = %(space_id)s and m.language <> all(%(languages)s)
    and not exists (
        select from passage p
        where p.organization_id = m.organization_id
            and (p.language = m.language or cardinality(%(languages)s::text[]) = 0)
    );

-- name: set_center
insert into language_center (organization_id, space_id, language, passages, of_passages, of_queries)
values (%(organization_id)s, %(space_id)s, %(language)s, %(passages)s, %(of_passages)s, %(of_queries)s)
on conflict (organization_id, space_id, language) do update set
    passages = excluded.passages, of_passages = excluded.of_passages, of_queries = excluded.of_queries;

-- name: count_center
update language_center set passages = %(passages)s
where organization_id = %(organization_id)s and space_id = %(space_id)s and language = %(language)s;

-- name: centred
-- A vector as it is searched: without most of what its language has in common.
l2_normalize(c.embedding::vector - m.of_passages)::halfvec

-- name: center_again
update passage_vector v set embedding = /*include centred*/
from passage t
join embedding_cache c on c.organization_id = t.organization_id and c.space_id = %(space_id)s
    and c.text_hash = t.text_hash
join language_center m on m.organization_id = t.organization_id and m.space_id = %(space_id)s
    and m.language = t.language
where v.organization_id = %(organization_id)s and v.space_id = %(space_id)s and v.language = any(%(languages)s)
    and t.organization_id = v.organization_id and t.passage_id = v.passage_id;

-- name: add_passages
-- The ids ascend in the order of the arrays.
insert into passage (organization_id, item_id, instruction_id, chunk_index, language, heading, content, text_hash,
    document_hash)
select %(organization_id)s, item_id, instruction_id, chunk_index, language, heading, content, text_hash, document_hash
from unnest(%(item_ids)s::uuid[], %(instruction_ids)s::uuid[], %(chunk_indexes)s::integer[], %(languages)s::text[],
    %(headings)s::text[], %(contents)s::text[], %(text_hashes)s::bytea[], %(document_hashes)s::bytea[])
    with ordinality as added (item_id, instruction_id, chunk_index, language, heading, content, text_hash,
        document_hash, place)
order by place
returning passage_id;

-- name: add_words
-- The words of each passage come as one text, with a space between them.
insert into passage_words (organization_id, passage_id, words)
select %(organization_id)s, passage_id, array_to_tsvector(string_to_array(words, ' '))
from unnest(%(passage_ids)s::bigint[], %(words)s::text[]) added (passage_id, words);

-- name: words_counted_at
-- Every passage holds the empty word, which nobody asks for: how many there were when words were counted last.
select coalesce(max(passages), 0) from common_word where organization_id = %(organization_id)s and word = '';

-- name: common_words
select w.organization_id, word, count(*)
from passage_words w, unnest(tsvector_to_array(w.words)) word
where w.organization_id = %(organization_id)s
group by w.organization_id, word
having count(*) > %(common)s;

-- name: set_common_words
with gone as (
    delete from common_word where organization_id = %(organization_id)s and word <> all(%(words)s)
)
insert into common_word (organization_id, word, passages)
select %(organization_id)s, word, passages from unnest(%(words)s::text[], %(passages)s::integer[]) counted (word, passages)
on conflict (organization_id, word) do update set passages = excluded.passages
where common_word.passages <> excluded.passages;

-- name: add_codes
insert into passage_code (organization_id, code, passage_id)
select %(organization_id)s, code, passage_id
from unnest(%(codes)s::text[], %(passage_ids)s::bigint[]) added (code, passage_id)
on conflict do nothing;

-- name: is_public
i.status = 'published' and i.visibility = 'public' and 'phone' = any(i.channels) and i.deleted_at is null
        and s.status = 'ready'

-- name: facts_of_item
-- What a passage's vector repeats of the rows that it comes from: computed here and nowhere else.
p.organization_id, p.passage_id, false as is_instruction, i.item_key as owner_key, i.folder_id, b.base_key,
    b.for_agents and /*include is_public*/ as servable, not b.for_agents and /*include is_public*/ as reserved,
    i.valid_from, i.valid_to, i.open_minutes,
    nullif(array(select segment_id from item_segment g
                 where g.organization_id = i.organization_id and g.item_id = i.item_id order by segment_id),
           array[]::integer[]) as segment_ids,
    p.language, i.region_code

-- name: facts_of_instruction
p.organization_id, p.passage_id, true, n.instruction_key, null::integer, null::integer,
    n.status = 'published' and n.deleted_at is null, false,
    '-infinity'::timestamptz, 'infinity'::timestamptz, null::int4multirange,
    nullif(array(select segment_id from instruction_segment g
                 where g.organization_id = n.organization_id and g.instruction_id = n.instruction_id
                 order by segment_id),
           array[]::integer[]),
    p.language, 'GLOBAL'

-- name: facts
select /*include facts_of_item*/
from passage p
join knowledge_item i on i.organization_id = p.organization_id and i.item_id = p.item_id
join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
join knowledge_base b on b.organization_id = s.organization_id and b.base_id = s.base_id
union all
select /*include facts_of_instruction*/
from passage p
join instruction n on n.organization_id = p.organization_id and n.instruction_id = p.instruction_id

-- name: facts_by_key
-- Of the passage that is `wanted`, each row by its key.
select /*include facts_of_item*/
from lateral (
    select * from passage p where p.organization_id = %(organization_id)s and p.passage_id = wanted.passage_id limit 1
) p
cross join lateral (
    select * from knowledge_item i where i.organization_id = p.organization_id and i.item_id = p.item_id limit 1
) i
cross join lateral (
    select * from source s where s.organization_id = p.organization_id and s.source_id = i.source_id limit 1
) s
cross join lateral (
    select * from knowledge_base b where b.organization_id = p.organization_id and b.base_id = s.base_id limit 1
) b
union all
select /*include facts_of_instruction*/
from lateral (
    select * from passage p where p.organization_id = %(organization_id)s and p.passage_id = wanted.passage_id limit 1
) p
cross join lateral (
    select * from instruction n
    where n.organization_id = p.organization_id and n.instruction_id = p.instruction_id
    limit 1
) n

-- name: add_vectors
insert into passage_vector (organization_id, space_id, partition_id, passage_id, is_instruction, owner_key, folder_id,
    base_key, servable, reserved, valid_from, valid_to, open_minutes, segment_ids, language, region_code, embedding)
select f.organization_id, e.space_id, e.partition_id, f.passage_id, f.is_instruction, f.owner_key, f.folder_id,
    f.base_key, f.servable, f.reserved, f.valid_from, f.valid_to, f.open_minutes, f.segment_ids, f.language, f.region_code,
    /*include centred*/
from embedding_space e
cross join unnest(%(passage_ids)s::bigint[]) wanted (passage_id)
cross join lateral (/*include facts_by_key*/) f
cross join lateral (
    select t.text_hash, t.language from passage t
    where t.organization_id = e.organization_id and t.passage_id = wanted.passage_id
    limit 1
) t
cross join lateral (
    select c.embedding from embedding_cache c
    where c.organization_id = e.organization_id and c.space_id = e.space_id and c.text_hash = t.text_hash
    limit 1
) c
cross join lateral (
    select m.of_passages from language_center m
    where m.organization_id = e.organization_id and m.space_id = e.space_id and m.language = t.language
    limit 1
) m
where e.organization_id = %(organization_id)s and e.space_id = %(space_id)s;

-- name: refreshed
folder_id = f.folder_id, base_key = f.base_key, servable = f.servable, reserved = f.reserved,
    valid_from = f.valid_from, valid_to = f.valid_to, open_minutes = f.open_minutes, segment_ids = f.segment_ids,
    region_code = f.region_code

-- name: is_not_fresh
(v.folder_id, v.base_key, v.servable, v.reserved, v.valid_from, v.valid_to, v.open_minutes, v.segment_ids,
        v.region_code)
    is distinct from
    (f.folder_id, f.base_key, f.servable, f.reserved, f.valid_from, f.valid_to, f.open_minutes, f.segment_ids,
        f.region_code)

-- name: refresh_facts
-- In the transaction that changes the rows, so that what was closed is closed before anything is embedded again.
update passage_vector v set /*include refreshed*/
from (/*include facts*/) f
where v.organization_id = %(organization_id)s and f.organization_id = v.organization_id and f.passage_id = v.passage_id
    and /*include is_not_fresh*/;

-- name: passages_of_source
select p.passage_id from knowledge_item i
join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
where i.organization_id = %(organization_id)s and i.source_id = %(source_id)s
limit %(limit)s;

-- name: passages_of_documents
select p.passage_id from passage p where p.organization_id = %(organization_id)s and /*include of_documents*/;

-- name: texts_of_documents
-- The keys of what is kept of their passages' vectors; read before those go.
select distinct p.text_hash from passage p where p.organization_id = %(organization_id)s and /*include of_documents*/;

-- name: forget_texts
-- Vectors of texts that no passage has any more, of any space.
delete from embedding_cache c
where c.organization_id = %(organization_id)s and c.text_hash = any(%(hashes)s) and not exists (
    select from passage p where p.organization_id = c.organization_id and p.text_hash = c.text_hash
);

-- name: passages_of_base
select p.passage_id from source s
join knowledge_item i on i.organization_id = s.organization_id and i.source_id = s.source_id
join passage p on p.organization_id = i.organization_id and p.item_id = i.item_id
where s.organization_id = %(organization_id)s and s.base_id = %(base_id)s
limit %(limit)s;

-- name: passages_of_items
select passage_id from passage where organization_id = %(organization_id)s and item_id = any(%(item_ids)s);

-- name: refresh_facts_of
-- The same for some passages.
update passage_vector v set /*include refreshed*/
from unnest(%(passage_ids)s::bigint[]) wanted (passage_id)
cross join lateral (/*include facts_by_key*/) f
where v.organization_id = %(organization_id)s and v.passage_id = wanted.passage_id
    and v.passage_id = any(%(passage_ids)s) and v.space_id = any(array(
        select space_id from embedding_space where organization_id = %(organization_id)s
    ))
    and /*include is_not_fresh*/;
