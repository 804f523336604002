"""The cases of the help centre, made of its items and of `questions.yaml`; the same each time."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from tests.evals.case import Case, Expected, Turn
from tests.evals.help_centre.centre import by_id, items, material, slug
from tests.evals.help_centre.organization import (
    EMPLOYEE,
    EVERYTHING,
    FIVE,
    FIVE_ITEMS,
    NOTHING_LEFT,
    ONE_FOLDER,
    PARTNER,
    SELECTED_INSTRUCTIONS,
    SELECTED_KNOWLEDGE,
    TENTH,
)

_SEED: Final = 8
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# How staff ask for what each branch has of its own; never in the item's own words throughout.
_ASKED: Final = {
    "waiter-code": ("I am new at {branch}, which waiter code do I type in", "waiter code {branch} please"),
    "terminal-pin": ("the card terminal at {branch} is locked, what is the terminal PIN", "terminal PIN of {branch}"),
    "override-code": ("which override code does a manager use at {branch}", "override code for {branch}"),
    "void-code": ("I have to void a paid bill at {branch}, what is the code", "void code at {branch}"),
    "delivery-door": ("a supplier stands at the side door of {branch}, what is the door code", "door code {branch}"),
    "extension": ("which extension has the manager on duty at {branch}", "extension of the manager at {branch}"),
}


@cache
def cases() -> tuple[Case, ...]:
    """All of them."""
    return (
        *_exact(),
        *_by_code(),
        *_paraphrases(),
        *_nowhere(),
        *_follow_ups(),
        *_instructions(),
        *_selected_knowledge(),
        *_segments(),
        *_versions(),
        *_selectivity(),
    )


def neighbours(case: Case) -> set[str]:
    """The ids that a case names, and what is like them: the same fact of other branches, other faults of a device."""
    named = {id_ for turn in case.turns for id_ in turn.expected.relevant | turn.expected.never} & by_id().keys()
    return {id_ for id_ in by_id() for name in named if id_.split(":")[:2] == name.split(":")[:2]} | named


@cache
def _questions() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text("utf-8"))
    return read


def _code(id_: str) -> str:
    return str(by_id()[id_]["code"])


def _one(case_id: str, kind: str, say: str, expected: Expected, **more: Any) -> Case:
    return Case(id=case_id, kind=kind, called=more.pop("called", EVERYTHING), turns=(Turn(say, expected),), **more)


def _exact() -> Iterator[Case]:
    """Of forty items that differ in one fact, the one of this branch; the code as it is written, and no other's."""
    pick = Random(_SEED)
    for fact, ways in _ASKED.items():
        for number, branch in enumerate(pick.sample(material()["branches"], 6)):
            id_ = f"{fact}:{slug(branch)}"
            others = pick.sample([b for b in material()["branches"] if b != branch], 5)
            expected = Expected(
                first=id_,
                say=(_code(id_),),
                never_say=tuple(_code(f"{fact}:{slug(other)}") for other in others),
            )
            yield _one(f"exact/{id_}", "exact", ways[number % 2].format(branch=branch), expected)


def _by_code() -> Iterator[Case]:
    """A code as it is written, with other joints, and said sign by sign."""
    pick = Random(_SEED + 1)
    faults = [item for item in items() if item["external_id"].startswith("fault:")]
    articles = [item for item in items() if item["external_id"].startswith("article:")]
    for number, item in enumerate(pick.sample(faults, 12)):
        digits = item["code"].removeprefix("E-")
        said = " ".join(_DIGITS[int(digit)] for digit in digits)
        ways = (f"the screen shows {item['code']}", f"what is error E{digits}", f"it says error e {said}")
        id_ = item["external_id"]
        yield _one(f"code/{id_}", "code", ways[number % 3], Expected(first=id_))
    for number, item in enumerate(pick.sample(articles, 9)):
        prefix, middle, letter = item["code"].split("-")
        ways = (
            f"what does article {item['code']} cost",
            f"what is in article {prefix} {middle} {letter}",
            f"price of {prefix}{middle}{letter}",
        )
        id_ = item["external_id"]
        yield _one(f"code/{id_}", "code", ways[number % 3], Expected(first=id_, say=(item["code"],)))


def _paraphrases() -> Iterator[Case]:
    for language, asked in _questions()["paraphrases"].items():
        for say, id_ in asked:
            expected = Expected(found=frozenset({id_}))
            yield _one(f"{language}/{id_}", f"paraphrase, {language}", say, expected, language=language)


def _nowhere() -> Iterator[Case]:
    for language, asked in _questions()["nowhere"].items():
        for number, say in enumerate(asked):
            expected = Expected(status=("no_match",))
            yield _one(f"nowhere/{language}-{number}", "nowhere", say, expected, language=language)


def _follow_ups() -> Iterator[Case]:
    for number, each in enumerate(_questions()["follow_ups"]):
        (say, first), (then, query, second) = each["first"], each["then"]
        turns = (Turn(say, Expected(first=first)), Turn(then, Expected(first=second), query))
        yield Case(id=f"follow-up/{number}", kind="follow-up", called=EVERYTHING, turns=turns)


