"""The judges see what is wrong: ids before words, codes as they are written and as they are said."""

import pytest

from tests.evals.artifacts import Heard, Run
from tests.evals.case import Expected
from tests.evals.judges import judge, says
from tests.evals.prices import Usage, price_of


def heard(*found: str, answer: str = "", status: str = "ok", ms: float = 12.0) -> Heard:
    return Heard("?", statuses=[status], found=list(found), ms=[ms], answer=answer)


def judged(given: Heard, expected: Expected, allowed: frozenset[str] | None = None) -> dict[str, bool]:
    run = Run()
    judge(run, given, expected, allowed)
    verdicts: dict[str, bool] = {}
    for verdict in run.verdicts:
        verdicts[verdict.judge] = verdicts.get(verdict.judge, True) and verdict.passed
    return verdicts


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("Use WT-482-K at the till.", "WT-482-K", True),
        ("Use w t four eight two k at the till.", "WT-482-K", True),
        ("Use WT 482 K.", "WT-482-K", True),
        ("Use WT-428-K.", "WT-482-K", False),
        ("It costs €6.40.", "€6.40", True),
        ("It costs €6.80.", "€6.40", False),
        ("THREE euros", "three euros", True),
    ],
)
def test_a_code_is_heard_as_it_is_written_and_as_it_is_said(text: str, words: str, said: bool) -> None:  # noqa: FBT001
    assert says(text, words) is said


def test_the_right_id_and_the_right_words_pass() -> None:
    expected = Expected(first="a", say=("AB-12",), never_say=("CD-34",))
    assert all(judged(heard("a", "b", answer="It is AB-12."), expected, frozenset("ab")).values())


def test_words_are_not_judged_where_the_ids_are_wrong() -> None:
    verdicts = judged(heard("b", "a", answer="It is AB-12."), Expected(first="a", say=("AB-12",)))
    assert verdicts["ids"] is False
    assert "words" not in verdicts


@pytest.mark.parametrize(
    ("given", "expected", "judge_of_it"),
    [
        (heard("a", answer="CD-34"), Expected(first="a", never_say=("CD-34",)), "words"),
        (heard("a", answer="nothing"), Expected(first="a", say=("AB-12",)), "words"),
        (heard("a", "secret"), Expected(first="a", never=frozenset({"secret"})), "ids"),
        (heard("b"), Expected(found=frozenset({"a"})), "ids"),
        (heard(status="ok"), Expected(status=("no_match",)), "status"),
        (heard("a", ms=3000.0), Expected(first="a"), "time"),
        (Heard("?"), Expected(status=()), "searched"),
    ],
)
def test_what_is_wrong_fails(given: Heard, expected: Expected, judge_of_it: str) -> None:
    assert judged(given, expected)[judge_of_it] is False


def test_what_may_not_be_told_fails_even_where_nothing_forbids_it_by_name() -> None:
    assert judged(heard("a", "c"), Expected(first="a"), frozenset("ab"))["scope"] is False


def test_a_price_is_that_of_the_table_or_none() -> None:
    table = {"large": {"in": 2.0, "out": 8.0}}
    assert price_of(Usage({"large": [500_000, 125_000]}), table) == pytest.approx(2.0)
    assert price_of(Usage({"other": [1, 1]}), table) is None
    assert price_of(Usage(), table) is None
