-- name: eligible
-- The one predicate of what may be returned. `p` is passage_vector; every statement that reads passages includes it.
-- No restriction is a null: to compare an array with an empty one takes as long as to compare two vectors.
-- What is reserved is for those alone who try out a base of their own that is not for agents; no call's text has it. It is
-- no parameter, which would keep the planner from the indexes of what is servable.
p.organization_id = %(organization_id)s and p.space_id = %(space_id)s and (p.servable {or_reserved})
-- A literal: the planner leaves the other partitions out, and there is a plan for each of them.
and p.partition_id = {partition_id}
and p.valid_from <= %(now)s and %(now)s < p.valid_to
and (p.open_minutes is null or p.open_minutes @> %(minute)s::integer)
and (p.segment_ids is null or p.segment_ids && %(segment_ids)s::integer[])

-- name: or_reserved
or p.reserved

-- name: confirmed
-- The rows themselves have the last word, whatever the denormalised columns say. `i` is the item's, `n` the
-- instruction's.
(
    (not p.is_instruction and i.status = 'published' and i.visibility = 'public' and i.deleted_at is null
        and 'phone' = any(i.channels))
    or (p.is_instruction and n.status = 'published' and n.deleted_at is null)
)

-- name: all_instructions
p.is_instruction

-- name: selected_instructions
p.is_instruction and p.owner_key = any(%(instruction_keys)s::integer[])

-- name: all_knowledge
not p.is_instruction

-- name: selected_items
not p.is_instruction and p.owner_key = any(%(item_keys)s::integer[])

-- name: selected_folders
not p.is_instruction and p.folder_id = any(%(folder_ids)s::integer[])

-- name: selected_bases
not p.is_instruction and p.base_key = any(%(base_keys)s::integer[])

-- name: narrowed
and p.base_key = any(%(narrowed_base_keys)s::integer[])

-- name: everything
true

-- name: nearest
-- One leg of the dense search: exact, over an index condition of its own. The limit is a literal: of a parameter the
-- planner expects a tenth of all rows, and it would read the text of the whole organization to join it with so many.
(
    select p.passage_id from passage_vector p
    where /*include eligible*/ and {leg}
    order by {distance}, p.passage_id
    limit {pool}
)

-- name: nearly_nearest
-- A leg by the HNSW index of the space's own partition. The index gives its nearest few (hnsw.ef_search, not iterated),
-- of which the predicate leaves some: as many as are wanted, and they are the nearest of all that it allows; fewer, and
-- the exact leg answers. So no answer is short, and none comes from the far ends of a graph that a filter has thinned.
(
    with near as materialized (
        select p.passage_id
        from (
            select p.* from passage_vector p
            where /*include eligible*/
            order by p.embedding::halfvec({dimensions}) <=> (select vector from question)
            offset 0 -- a fence: what the planner thinks that a selection keeps is no reason to plan otherwise
        ) p
        where {leg}
        limit {pool}
    )
    select passage_id from near
    union all
    select passage_id from /*include nearest*/ exact
    where (select count(*) from near) < {pool}
)

-- name: nearest_listed
select passage_id from allowed order by distance, passage_id limit {pool}

-- name: listed
-- What is allowed, once. Up to so many passages are tried one by one for words: 3 µs each, as each hit of the index takes.
allowed as materialized (
    {allowed}
),
listing as materialized (
    select count(*) > {short_list} as is_long from allowed
)

-- name: unlisted
listing as materialized (
    select true as is_long
)

-- name: on_list
join allowed on allowed.passage_id = {passage_id}

-- name: by_itself
-- The limit is a fence: each is looked up by its key. The planner, left to itself, would read all that is allowed once
-- more (measured among 1,000,000 passages: 26 ms instead of 13).
cross join lateral (
    select p.passage_id from passage_vector p
    where /*include eligible*/ and {leg} and p.passage_id = {passage_id}
    limit 1
) allowed

