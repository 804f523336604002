-- name: settings
select name, time_zone, default_language, default_region, language_fallbacks from organization
where organization_id = %(organization_id)s;

-- name: update_settings
update organization set name = %(name)s, time_zone = %(time_zone)s, default_language = %(default_language)s,
    default_region = %(default_region)s, language_fallbacks = %(language_fallbacks)s
where organization_id = %(organization_id)s;

-- name: segments
select s.id, s.key, s.name, (
        select count(*) from contact_segment c
        where c.organization_id = s.organization_id and c.segment_id = s.segment_id
    ) as contacts, (
        select count(*) from item_segment i
        where i.organization_id = s.organization_id and i.segment_id = s.segment_id
    ) as items, (
        select count(*) from instruction_segment n
        where n.organization_id = s.organization_id and n.segment_id = s.segment_id
    ) as instructions
from segment s
where s.organization_id = %(organization_id)s

-- name: list_segments
/*include segments*/ and s.key > %(after)s
order by s.key
limit %(limit)s;

-- name: find_segment
/*include segments*/ and s.id = %(segment_id)s;

-- name: add_segment
insert into segment (organization_id, key, name) values (%(organization_id)s, %(key)s, %(name)s)
on conflict (organization_id, key) do nothing
returning id;

-- name: rename_segment
update segment set name = %(name)s where organization_id = %(organization_id)s and id = %(segment_id)s;

-- name: delete_segment
-- Contacts lose it. What is for it alone holds it.
delete from segment where organization_id = %(organization_id)s and id = %(segment_id)s;

-- name: contacts
select c.contact_id, c.phone_number, c.name, c.language, array(
        select s.key from contact_segment x
        join segment s on s.organization_id = x.organization_id and s.segment_id = x.segment_id
        where x.organization_id = c.organization_id and x.contact_id = c.contact_id
        order by s.key
    ) as segments
from contact c
where c.organization_id = %(organization_id)s

-- name: list_contacts
-- Names are cut for the order, so that a cursor, which holds one, has an end.
/*include contacts*/ and (left(c.name, 200), c.contact_id) > (%(after_name)s, %(after_id)s)
order by left(c.name, 200), c.contact_id
limit %(limit)s;

-- name: find_contact
/*include contacts*/ and c.contact_id = %(contact_id)s;

-- name: add_contact
insert into contact (organization_id, phone_number, name, language)
values (%(organization_id)s, %(phone_number)s, %(name)s, %(language)s)
on conflict (organization_id, phone_number) do nothing
returning contact_id;

-- name: update_contact
update contact set phone_number = %(phone_number)s, name = %(name)s, language = %(language)s
where organization_id = %(organization_id)s and contact_id = %(contact_id)s;

-- name: delete_contact
-- Their calls stay, as calls of somebody who is not known.
delete from contact where organization_id = %(organization_id)s and contact_id = %(contact_id)s;

-- name: segments_by_key
select key from segment where organization_id = %(organization_id)s and key = any(%(keys)s);

-- name: clear_segments
delete from contact_segment where organization_id = %(organization_id)s and contact_id = %(contact_id)s;

-- name: add_segments
insert into contact_segment (organization_id, contact_id, segment_id)
select s.organization_id, %(contact_id)s, s.segment_id from segment s
where s.organization_id = %(organization_id)s and s.key = any(%(keys)s);

-- name: teams
select t.team_id, t.name, (
        select count(*) from team_member m where m.organization_id = t.organization_id and m.team_id = t.team_id
    ) as members, (
        select count(*) from knowledge_base b where b.organization_id = t.organization_id and b.team_id = t.team_id
    ) as bases
from team t
where t.organization_id = %(organization_id)s

-- name: list_teams
/*include teams*/ and t.name > %(after)s
order by t.name
limit %(limit)s;

-- name: find_team
/*include teams*/ and t.team_id = %(team_id)s;

-- name: add_team
insert into team (organization_id, name) values (%(organization_id)s, %(name)s)
on conflict (organization_id, name) do nothing
returning team_id;

-- name: rename_team
update team set name = %(name)s where organization_id = %(organization_id)s and team_id = %(team_id)s;

-- name: delete_team
delete from team where organization_id = %(organization_id)s and team_id = %(team_id)s;

