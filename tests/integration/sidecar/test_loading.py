"""Files become rows: a bad line is reported and the rest is loaded, and the same files again change nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.load import Loaded, load_organization
from tests.support.database import TestDatabase
from tests.support.inspection import row_counts, rows, value
from tests.support.sidecar import connected, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, agent, item, items, organization


async def load_lines(database: TestDatabase, folder: Path, lines: list[bytes]) -> Loaded:
    (folder / "organization.yaml").write_text(
        yaml.safe_dump(organization(agents=[agent("open", 1, OPEN_NUMBER)])), encoding="utf-8"
    )
    (folder / "items.jsonl").write_bytes(b"\n".join(lines))
    async with connected(database, "manage") as connection:
        return await load_organization(connection, folder / "organization.yaml", folder / "items.jsonl")


def line(external_id: str, **changes: Any) -> bytes:
    return json.dumps(item(external_id, "Title", "Content.") | changes).encode()


async def test_no_line_stops_the_others_whatever_is_wrong_with_it(empty_database: TestDatabase, tmp_path: Path) -> None:
    bad = [
        line("nul", title="a\x00b"),
        line("nul-in-metadata", note={"a\x00b": 1}),
        line("surrogate", content="\ud83d"),
        line("nan", note=float("nan")),
        line("window", valid_from="2026-02-02", valid_until="2026-02-01"),
        # After midnight in Berlin and not in Greenwich.
        line("window-in-its-zone", valid_from="2026-02-01T23:30:00Z", valid_until="2026-02-01"),
        line("blank", content="\u200b"),
        line("elsewhere", base="nowhere"),
        line("nobody", segments=["martians"]),
        line("first"),
        line("latin")[:-1] + b', "note": "\xe9"}',
        b"[" * 100_000,
        b'{"n": ' + b"9" * 5000 + b"}",
    ]
    good = [line("first"), line("for-ever", valid_until="9999-12-31"), line("since-ever", valid_from="0001-01-01")]
    loaded = await load_lines(empty_database, tmp_path, [*good, *bad, line("last")])
    assert [number for number, _ in loaded.rejected] == list(range(4, 4 + len(bad)))
    assert loaded.items == 4
    stored = await rows(empty_database, "select external_id from knowledge_item order by 1")
    assert [external_id for (external_id,) in stored] == ["first", "for-ever", "last", "since-ever"]


async def test_what_holds_for_ever_is_found(empty_database: TestDatabase, tmp_path: Path) -> None:
    bike = item(
        "bike", "Bicycle", "The bicycle rental opens at nine.", valid_from="0001-01-01", valid_until="9999-12-31"
    )
    await load(empty_database, tmp_path, organization(), [*items(), bike])
    async with running_sidecar(empty_database, await token_for(empty_database, ORGANIZATION_ID)) as client:
        answer = await (await client.open(OPEN_NUMBER)).search("bicycle rental opens")
    assert answer["results"][0]["title"] == "Bicycle"


async def test_the_same_files_again_change_nothing(database: TestDatabase, tmp_path: Path) -> None:
    async def state() -> list[tuple[Any, ...]]:
        return await rows(
            database,
            "select external_id, item_id, item_key, folder_id, content from knowledge_item"
            " union all select title, instruction_id, instruction_key, null, content from instruction order by 1",
        )

    async with connected(database, "owner") as connection:
        counts, before = await row_counts(connection), await state()
        await load(database, tmp_path, organization(), items())
        assert await row_counts(connection) == counts
    assert await state() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"contacts": [{"phone": "+15555550101", "name": "R", "segments": ["martians"]}]},
        {"agents": [agent("a", 1, OPEN_NUMBER, knowledge_scope={"items": ["no-such-item"]})]},
        {"agents": [agent("a", 1, OPEN_NUMBER, knowledge_scope={"folders": ["upload:Nowhere"]})]},
        {"agents": [agent("a", 1, OPEN_NUMBER, instruction_scope={"directories": ["nowhere"]})]},
    ],
)
async def test_an_organization_that_names_what_is_not_there_is_loaded_not_at_all(
    empty_database: TestDatabase, tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest, match="does not fit"):
        await load(empty_database, tmp_path, organization(**changes), items())
    assert await value(empty_database, "select count(*) from organization") == 0
