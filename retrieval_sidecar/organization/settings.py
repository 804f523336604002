"""What holds for all of an organization."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from psycopg.types.json import Jsonb

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.organization.rows import found_row, run

_LANGUAGE = re.compile("[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class OrganizationSettings:
    """An organization's settings.

    Attributes:
        time_zone: IANA; weekly hours and days without a time go by its clock.
        default_language, default_region: of agents and questions that say none.
        language_fallbacks: for a language those that are searched after it, in order.
    """

    name: str
    time_zone: str
    default_language: str
    default_region: str
    language_fallbacks: Mapping[str, Sequence[str]]

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


async def find_settings(connection: Connection, organization_id: UUID) -> OrganizationSettings:
    """Raises NotFound."""
    return OrganizationSettings(*await found_row(connection, "settings", organization_id))


async def update_settings(
    connection: Connection, organization_id: UUID, wanted: Mapping[str, Any]
) -> tuple[OrganizationSettings, OrganizationSettings]:
    """Change some settings, by their names; the settings before and after. Raises InvalidRequest and NotFound."""
    if "time_zone" in wanted and wanted["time_zone"] not in available_timezones():
        raise InvalidRequest.of("time_zone", "must be an IANA time zone, such as Europe/Berlin")
    fallbacks: Mapping[str, Sequence[str]] = wanted.get("language_fallbacks", {})
    if not all(map(_LANGUAGE.fullmatch, chain(*fallbacks.values()))):
        raise InvalidRequest.of("language_fallbacks", "must name languages by their ISO 639 codes")
    named = {"name": name_of(wanted["name"])} if "name" in wanted else {}
    async with change(connection, organization_id):
        before = await find_settings(connection, organization_id)
        after = OrganizationSettings(**(before.as_record() | dict(wanted) | named))
        values = after.as_record() | {"language_fallbacks": Jsonb(after.language_fallbacks)}
        await run(connection, "update_settings", organization_id, **values)
    return before, after
