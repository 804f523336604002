"""`make eval-mutants`: builds that are broken on purpose, and the bench that catches each.

A rule that can be taken away without a gate falling is not held by anything.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

import pytest
import typer
from rich.console import Console
from rich.table import Table

from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.search import relevance, selection
from tests.evals.__main__ import quieten
from tests.evals.artifacts import Run
from tests.evals.bench import BUILD, Plan
from tests.evals.benches.help_centre import some_items
from tests.evals.help_centre.allowed import allowed
from tests.evals.help_centre.cases import cases
from tests.evals.help_centre.organization import ORGANIZATION_ID, organization
from tests.evals.judges import judge
from tests.evals.parts import Knowledge, Sidecar, loaded
from tests.evals.retrieval import VECTORS
from tests.evals.stored_embedder import StoredEmbedder
from tests.evals.text_call import text_call
from tests.oracle.examine import Discrepancy
from tests.oracle.mutants import MUTANTS
from tests.oracle.survey import Survey, prepared_survey
from tests.support.database import TestDatabase, clone, migrated_template, test_server
from tests.support.sidecar import running_sidecar, token_for

_CASES: Final = 600  # of the oracle: it notices any of them within so many
_SEED: Final = 20261130
_EACH: Final = 6  # cases of a kind
_ENOUGH: Final = 2  # of them that notice
_BY_NAME: Final = {mutant.name: mutant for mutant in MUTANTS}
console = Console(highlight=False)


@dataclass(frozen=True, slots=True)
class Broken:
    """A build that is broken on purpose.

    Attributes:
        alive: within it the build is broken.
        kinds: of the help centre's cases that are asked; which of them must fail is for them to say.
    """

    name: str
    alive: Callable[[], AbstractContextManager[None]]
    kinds: tuple[str, ...]


@contextmanager
def _nothing_is_refused() -> Iterator[None]:
    """A threshold of 0: whatever is nearest is given."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (relevance, selection):
            for threshold in ("GIVEN", "GIVEN_BY_WORDS"):
                patch.setattr(module, threshold, 0.0)
        yield


BROKEN: Final = (
    Broken("the predicate knows no segments", _BY_NAME["any segment"].alive, ("segment",)),
    Broken("the predicate serves drafts and what is over", _BY_NAME["not servable"].alive, ("version", "instructions")),
    Broken("what was valid is still told", _BY_NAME["after it was valid"].alive, ("version",)),
    Broken("the predicate forgets the organization", _BY_NAME["any organization"].alive, ()),
    Broken("nothing selected is everything", _BY_NAME["no knowledge selected is all"].alive, ("selected",)),
    Broken("a selected folder is every folder", _BY_NAME["any folder"].alive, ("selected",)),
    Broken("a threshold of 0", _nothing_is_refused, ("nowhere",)),
)


async def caught(plan: Plan) -> dict[str, list[str]]:
    """The benches that catch each of them, by its name; raises AssertionError where a whole build fails them too."""
    found: dict[str, list[str]] = {}
    template = plan.template
    with clone(template.server, template.name) as of_oracle, clone(template.server, template.name) as of_centre:
        knowledge = await loaded(of_centre, organization(), some_items(), plan.embedder)
        token = await token_for(of_centre, ORGANIZATION_ID)
        async with prepared_survey(of_oracle, _CASES, _SEED) as survey:
            for broken in (Broken("whole", _whole, tuple({kind for b in BROKEN for kind in b.kinds})), *BROKEN):
                with broken.alive():
                    benches = [] if not await _leaks(survey) else ["leak"]
                    failed = await _failing(plan, knowledge, token, broken.kinds)
                found[broken.name] = benches + [f"help_centre ({case})" for case in failed]
                plan.console.print(f"{broken.name}: {', '.join(found[broken.name]) or 'nothing'}", markup=False)
    if whole := found.pop("whole"):
        raise AssertionError(f"A build that is not broken fails: {', '.join(whole)}")
    return found


@contextmanager
def _whole() -> Iterator[None]:
    yield


async def _leaks(survey: Survey) -> bool:
    try:
        await survey.examine(_CASES)
    except Discrepancy:
        return True
    return False


async def _failing(plan: Plan, knowledge: Knowledge, token: str, kinds: tuple[str, ...]) -> list[str]:
    """The cases of these kinds that fail, through the tool and over HTTP; the sidecar is here, to be broken."""
    chosen = [case for kind in kinds for case in [each for each in cases() if each.kind == kind][:_EACH]]
    failed: list[str] = []
    stored = {item["external_id"] for item in some_items()}
    async with running_sidecar(knowledge.database, token, embedder=plan.embedder) as client:
        for case in chosen:
            named = {id_ for turn in case.turns for id_ in turn.expected.relevant}
            if not {name for name in named if ":" in name} <= stored:
                continue
            run = Run()
            async with text_call(Sidecar(client.url, token), knowledge.names, case.called, case.caller) as call:
                for turn in case.turns:
                    judge(run, await call.say(turn.say, turn.query), turn.expected, allowed(case.called, case.caller))
            if not run.passed:
                failed.append(case.id)
            if len(failed) == _ENOUGH:
                break
    return failed


async def _run() -> dict[str, list[str]]:
    embedder = StoredEmbedder(LocalEmbedder(), VECTORS)
    await embedder.start()
    try:
        with test_server() as server:
            template = TestDatabase(server, migrated_template(server))
            return await caught(Plan(BUILD, 1, True, False, template, embedder, console))  # noqa: FBT003
    finally:
        await embedder.close()


def main() -> None:
    """Break the build in each way and tell which bench notices; exit status 1 where none does."""
    quieten()
    found = asyncio.run(_run())
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "mutants.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    table = Table("broken build", "caught by", box=None)
    for name, benches in found.items():
        table.add_row(name, ", ".join(benches) or "nothing")
    console.print(table)
    if not all(found.values()):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
