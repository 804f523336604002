SET LOCAL lock_timeout = '10s';

drop view base_owner;
alter table segment drop column id;
alter table number_route drop column number_id;
alter table phone_agent drop column deleted_at;
alter table passage_vector drop column reserved;
alter table knowledge_base
    drop column member_id, drop column team_id, drop column for_agents, drop column is_published;
alter table api_key drop column member_id;
drop table team_member, team, member;