-- name: hits_of_index
-- Which passage holds which word, from the index: to unfold the words of each hit costs a hundred times as much.
select w.passage_id, a.word
from asked a
cross join lateral (
    select w.passage_id from passage_words w
    where w.organization_id = %(organization_id)s and w.words @@ a.query
    offset 0 -- a fence, as in `by_codes`
) w
{is_allowed}
where a.passages is null and (select is_long from listing)

-- name: hits_of_list
-- What a short list has is tried one by one, however many others hold a word.
select l.passage_id, a.word
from allowed l
cross join lateral (
    select w.words from passage_words w
    where w.organization_id = %(organization_id)s and w.passage_id = l.passage_id
    limit 1
) w
join asked a on w.words @@ a.query
where not (select is_long from listing)

-- name: nothing_near
-- In place of the dense legs while there is no vector to compare with.
select null::bigint as passage_id where false

-- name: allowed_leg
-- One kind of selection, by an index condition of its own: one range scan each.
select p.passage_id, {distance} as distance from passage_vector p where /*include eligible*/ and {leg}

-- name: distance
-- Cosine distance: both vectors have length 1, so that the inner product does, which costs less. No index on vectors can
-- give an order by a sum: an exact search stays one.
1 + (p.embedding <#> (select vector from question))

-- name: no_distance
null::float8

-- name: centred_question
-- Centred as the passages are: without what its language has in common.
-- All passages are counted under '*', more than under any language.
select l2_normalize(%(vector)s::vector - m.of_queries)::halfvec as vector,
    max(m.passages) over ()::float8 as passages
from language_center m
where m.organization_id = %(organization_id)s and m.space_id = %(space_id)s
    and m.language in (%(language)s, '*')
order by m.language = '*'
limit 1

-- name: of_all_legs
select passage_id from nearest
union select passage_id from by_words
union select passage_id from by_codes

-- name: of_candidate
-- What is read of each, to be ranked: `t` is its text, `i` the item's row and `n` the instruction's.
p.passage_id, p.is_instruction, coalesce(i.item_id, n.instruction_id) as id, t.chunk_index,
    coalesce(i.title, n.title) as title, t.content, i.source_url, p.language, p.region_code,
    {distance} as distance,
    (select json_object_agg(word, weight)::text from weights) as weights,
    (select ln(2 + passages) from question) as unknown_weight,
    s.base_id, s.name as source_name, i.external_id

-- name: search
-- Candidates by meaning, by words and by codes, all of what is allowed; the text comes along only for them.
with question as materialized (
    /*include centred_question*/
),
{listing},
nearest as (
    {nearest}
),
-- `passages`: in how many a common word is, where that matters. It tells passages apart, and finds none: the more hold it,
-- the less that says and the longer it takes.
asked as materialized (
    select asked_word.word, quote_literal(asked_word.word)::tsquery as query, c.passages
    from unnest(%(words)s::text[]) asked_word (word)
    left join common_word c on %(spare_common)s and (select is_long from listing)
        and c.organization_id = %(organization_id)s and c.word = asked_word.word
),
word_hits as materialized (
    {word_hits}
),
frequencies as (
    select word, count(*)::float8 as passages from word_hits group by word
    union all
    select word, passages from asked where passages is not null
),
-- How telling each word is: rare words are worth more.
weights as materialized (
    select word, ln(1 + (select passages from question) / passages) as weight from frequencies
),
by_words as (
    select h.passage_id, sum(g.weight) as weight
    from word_hits h
    join weights g on g.word = h.word
    group by h.passage_id
    order by weight desc, h.passage_id
    limit {pool}
),
by_codes as (
    -- What many passages hold is a number, not a code.
    select passage_id, max(length(code)) as code_length
    from (
        select c.passage_id, c.code, count(*) over (partition by c.code) as holders
        from (
            select c.passage_id, c.code from passage_code c
            where c.organization_id = %(organization_id)s and c.code = any(%(codes)s::text[])
            offset 0 -- a fence: few passages hold a code, and the planner would ask each that is allowed for its codes
        ) c
        {code_is_allowed}
    ) held
    where holders <= 5
    group by passage_id
    order by code_length desc, passage_id
    limit {pool}
),
candidates as (/*include of_all_legs*/)
select
    /*include of_candidate*/,
    array(select a.word from asked a where words.words @@ a.query) as words,
    k.code_length is not null as has_code
from candidates c
-- Fenced as in `by_itself`: to join these few the planner would walk over all that the organization has (measured among
-- 1,000,000 passages: 10.1 ms instead of 6.7 for the whole search).
cross join lateral (
    select p.* from passage_vector p where /*include eligible*/ and p.passage_id = c.passage_id limit 1
) p
join passage t on t.organization_id = p.organization_id and t.passage_id = p.passage_id
left join knowledge_item i on i.organization_id = t.organization_id and i.item_id = t.item_id
left join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
left join instruction n on n.organization_id = t.organization_id and n.instruction_id = t.instruction_id
left join passage_words words on words.organization_id = p.organization_id and words.passage_id = p.passage_id
left join by_codes k on k.passage_id = p.passage_id
where /*include confirmed*/;

-- name: kept_back
-- What an operator may see and a call is not given: not what a team or a person has to themselves. Null is no.
p.organization_id = %(organization_id)s and p.space_id = %(space_id)s and p.partition_id = {partition_id}
and (p.is_instruction or p.base_key = any(array(
    select b.base_key from knowledge_base b
    where b.organization_id = %(organization_id)s and b.for_agents
)))
and (/*include eligible*/ and {leg}) is not true

-- name: withheld
-- For operators alone: what is near a question and not searched for its caller, by meaning, words and codes, and for
-- each why that is so. What is searched is left out before the limits, as it would leave no room.
with question as materialized (
    /*include centred_question*/
),
nearest as (
    select p.passage_id from passage_vector p
    where {by_meaning} and /*include kept_back*/
    order by {distance}, p.passage_id
    limit {pool}
),
word_hits as materialized (
    select p.passage_id, asked.word
    from unnest(%(words)s::text[]) asked (word)
    join passage_words w on w.organization_id = %(organization_id)s and w.words @@ quote_literal(asked.word)::tsquery
    join passage_vector p on p.passage_id = w.passage_id
    where /*include kept_back*/
),
weights as materialized (
    select word, ln(1 + (select passages from question) / count(*)) as weight from word_hits group by word
),
by_words as (
    select h.passage_id from word_hits h
    join weights g on g.word = h.word
    group by h.passage_id
    order by sum(g.weight) desc, h.passage_id
    limit {pool}
),
by_codes as (
    select distinct p.passage_id from passage_code c
    join passage_vector p on p.passage_id = c.passage_id
    where c.organization_id = %(organization_id)s and c.code = any(%(codes)s::text[]) and /*include kept_back*/
    order by p.passage_id
    limit {pool}
),
candidates as (/*include of_all_legs*/)
select
    /*include of_candidate*/,
    array(select h.word from word_hits h where h.passage_id = p.passage_id) as words,
    p.passage_id in (select passage_id from by_codes) as has_code,
    -- In this order they are told.
    array_remove(array[
        case when ({leg}) is not true then 'out_of_scope' end,
        case when coalesce(i.status, n.status) <> 'published' then 'draft' end,
        case when i.visibility <> 'public' then 'internal' end,
        case when not 'phone' = any(i.channels) then 'other_channel' end,
        case when p.valid_to <= %(now)s then 'expired' end,
        case when p.valid_from > %(now)s then 'not_yet_valid' end,
        case when not p.open_minutes @> %(minute)s::integer then 'outside_schedule' end,
        case when not p.segment_ids && %(segment_ids)s::integer[] then 'segment' end,
        case when s.status <> 'ready' then 'source_not_ready' end
    ], null) as reasons
from candidates c
join passage_vector p on p.passage_id = c.passage_id and /*include kept_back*/
join passage t on t.organization_id = p.organization_id and t.passage_id = p.passage_id
left join knowledge_item i on i.organization_id = t.organization_id and i.item_id = t.item_id
left join source s on s.organization_id = i.organization_id and s.source_id = i.source_id
left join instruction n on n.organization_id = t.organization_id and n.instruction_id = t.instruction_id
where coalesce(i.deleted_at, n.deleted_at) is null;

-- name: rows_in_scope
-- How many vectors a large organization's index has, and how many of them each leg may give at the least. `p` is the
-- table of counts here, which has the columns that legs speak of.
select coalesce(sum(p.servable_rows), 0)::integer, {of_legs}
from vector_count p
where p.organization_id = %(organization_id)s and p.space_id = %(space_id)s;

-- name: rows_of_leg
coalesce(sum(p.open_rows) filter (where {leg}), 0)::integer

-- name: anything_eligible
-- Whether a leg of the scope holds anything at all: the difference between "not found" and "nothing to search".
select exists (
    select from passage_vector p
    left join knowledge_item i
        on not p.is_instruction and i.organization_id = p.organization_id and i.item_key = p.owner_key
    left join instruction n
        on p.is_instruction and n.organization_id = p.organization_id and n.instruction_key = p.owner_key
    where /*include eligible*/ and {leg} and /*include confirmed*/
);

-- name: whole
-- The documents that a scope allows, where there is so little that all of it can be told at once; no row where there is
-- more. Sizes are looked at before any text is read: a large organization costs what it takes to see that it is large.
with allowed as materialized (
    select distinct p.organization_id, p.is_instruction, p.owner_key
    from passage_vector p
    where /*include eligible*/ and {leg}
    limit {most_documents} + 1
),
documents as materialized (
    select p.is_instruction, coalesce(i.item_id, n.instruction_id) as id, coalesce(i.title, n.title) as title,
        coalesce(i.content, n.content) as content
    from allowed p
    left join knowledge_item i
        on not p.is_instruction and i.organization_id = p.organization_id and i.item_key = p.owner_key
    left join instruction n
        on p.is_instruction and n.organization_id = p.organization_id and n.instruction_key = p.owner_key
    where /*include confirmed*/
)
select is_instruction, id, title, content from documents
where (select count(*) from allowed) <= {most_documents}
    and (select sum(octet_length(content)) from documents) <= {most_bytes}
order by is_instruction desc, title, id;

-- name: sample
-- Passages that a call may hear, for questions to be made of, in an order that depends on their text alone; `siblings`
-- is how many their document has.
select
    p.passage_id, coalesce(i.item_id, n.instruction_id) as document_id, t.chunk_index, p.language,
    coalesce(i.title, n.title) as title, t.content,
    count(*) over (partition by i.item_id, n.instruction_id) as siblings
from passage_vector p
join passage t on t.organization_id = p.organization_id and t.passage_id = p.passage_id
left join knowledge_item i on i.organization_id = t.organization_id and i.item_id = t.item_id
left join instruction n on n.organization_id = t.organization_id and n.instruction_id = t.instruction_id
where /*include eligible*/ and /*include confirmed*/
order by md5(t.text_hash), p.passage_id
limit %(passages)s;

-- name: log
-- A search is a sign of life: the watchdog leaves its call alone.
with seen as (
    update call_session set last_seen_at = greatest(last_seen_at, %(at)s)
    where organization_id = %(organization_id)s and session_id = %(session_id)s
)
insert into search_log (organization_id, search_id, session_id, at, query_redacted, language, region_code, status,
    result_count, citation_count, result_ids, top_score, top_relevance, cross_language_fallback, degraded, embed_ms,
    search_ms, total_ms)
values (%(organization_id)s, %(search_id)s, %(session_id)s, %(at)s, %(query_redacted)s, %(language)s, %(region_code)s,
    %(status)s, %(result_count)s, %(citation_count)s, %(result_ids)s, %(top_score)s, %(top_relevance)s,
    %(cross_language_fallback)s, %(degraded)s, %(embed_ms)s, %(search_ms)s, %(total_ms)s);
