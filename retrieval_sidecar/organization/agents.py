"""Phone agents: who answers, and how. What each may search is `retrieval_sidecar.scope`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, InvalidRequest, PreconditionFailed
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.organization.names import name_of, storable
from retrieval_sidecar.organization.numbers import e164_of
from retrieval_sidecar.organization.rows import all_rows, found_row, one_row, run
from retrieval_sidecar.text.normalize import for_embedding

_AUDITED_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Profile:
    """What an operator says of an agent.

    Attributes:
        region_code: None for the organization's.
        handoff_number: whom it hands calls to, in E.164; None for nobody.
        knowledge_mode: whether all that it may say goes into the prompt where that is short (`auto`).
    """

    name: str
    language: str
    region_code: str | None
    prompt: str
    greeting: str
    handoff_number: str | None
    knowledge_mode: Literal["search", "auto"]

    @property
    def etag(self) -> str:
        """The same for the same profile, and for no other."""
        return sha256(json.dumps(asdict(self)).encode()).hexdigest()

    def as_record(self) -> dict[str, Any]:
        """As the audit log has it: of the texts their length and what tells one from another."""
        texts = {name: _told(getattr(self, name)) for name in ("prompt", "greeting")}
        return asdict(self) | texts


async def find_profile(connection: Connection, organization_id: UUID, agent_id: UUID) -> Profile:
    """Raises NotFound."""
    _, *values = await found_row(connection, "find_agent_profile", organization_id, agent_id=agent_id)
    return Profile(*values)


async def create_agent(
    connection: Connection, organization_id: UUID, wanted: Mapping[str, Any]
) -> tuple[UUID, Profile]:
    """A new agent, which may search everything. Raises InvalidRequest, and Conflict where the name is taken."""
    unsaid = {"region_code": None, "handoff_number": None, "knowledge_mode": "search"}
    profile = Profile(**(unsaid | _checked(wanted)))
    async with change(connection, organization_id):
        await _require_free(connection, organization_id, profile.name, None)
        (agent_id,) = await found_row(connection, "add_agent", organization_id, **asdict(profile))
    return agent_id, profile


async def update_agent(
    connection: Connection, organization_id: UUID, agent_id: UUID, wanted: Mapping[str, Any], *, etag: str
) -> tuple[Profile, Profile]:
    """Change some of a profile, by the names of its fields; the profile before and after.

    Args:
        etag: of the profile that was edited.

    Raises:
        InvalidRequest: a field cannot be that.
        NotFound: there is no such agent.
        PreconditionFailed: the profile has changed since.
        Conflict: another agent has the name.
    """
    checked = _checked(wanted)
    async with change(connection, organization_id):
        before = await find_profile(connection, organization_id, agent_id)
        if before.etag != etag:
            raise PreconditionFailed
        after = Profile(**(asdict(before) | checked))
        await _require_free(connection, organization_id, after.name, agent_id)
        await run(connection, "update_agent", organization_id, agent_id=agent_id, **asdict(after))
    return before, after


async def delete_agent(
    connection: Connection, organization_id: UUID, agent_id: UUID, now: datetime
) -> tuple[Profile, list[str]]:
    """Remove an agent; the profile, and the numbers that lead nowhere now.

    Its calls stay, and go on naming it: of an agent that had some the row is kept, out of every list and search. A call
    that is on is given nothing more. Raises NotFound.
    """
    async with change(connection, organization_id):
        profile = await find_profile(connection, organization_id, agent_id)
        await run(connection, "hold_agent", organization_id, agent_id=agent_id)
        numbers = [row[0] for row in await all_rows(connection, "numbers_of_agent", organization_id, agent_id=agent_id)]
        (calls,) = await found_row(connection, "count_calls", organization_id, agent_id=agent_id)
        await run(connection, "retire_agent" if calls else "delete_agent", organization_id, agent_id=agent_id, now=now)
    return profile, numbers


def _checked(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are stored; an empty text takes a region or a hand-off number away."""
    checked = dict(wanted)
    if "name" in wanted:
        checked["name"] = name_of(wanted["name"])
    for text in ("prompt", "greeting"):
        if text in wanted:
            checked[text] = storable(wanted[text], text)
    if "greeting" in wanted and not for_embedding(wanted["greeting"]):
        raise InvalidRequest.of("greeting", "must hold something visible")
    if "region_code" in wanted:
        checked["region_code"] = wanted["region_code"] or None
    if "handoff_number" in wanted:
        number = wanted["handoff_number"]
        checked["handoff_number"] = e164_of(number, "handoff_number") if number else None
    return checked


async def _require_free(connection: Connection, organization_id: UUID, name: str, agent_id: UUID | None) -> None:
    row = await one_row(connection, "name_is_taken", organization_id, name=name, agent_id=agent_id)
    if row is not None and row[0]:
        raise Conflict("There is a phone agent of this name already. Choose another name.", field="name")


def _told(text: str) -> dict[str, Any]:
    return {
        "begins": text[:_AUDITED_CHARACTERS],
        "characters": len(text),
        "sha256": sha256(text.encode()).hexdigest(),
    }