def _instructions() -> Iterator[Case]:
    """Selected instructions and all knowledge; then all of both."""
    short, review = "A drawer is short after the shift", "A guest threatens to leave a bad review"
    asks_short, asks_review = "money is missing in my drawer after the shift", "a guest threatens me with a bad review"
    for called in (SELECTED_INSTRUCTIONS, EVERYTHING):
        who = "selected" if called == SELECTED_INSTRUCTIONS else "all"
        yield _one(
            f"instructions/{who}-short", "instructions", asks_short, Expected(found=frozenset({short})), called=called
        )
    yield _one("instructions/all-review", "instructions", asks_review, Expected(found=frozenset({review})))
    yield _one(
        "instructions/selected-review",
        "instructions",
        asks_review,
        Expected(status=("ok", "no_match"), never=frozenset({review}), never_say=("dessert",)),
        called=SELECTED_INSTRUCTIONS,
    )
    yield _one(
        "instructions/draft",
        "instructions",
        "may guests pay with crypto coins",
        Expected(status=("ok", "no_match"), never=frozenset({"Paying with crypto coins"}), never_say=("spring",)),
    )
    id_ = "waiter-code:kale-street"
    yield _one(
        "instructions/selected-knowledge-all",
        "instructions",
        "waiter code at Kale Street",
        Expected(first=id_, say=(_code(id_),)),
        called=SELECTED_INSTRUCTIONS,
    )


def _selected_knowledge() -> Iterator[Case]:
    """Selected knowledge and all instructions; a selection of which nothing is left."""
    inside, outside = "waiter-code:basil-court", "waiter-code:cedar-yard"
    yield _one(
        "selected/inside",
        "selected",
        "waiter code at Basil Court",
        Expected(first=inside, say=(_code(inside),)),
        called=SELECTED_KNOWLEDGE,
    )
    yield _one(
        "selected/outside",
        "selected",
        "waiter code at Cedar Yard",
        Expected(status=("ok", "no_match"), never=frozenset({outside}), never_say=(_code(outside),)),
        called=SELECTED_KNOWLEDGE,
    )
    yield _one(
        "selected/instruction",
        "selected",
        "a well known guest is in the house",
        Expected(found=frozenset({"A well-known guest is in the house"})),
        called=SELECTED_KNOWLEDGE,
    )
    for number, say in enumerate(
        ("what is the rule on overtime", "waiter code at Alder Row", "do you deliver by drone")
    ):
        yield _one(
            f"selected/nothing-left-{number}",
            "selected",
            say,
            Expected(status=("restricted_empty",)),
            called=NOTHING_LEFT,
        )


def _segments() -> Iterator[Case]:
    """The same question by who may hear the answer, by who may not, and by nobody in particular."""
    for topic in material()["partner_topics"][:8]:
        secret, open_ = f"franchise:{slug(topic)}:partners", f"franchise:{slug(topic)}:everybody"
        say = f"I am calling about the {topic} for a franchise partner"
        yield _one(
            f"segment/{slug(topic)}-partner", "segment", say, Expected(found=frozenset({secret})), caller=PARTNER
        )
        for who, caller in (("employee", EMPLOYEE), ("anonymous", None)):
            expected = Expected(found=frozenset({open_}), never=frozenset({secret}), never_say=(_code(secret),))
            yield _one(f"segment/{slug(topic)}-{who}", "segment", say, expected, caller=caller)


def _versions() -> Iterator[Case]:
    """The rule as it is; never as it was, nor as somebody has drafted it."""
    for topic in material()["policies"][:10]:
        now, before, draft = (f"policy:{slug(topic)}:{version}" for version in ("now", "before", "draft"))
        expected = Expected(
            first=now,
            never=frozenset({before, draft}),
            say=(_code(now),),
            never_say=(_code(before), _code(draft)),
        )
        yield _one(f"version/{slug(topic)}", "version", f"what is the number of the rule on {topic}", expected)
    coming = frozenset(f"release:4.29:{slug(module)}" for module in material()["modules"])
    yield _one(
        "version/not-yet",
        "version",
        "what is new in version 4.29 for payments",
        Expected(status=("ok", "no_match"), never=coming),
    )
    yield _one(
        "version/released",
        "version",
        "what is new in version 4.28 for payments",
        Expected(first="release:4.28:payments"),
    )


def _selectivity() -> Iterator[Case]:
    """The same questions to agents that may tell much and little."""
    facts = ("waiter-code", "terminal-pin", "last-orders", "opening-float", "delivery-door", "guest-wifi", "stocktake")
    texts = material()["branch_facts"]
    agents = (("3,143 items", EVERYTHING), ("312 items", TENTH), ("24 items", ONE_FOLDER))
    for name, called in agents:
        for fact in facts:
            title = texts[fact][0].format(branch="Cedar Yard")
            id_ = f"{fact}:cedar-yard"
            yield _one(
                f"selectivity/{slug(name)}-{fact}",
                "selectivity",
                f"{title}, please",
                Expected(first=id_),
                called=called,
                selectivity=name,
            )
    for id_ in FIVE:
        yield _one(
            f"selectivity/5-items-{slug(id_)}",
            "selectivity",
            by_id()[id_]["title"],
            Expected(first=id_),
            called=FIVE_ITEMS,
            selectivity="5 items",
        )