-- name: is_in_team
select exists (
    select from team_member
    where organization_id = %(organization_id)s and team_id = %(team_id)s and member_id = %(member_id)s
);

-- name: list_team_members
select m.member_id, m.name from team_member t
join member m on m.organization_id = t.organization_id and m.member_id = t.member_id
where t.organization_id = %(organization_id)s and t.team_id = %(team_id)s
    and (left(m.name, 200), m.member_id) > (%(after_name)s, %(after_id)s)
order by left(m.name, 200), m.member_id
limit %(limit)s;

-- name: add_team_member
-- No row where there is no such member, or they are in it already.
insert into team_member (organization_id, team_id, member_id)
select m.organization_id, %(team_id)s, m.member_id from member m
where m.organization_id = %(organization_id)s and m.member_id = %(member_id)s
on conflict do nothing
returning member_id;

-- name: remove_team_member
delete from team_member
where organization_id = %(organization_id)s and team_id = %(team_id)s and member_id = %(member_id)s
returning member_id;

-- name: numbers
select number_id, phone_number, agent_id from number_route
where organization_id = %(organization_id)s

-- name: list_numbers
/*include numbers*/ and phone_number > %(after)s
order by phone_number
limit %(limit)s;

-- name: find_number
/*include numbers*/ and number_id = %(number_id)s;

-- name: add_number
-- Of whichever organization it is already: no row.
insert into number_route (phone_number, organization_id, agent_id)
values (%(phone_number)s, %(organization_id)s, %(agent_id)s)
on conflict (phone_number) do nothing
returning number_id;

-- name: route_number
update number_route set agent_id = %(agent_id)s
where organization_id = %(organization_id)s and number_id = %(number_id)s;

-- name: delete_number
delete from number_route where organization_id = %(organization_id)s and number_id = %(number_id)s;

-- name: find_agent_profile
select agent_id, name, language, region_code, prompt, greeting, handoff_number, knowledge_mode from phone_agent
where organization_id = %(organization_id)s and agent_id = %(agent_id)s and deleted_at is null;

-- name: name_is_taken
select exists (
    select from phone_agent
    where organization_id = %(organization_id)s and name = %(name)s and agent_id is distinct from %(agent_id)s::uuid
);

-- name: add_agent
insert into phone_agent (organization_id, name, language, region_code, prompt, greeting, handoff_number, knowledge_mode)
values (%(organization_id)s, %(name)s, %(language)s, %(region_code)s, %(prompt)s, %(greeting)s, %(handoff_number)s,
    %(knowledge_mode)s)
returning agent_id;

-- name: update_agent
update phone_agent set name = %(name)s, language = %(language)s, region_code = %(region_code)s, prompt = %(prompt)s,
    greeting = %(greeting)s, handoff_number = %(handoff_number)s, knowledge_mode = %(knowledge_mode)s
where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: hold_agent
-- A call that begins refers to the row, and waits.
select from phone_agent where organization_id = %(organization_id)s and agent_id = %(agent_id)s for update;

-- name: numbers_of_agent
select phone_number from number_route
where organization_id = %(organization_id)s and agent_id = %(agent_id)s
order by phone_number;

-- name: count_calls
select count(*) from call_session where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: delete_agent
-- One that never had a call. Selections and numbers go with it.
delete from phone_agent where organization_id = %(organization_id)s and agent_id = %(agent_id)s;

-- name: retire_agent
-- One that had calls, which would go with its row. Nothing can be searched by it, no number leads to it, and its name is
-- free again.
with gone_instructions as (
    delete from agent_instruction where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_directories as (
    delete from agent_instruction_directory where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_items as (
    delete from agent_item where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_folders as (
    delete from agent_folder where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_bases as (
    delete from agent_knowledge_base where organization_id = %(organization_id)s and agent_id = %(agent_id)s
), gone_numbers as (
    delete from number_route where organization_id = %(organization_id)s and agent_id = %(agent_id)s
)
update phone_agent set deleted_at = %(now)s, name = left(name, 200) || ' (deleted, ' || agent_id || ')',
    instruction_scope_mode = 'selected', knowledge_scope_mode = 'selected'
where organization_id = %(organization_id)s and agent_id = %(agent_id)s;
