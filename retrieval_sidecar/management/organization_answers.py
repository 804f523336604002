"""From what an organization has, beside its knowledge, to what the contract says of it."""

from datetime import UTC, datetime
from uuid import UUID

from contracts import management as wire
from retrieval_sidecar.management.keys import Key
from retrieval_sidecar.management.members import Member
from retrieval_sidecar.organization.contacts import Contact
from retrieval_sidecar.organization.numbers import Number
from retrieval_sidecar.organization.segments import Segment
from retrieval_sidecar.organization.settings import OrganizationSettings
from retrieval_sidecar.organization.teams import Team, TeamMember


def to_key(key: Key) -> wire.ApiKey:
    return wire.ApiKey(
        id=key.key_id,
        name=key.name,
        permissions=list(key.permissions),
        member_id=key.member_id,
        created_at=key.created_at.astimezone(UTC),
        expires_at=_utc(key.expires_at),
        revoked_at=_utc(key.revoked_at),
        last_used_at=_utc(key.last_used_at),
    )


def to_new_key(key: Key, text: str) -> wire.NewApiKey:
    """With the key itself, which is shown this once."""
    return wire.NewApiKey(**dict(to_key(key)), key=text)


def to_member(member: Member) -> wire.Member:
    return wire.Member(
        id=member.member_id,
        name=member.name,
        permissions=list(member.permissions),
        created_at=member.created_at.astimezone(UTC),
        key_count=member.keys,
    )


def to_team(team: Team) -> wire.Team:
    return wire.Team(id=team.team_id, name=team.name, member_count=team.members)


def to_team_member(member: TeamMember) -> wire.TeamMember:
    return wire.TeamMember(id=member.member_id, name=member.name)


def to_segment(segment: Segment) -> wire.Segment:
    return wire.Segment(
        id=segment.segment_id,
        key=segment.key,
        name=segment.name,
        contact_count=segment.contacts,
        item_count=segment.items,
        instruction_count=segment.instructions,
    )


def to_contact(contact: Contact) -> wire.Contact:
    return wire.Contact(
        id=contact.contact_id,
        phone_number=contact.phone_number,
        name=contact.name,
        language=contact.language,
        segments=list(contact.segments),
    )


def to_number(number: Number) -> wire.PhoneNumber:
    return wire.PhoneNumber(id=number.number_id, phone_number=number.phone_number, agent_id=number.agent_id)


def to_organization(organization_id: UUID, settings: OrganizationSettings) -> wire.Organization:
    return wire.Organization(
        id=organization_id,
        name=settings.name,
        time_zone=settings.time_zone,
        default_language=settings.default_language,
        default_region=settings.default_region,
        language_fallbacks={language: list(after) for language, after in settings.language_fallbacks.items()},
    )


def _utc(time: datetime | None) -> datetime | None:
    """As the contract has it, whatever zone the database's server is set to."""
    return None if time is None else time.astimezone(UTC)
