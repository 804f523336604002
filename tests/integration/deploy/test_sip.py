"""`python -m deploy.sip`: LiveKit has what the file says, once, and nothing that is a secret is told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from livekit.protocol.sip import SIPInboundTrunkInfo
from typer.testing import CliRunner

from demo.livekit_server import LiveKitServer
from deploy.sip.__main__ import app
from deploy.sip.plan import PlanError, read
from tests.support.livekit_sip import FakeSip, fake_sip, real_sip

EXAMPLE = Path(__file__).parents[3] / "deploy" / "sip.example.yaml"
PASSWORD = "sentinel-password"
Sip = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def fake() -> FakeSip:
    return FakeSip()


@pytest.fixture(
    params=["fake", pytest.param("real", marks=[pytest.mark.livekit, pytest.mark.redis])],
)
async def server(request: pytest.FixtureRequest, fake: FakeSip, tmp_path: Path) -> AsyncIterator[LiveKitServer]:
    """The fake, and the real service: what holds for one holds for the other."""
    async with fake_sip(fake) if request.param == "fake" else real_sip(tmp_path) as running:
        yield running


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """The example, with passwords."""
    wanted = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    for part in (wanted["inbound"][0], wanted["outbound"][0]):
        part["credentials"] = {"username": "answerline", "password_file": "password"}
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "password").chmod(0o600)
    path = tmp_path / "sip.yaml"
    path.write_text(yaml.safe_dump(wanted))
    return path


def change(plan: Path, change: Callable[[dict[str, Any]], object]) -> None:
    wanted = yaml.safe_load(plan.read_text("utf-8"))
    change(wanted)
    plan.write_text(yaml.safe_dump(wanted))


@pytest.fixture
def sip(tmp_path: Path) -> Callable[[LiveKitServer], Sip]:
    """The command line of one server: status, and all that was said."""

    def of(server: LiveKitServer) -> Sip:
        keys = tmp_path / "keys"
        keys.mkdir()
        (keys / "LIVEKIT_API_KEY").write_text(server.key)
        (keys / "LIVEKIT_API_SECRET").write_text(server.secret)

        async def run(*arguments: str | Path) -> tuple[int, str]:
            argv = [*map(str, arguments), "--url", server.url, "--keys", str(keys)]
            done = await asyncio.to_thread(CliRunner().invoke, app, argv)
            assert PASSWORD not in done.output
            assert server.secret not in done.output
            return done.exit_code, done.output

        return run

    return of


async def test_apply_makes_what_is_missing_once_and_check_sees_what_differs(
    server: LiveKitServer, sip: Callable[[LiveKitServer], Sip], plan: Path
) -> None:
    run = sip(server)
    status, said = await run("check", plan)
    assert (status, said.count("would create")) == (1, 4)
    status, said = await run("apply", plan)
    assert (status, said.count("done: create")) == (0, 4)
    assert await run("apply", plan) == (0, "Nothing to change.\n")
    assert await run("check", plan) == (0, "LiveKit has what the plan says.\n")

    status, said = await run("show")
    shown = yaml.safe_load(said)
    trunk = shown["inbound"][0]["sip_trunk_id"]
    assert {rule["name"]: rule["room_config"]["agents"][0]["agent_name"] for rule in shown["dispatch"]} == {
        "answerline": "answerline",
        "trial": "answerline-trial",
    }
    assert all(rule["trunk_ids"] == [trunk] for rule in shown["dispatch"])

    def differently(wanted: dict[str, Any]) -> None:
        wanted["inbound"][0]["ringing_seconds"] = 20
        wanted["dispatch"][1]["agent"] = "another"
        wanted["outbound"][0]["transport"] = "tcp"

    change(plan, differently)
    (plan.parent / "password").write_text("another-" + PASSWORD)
    status, said = await run("check", plan)
    assert status == 1
    assert said.splitlines() == [
        "would update inbound trunk provider: auth_password, ringing_timeout",
        "would update dispatch rule trial: room_config",
        "would update outbound trunk hand-off: transport, auth_password",
    ]
    assert (await run("apply", plan))[0] == 0
    assert (await run("check", plan))[0] == 0
    assert yaml.safe_load((await run("show"))[1])["inbound"][0]["sip_trunk_id"] == trunk, "updated, not made anew"


async def test_what_the_plan_does_not_name_stays_unless_it_is_pruned(
    server: LiveKitServer, sip: Callable[[LiveKitServer], Sip], plan: Path
) -> None:
    run = sip(server)
    await run("apply", plan)

    def one_less(wanted: dict[str, Any]) -> None:
        del wanted["dispatch"][1], wanted["dispatch"][0]["numbers"]
        wanted["inbound"][0] |= {"name": "successor", "numbers": ["+15550100"]}
        wanted["dispatch"][0]["trunks"] = ["successor"]
        wanted["outbound"] = []

    change(plan, one_less)
    status, said = await run("check", plan, "--prune")
    assert status == 1
    assert {line for line in said.splitlines() if "remove" in line} == {
        "would remove dispatch rule trial",
        "would remove inbound trunk provider",
        "would remove outbound trunk hand-off",
    }
    # The successor takes over the number of the one that goes.
    status, said = await run("apply", plan, "--prune")
    assert status == 0, said
    shown = yaml.safe_load((await run("show"))[1])
    assert [[each["name"] for each in shown[kind]] for kind in ("inbound", "dispatch", "outbound")] == [
        ["successor"],
        ["answerline"],
        [],
    ]


async def test_what_others_set_beside_it_stays(fake: FakeSip, sip: Callable[[LiveKitServer], Sip], plan: Path) -> None:
    theirs = SIPInboundTrunkInfo(sip_trunk_id="ST_1", name="provider", metadata="theirs", krisp_enabled=True)
    fake.kept["InboundTrunk"]["ST_1"] = theirs
    async with fake_sip(fake) as server:
        await sip(server)("apply", plan)
    (ours,) = fake.kept["InboundTrunk"].values()
    assert (ours.metadata, ours.krisp_enabled, list(ours.numbers)) == ("theirs", True, ["+15550100", "+15550101"])


async def test_check_changes_nothing(fake: FakeSip, sip: Callable[[LiveKitServer], Sip], plan: Path) -> None:
    async with fake_sip(fake) as server:
        assert (await sip(server)("check", plan, "--prune"))[0] == 1
    assert fake.changes == []


async def test_a_password_that_cannot_be_read_stops_it_before_anything_is_changed(
    fake: FakeSip, sip: Callable[[LiveKitServer], Sip], plan: Path
) -> None:
    change(plan, lambda wanted: wanted["outbound"][0]["credentials"].update(password_file="missing"))
    async with fake_sip(fake) as server:
        status, said = await sip(server)("apply", plan)
    assert (status, fake.changes) == (2, [])
    assert "missing cannot be read" in said


async def test_a_server_that_refuses_or_is_not_there_is_told(
    fake: FakeSip, sip: Callable[[LiveKitServer], Sip], plan: Path
) -> None:
    async with fake_sip(fake) as server:
        run = sip(LiveKitServer(server.url, server.key, "another-secret-of-32-characters!!"))
        status, said = await run("check", plan)
        assert (status, "LiveKit refused (unauthenticated)" in said) == (2, True)
    status, said = await run("check", plan)
    assert (status, "No LiveKit server answers" in said) == (2, True)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (lambda p: p["inbound"][0].pop("allowed_addresses"), None),  # the password is enough
        (
            lambda p: [p["inbound"][0].pop(each) for each in ("allowed_addresses", "credentials")],
            "name allowed_addresses, or credentials",
        ),
        (lambda p: p["inbound"][0].update(allowed_addresses=["0.0.0.0/0"]), "every address of the world"),
        (lambda p: p["inbound"][0].update(numbers=["5550100"]), "inbound.0.numbers.0"),
        (lambda p: p["inbound"][0].update(number=["+15550100"]), "inbound.0.number: Extra"),
        (lambda p: p["inbound"].append(p["inbound"][0]), "named twice: provider"),
        (lambda p: p["dispatch"].pop(), "no dispatch rule answers +15550101"),
        (lambda p: p["dispatch"][1].update(numbers=[]), "more than one dispatch rule answers +15550100"),
        (lambda p: p["dispatch"][0].update(trunks=["nobody"]), "trunks that are not there: nobody"),
        (lambda p: p["dispatch"][0].update(numbers=["+15550199"]), "numbers that its trunks have not: +15550199"),
        (lambda p: p["outbound"][0].update(address="sip:sip.example.com"), "outbound.0.address"),
        (lambda p: p["outbound"][0].update(transport="smoke"), "outbound.0.transport"),
    ],
)
def test_a_plan_that_cannot_be_followed_names_its_fault(
    plan: Path, fault: Callable[[dict[str, Any]], object], named: str | None
) -> None:
    change(plan, fault)
    if named is None:
        assert read(plan)
        return
    with pytest.raises(PlanError) as raised:
        read(plan)
    assert named in str(raised.value)


def test_the_example_can_be_followed() -> None:
    assert len(read(EXAMPLE).dispatch) == 2


def test_a_file_that_is_no_yaml_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "sip.yaml").write_text("inbound:\n - [\n")
    with pytest.raises(PlanError, match="no YAML in line"):
        read(tmp_path / "sip.yaml")


def test_a_password_file_open_to_others_is_refused(plan: Path) -> None:
    (plan.parent / "password").chmod(0o644)
    with pytest.raises(PlanError, match="chmod 600"):
        read(plan).inbound[0].info()
