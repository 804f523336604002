"""The file that says which calls come in, which agent answers them, and how a call goes out to a person."""

import re
from collections import Counter
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from livekit.protocol.agent_dispatch import RoomAgentDispatch
from livekit.protocol.room import RoomConfiguration
from livekit.protocol.sip import (
    SIPDispatchRule,
    SIPDispatchRuleIndividual,
    SIPDispatchRuleInfo,
    SIPInboundTrunkInfo,
    SIPOutboundTrunkInfo,
)
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[a-z0-9][a-z0-9-]*$")]
Number = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{1,14}$")]
Encryption = Literal["disable", "allow", "require"]


def _network(text: str) -> str:
    ip_network(text)
    return text


Network = Annotated[str, AfterValidator(_network)]


class PlanError(Exception):
    """The file cannot be followed; the message has a line for each fault, and no value of it."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Credentials(_Part):
    """What the provider and we tell each other, if it asks for that."""

    username: Annotated[str, Field(min_length=1)]
    password_file: Path

    def password(self) -> str:
        """The file's content. Raises PlanError."""
        try:
            if self.password_file.stat().st_mode & 0o007:
                raise PlanError(f"{self.password_file} is open to others: chmod 600")
            text = self.password_file.read_text("utf-8").strip()
        except OSError as error:
            raise PlanError(f"{self.password_file} cannot be read: {error.strerror}") from None
        if not text:
            raise PlanError(f"{self.password_file} is empty")
        return text


class Inbound(_Part):
    """A provider that sends calls. Without addresses or credentials anybody could: one of both is needed."""

    name: Name
    numbers: Annotated[list[Number], Field(min_length=1)]
    allowed_addresses: list[Network] = []
    credentials: Credentials | None = None
    media_encryption: Encryption = "disable"
    ringing_seconds: Annotated[int, Field(ge=1, le=80)] = 30
    longest_call_seconds: Annotated[int, Field(ge=60)] = 4 * 3600

    @model_validator(mode="after")
    def _is_closed(self) -> Self:
        if not self.allowed_addresses and self.credentials is None:
            raise ValueError("name allowed_addresses, or credentials, or both")
        if any(ip_network(each).prefixlen == 0 for each in self.allowed_addresses):
            raise ValueError("allowed_addresses: every address of the world is none")
        return self

    def info(self) -> SIPInboundTrunkInfo:
        """What LiveKit is to have of it."""
        info = SIPInboundTrunkInfo(
            name=self.name,
            numbers=self.numbers,
            allowed_addresses=self.allowed_addresses,
            media_encryption=_encryption(self.media_encryption),
            auth_username=self.credentials.username if self.credentials else "",
            auth_password=self.credentials.password() if self.credentials else "",
        )
        info.ringing_timeout.FromSeconds(self.ringing_seconds)
        info.max_call_duration.FromSeconds(self.longest_call_seconds)
        return info


class Dispatch(_Part):
    """Which worker answers: `agent` is its ANSWERLINE_AGENT_NAME. Without numbers, all of those trunks."""

    name: Name
    agent: Annotated[str, Field(min_length=1)]
    trunks: Annotated[list[Name], Field(min_length=1)]
    numbers: list[Number] = []
    room_prefix: Annotated[str, Field(pattern="^[a-z0-9-]+$")] = "call-"

    def info(self, trunk_ids: dict[str, str]) -> SIPDispatchRuleInfo:
        """What LiveKit is to have of it: a room of its own for each call, and the agent in it."""
        rule = SIPDispatchRule(dispatch_rule_individual=SIPDispatchRuleIndividual(room_prefix=self.room_prefix))
        return SIPDispatchRuleInfo(
            name=self.name,
            rule=rule,
            trunk_ids=[trunk_ids[trunk] for trunk in self.trunks],
            numbers=self.numbers,
            room_config=RoomConfiguration(agents=[RoomAgentDispatch(agent_name=self.agent)]),
        )


class Outbound(_Part):
    """A provider that takes calls: how a caller reaches a person."""

    name: Name
    address: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$")]
    transport: Literal["auto", "udp", "tcp", "tls"] = "tls"
    numbers: Annotated[list[Number], Field(min_length=1)]
    credentials: Credentials | None = None
    media_encryption: Encryption = "disable"

    def info(self) -> SIPOutboundTrunkInfo:
        """What LiveKit is to have of it."""
        return SIPOutboundTrunkInfo(
            name=self.name,
            address=self.address,
            transport=f"SIP_TRANSPORT_{self.transport.upper()}",
            numbers=self.numbers,
            media_encryption=_encryption(self.media_encryption),
            auth_username=self.credentials.username if self.credentials else "",
            auth_password=self.credentials.password() if self.credentials else "",
        )


class Plan(_Part):
    """The whole file."""

    inbound: list[Inbound] = []
    dispatch: list[Dispatch] = []
    outbound: list[Outbound] = []

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for what, names in (
            ("inbound trunks", [each.name for each in self.inbound]),
            ("dispatch rules", [each.name for each in self.dispatch]),
            ("outbound trunks", [each.name for each in self.outbound]),
            ("numbers of inbound trunks", [number for each in self.inbound for number in each.numbers]),
        ):
            if twice := sorted(name for name, count in Counter(names).items() if count > 1):
                raise ValueError(f"{what} are named twice: {', '.join(twice)}")
        numbers = {each.name: set(each.numbers) for each in self.inbound}
        routed: Counter[str] = Counter()
        for rule in self.dispatch:
            if unknown := [trunk for trunk in rule.trunks if trunk not in numbers]:
                raise ValueError(f"rule {rule.name} names trunks that are not there: {', '.join(unknown)}")
            of_trunks = {number for trunk in rule.trunks for number in numbers[trunk]}
            if foreign := sorted(set(rule.numbers) - of_trunks):
                raise ValueError(f"rule {rule.name} names numbers that its trunks have not: {', '.join(foreign)}")
            routed.update(rule.numbers or of_trunks)
        every = {number for of_trunk in numbers.values() for number in of_trunk}
        if silent := sorted(every - set(routed)):
            raise ValueError(f"no dispatch rule answers {', '.join(silent)}")
        if twice := sorted(number for number, count in routed.items() if count > 1):
            raise ValueError(f"more than one dispatch rule answers {', '.join(twice)}")
        return self


def read(path: Path) -> Plan:
    """The plan in a file; password files are looked for beside it.

    Raises:
        PlanError: naming each field that is wrong, without its value.
    """
    try:
        plan = Plan.model_validate(yaml.safe_load(path.read_text("utf-8")) or {})
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise PlanError(f"{path}: no YAML{f' in line {mark.line + 1}' if mark else ''}") from None
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or path.name}: {re.sub('^Value error, ', '', fault['msg'])}"
            for fault in error.errors(include_input=False, include_url=False)
        ]
        raise PlanError("\n".join(faults)) from None
    return _beside(plan, path.parent)


def _beside(plan: Plan, folder: Path) -> Plan:
    def at_home(part: Inbound | Outbound) -> Inbound | Outbound:
        if part.credentials is None:
            return part
        credentials = part.credentials.model_copy(update={"password_file": folder / part.credentials.password_file})
        return part.model_copy(update={"credentials": credentials})

    return plan.model_copy(
        update={
            "inbound": [at_home(each) for each in plan.inbound],
            "outbound": [at_home(each) for each in plan.outbound],
        }
    )


def _encryption(wanted: Encryption) -> str:
    return f"SIP_MEDIA_ENCRYPT_{wanted.upper()}"
