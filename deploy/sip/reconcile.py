"""Make LiveKit have what the plan says: by name, changing what differs and nothing else."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from google.protobuf.message import Message
from livekit.api.sip_service import SipService
from livekit.protocol.sip import (
    CreateSIPDispatchRuleRequest,
    CreateSIPInboundTrunkRequest,
    CreateSIPOutboundTrunkRequest,
    DeleteSIPDispatchRuleRequest,
    DeleteSIPTrunkRequest,
    ListSIPDispatchRuleRequest,
    ListSIPInboundTrunkRequest,
    ListSIPOutboundTrunkRequest,
    SIPDispatchRuleInfo,
    SIPInboundTrunkInfo,
    SIPOutboundTrunkInfo,
)

from deploy.sip.plan import Plan

_Info = TypeVar("_Info", SIPInboundTrunkInfo, SIPOutboundTrunkInfo, SIPDispatchRuleInfo)
_MANAGED = {
    SIPInboundTrunkInfo: (
        *("numbers", "allowed_addresses", "auth_username", "auth_password", "media_encryption"),
        *("ringing_timeout", "max_call_duration"),
    ),
    SIPOutboundTrunkInfo: ("address", "transport", "numbers", "auth_username", "auth_password", "media_encryption"),
    SIPDispatchRuleInfo: ("rule", "trunk_ids", "numbers", "room_config"),
}
_UNORDERED = {"trunk_ids", "numbers", "allowed_addresses"}  # whose order means nothing


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs, or did. `fields` names what of it, never how."""

    action: Literal["create", "update", "remove"]
    kind: str
    name: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        """For a person to read."""
        return f"{self.action} {self.kind} {self.name}" + (f": {', '.join(self.fields)}" if self.fields else "")


@dataclass(frozen=True)
class _Kind(Generic[_Info]):
    name: str
    create: Callable[[_Info], Awaitable[_Info]]
    update: Callable[[str, _Info], Awaitable[_Info]]
    remove: Callable[[str], Awaitable[object]]
    id_of: Callable[[_Info], str]

    async def make(
        self, wanted: Iterable[_Info], present: Sequence[_Info], ids: dict[str, str], *, dry: bool
    ) -> AsyncIterator[Change]:
        """Create and update; `ids` is given the id of each name."""
        by_name = {info.name: info for info in reversed(present)}
        for info in wanted:
            there = by_name.get(info.name)
            if there is None:
                ids[info.name] = "" if dry else self.id_of(await self.create(info))
                yield Change("create", self.name, info.name)
                continue
            ids[info.name] = self.id_of(there)
            if fields := _differing(info, there):
                if not dry:
                    await self.update(self.id_of(there), _overlaid(info, there, fields))
                yield Change("update", self.name, info.name, fields)

    async def prune(self, named: Iterable[str], present: Sequence[_Info], *, dry: bool) -> AsyncIterator[Change]:
        """Remove what is not named, and what has the name of another."""
        kept = set(named)
        for info in present:
            if info.name in kept:
                kept.remove(info.name)
                continue
            if not dry:
                await self.remove(self.id_of(info))
            yield Change("remove", self.name, info.name or self.id_of(info))


async def reconcile(sip: SipService, plan: Plan, *, dry: bool, prune: bool) -> AsyncIterator[Change]:
    """Each difference between the plan and what LiveKit has; unless `dry`, it is made good before the next.

    Args:
        sip: of LiveKit's API.
        plan: what is to be.
        dry: change nothing.
        prune: also remove trunks and rules that the plan does not name.
    """
    # Before anything is changed: this reads the passwords.
    wanted_inbound, wanted_outbound = [each.info() for each in plan.inbound], [each.info() for each in plan.outbound]
    ids: dict[str, str] = {}
    inbound = (await sip.list_inbound_trunk(ListSIPInboundTrunkRequest())).items
    outbound = (await sip.list_outbound_trunk(ListSIPOutboundTrunkRequest())).items
    rules = (await sip.list_dispatch_rule(ListSIPDispatchRuleRequest())).items
    trunks = _Kind[SIPInboundTrunkInfo](
        "inbound trunk",
        lambda info: sip.create_inbound_trunk(CreateSIPInboundTrunkRequest(trunk=info)),
        sip.update_inbound_trunk,
        lambda trunk_id: sip.delete_trunk(DeleteSIPTrunkRequest(sip_trunk_id=trunk_id)),
        lambda info: info.sip_trunk_id,
    )
    ways_out = _Kind[SIPOutboundTrunkInfo](
        "outbound trunk",
        lambda info: sip.create_outbound_trunk(CreateSIPOutboundTrunkRequest(trunk=info)),
        sip.update_outbound_trunk,
        lambda trunk_id: sip.delete_trunk(DeleteSIPTrunkRequest(sip_trunk_id=trunk_id)),
        lambda info: info.sip_trunk_id,
    )
    dispatch = _Kind[SIPDispatchRuleInfo](
        "dispatch rule",
        lambda info: sip.create_dispatch_rule(CreateSIPDispatchRuleRequest(dispatch_rule=info)),
        sip.update_dispatch_rule,
        lambda rule_id: sip.delete_dispatch_rule(DeleteSIPDispatchRuleRequest(sip_dispatch_rule_id=rule_id)),
        lambda info: info.sip_dispatch_rule_id,
    )
    if prune:
        # Rules before the trunks that they name, and all before what takes over their numbers.
        async for change in dispatch.prune((each.name for each in plan.dispatch), rules, dry=dry):
            yield change
        async for change in trunks.prune((each.name for each in plan.inbound), inbound, dry=dry):
            yield change
        async for change in ways_out.prune((each.name for each in plan.outbound), outbound, dry=dry):
            yield change
    async for change in trunks.make(wanted_inbound, inbound, ids, dry=dry):
        yield change
    async for change in dispatch.make((each.info(ids) for each in plan.dispatch), rules, {}, dry=dry):
        yield change
    async for change in ways_out.make(wanted_outbound, outbound, {}, dry=dry):
        yield change


def _differing(wanted: Message, there: Message) -> tuple[str, ...]:
    return tuple(name for name in _MANAGED[type(wanted)] if _value(wanted, name) != _value(there, name))


def _value(info: Message, name: str) -> object:
    value = getattr(info, name)
    return sorted(value) if name in _UNORDERED else value


def _overlaid(wanted: _Info, there: _Info, fields: tuple[str, ...]) -> _Info:
    """What is there, with the plan's value in each field: what others set beside it stays."""
    merged = type(there)()
    merged.CopyFrom(there)
    source = type(there)()
    source.CopyFrom(wanted)
    for name in [field.name for field in source.DESCRIPTOR.fields]:
        if name in fields:
            merged.ClearField(name)
        else:
            source.ClearField(name)
    merged.MergeFrom(source)
    return merged
