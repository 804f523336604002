SET LOCAL lock_timeout = '10s';

-- The people of an organization. A member's keys can do no more than the member may, whatever stands in them.
create table member (
    organization_id uuid not null references organization on delete cascade,
    member_id uuid not null default gen_random_uuid(),
    name text not null,
    permissions text[] not null check (
        permissions <@ array['agents.view', 'agents.edit', 'admin'] and cardinality(permissions) > 0
    ),
    created_at timestamptz not null,
    primary key (organization_id, member_id)
);

create table team (
    organization_id uuid not null references organization on delete cascade,
    team_id uuid not null default gen_random_uuid(),
    name text not null,
    primary key (organization_id, team_id),
    unique (organization_id, name)
);

create table team_member (
    organization_id uuid not null,
    team_id uuid not null,
    member_id uuid not null,
    primary key (organization_id, team_id, member_id),
    foreign key (organization_id, team_id) references team on delete cascade,
    foreign key (organization_id, member_id) references member on delete cascade
);
create index team_member_member on team_member (organization_id, member_id);

-- Without a member a key is the organization's own. It never becomes that by losing its member: it goes with them.
alter table api_key
    add column member_id uuid,
    add foreign key (organization_id, member_id) references member on delete cascade;
create index api_key_member on api_key (organization_id, member_id);

-- Whether agents may search a base, whoever's it is: the one column that everything goes by. A team's or a person's is
-- its owner's until they publish it. Neither a team nor a member goes while a base is theirs: it would be nobody's.
alter table knowledge_base
    add column is_published boolean not null default false,
    add column for_agents boolean generated always as (owner_type = 'organization' or is_published) stored,
    add column team_id uuid generated always as (case when owner_type = 'team' then owner_id end) stored,
    add column member_id uuid generated always as (case when owner_type = 'user' then owner_id end) stored,
    add check (not (is_published and owner_type = 'organization')),
    add foreign key (organization_id, team_id) references team,
    add foreign key (organization_id, member_id) references member;

-- Whose bases are, person by person; the organization's own are nobody's.
create view base_owner as
select organization_id, base_id, member_id from knowledge_base where member_id is not null
union all
select b.organization_id, b.base_id, t.member_id
from knowledge_base b
join team_member t on t.organization_id = b.organization_id and t.team_id = b.team_id;

-- What would be servable, were its base open to agents: its owners alone may try it out. Never true of what is servable.
alter table passage_vector add column reserved boolean not null default false;

-- An agent that has had calls is marked: they stay, and say whom they reached.
alter table phone_agent add column deleted_at timestamptz;

-- By these they stand in addresses, and in the audit log.
alter table number_route add column number_id uuid not null default gen_random_uuid();
create unique index number_route_id on number_route (organization_id, number_id);
alter table segment add column id uuid not null default gen_random_uuid();
create unique index segment_id on segment (organization_id, id);

grant select, insert, update, delete on member, team, team_member to answerline_manage;
grant select on base_owner to answerline_manage;
