"""A help centre of exactly 3,143 items, the same each time: an invented chain of restaurants and its tills.

It is made to be hard to search: forty branches tell the same twenty-four things, fifteen devices have the same
thirty-two faults, rules stand in an old, a present and a drafted version. Each code is there once.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

import yaml

ITEMS: Final = 3143
_SEED: Final = 3143
# Past and future of any day on which this is run.
_LONG_AGO, _NEXT_CENTURY = "2021-06-30", "2100-01-01"
_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # none that is read for another or for a digit

Item = dict[str, Any]


@cache
def material() -> Mapping[str, Any]:
    """The words that it is made of."""
    read: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "material.yaml").read_text("utf-8"))
    return read


def slug(name: str) -> str:
    """A name as a part of an external id."""
    return name.lower().replace(" ", "-").replace("'", "")


def branch_folder(branch: str) -> str:
    """The folder key of a branch's items."""
    return f"workflow:{quote(branch)}"


def device_folder(device: str) -> str:
    """The folder key of a device's faults."""
    return f"upload:{quote(device)}"


class _Draw:
    """Codes, each once, and numbers, by one seed."""

    def __init__(self) -> None:
        self._random = Random(_SEED)
        self._drawn: set[str] = set()

    def code(self, prefix: str) -> str:
        """Such as WT-482-K."""
        while True:
            code = f"{prefix}-{self._random.randint(100, 999)}-{self._random.choice(_LETTERS)}"
            if code not in self._drawn:
                self._drawn.add(code)
                return code

    def number(self) -> str:
        """Of four digits, such as the PIN of a terminal."""
        while True:
            number = str(self._random.randint(1000, 9999))
            if number not in self._drawn and not number.endswith("00"):
                self._drawn.add(number)
                return number

    def details(self) -> dict[str, str]:
        """What else a text may name."""
        pick = self._random
        return {
            "euros": str(pick.randrange(35, 480, 5)),
            "tables": str(pick.randint(12, 96)),
            "months": str(pick.choice((12, 18, 24, 30, 36, 48))),
            "morning": f"{pick.randint(7, 10)}:{pick.choice(('05', '20', '35', '50'))}",
            "afternoon": f"{pick.randint(14, 17)}:{pick.choice(('10', '25', '40', '55'))}",
            "evening": f"{pick.randint(20, 23)}:{pick.choice(('05', '15', '30', '45'))}",
            "weekday": pick.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")),
        }


@cache
def items() -> tuple[Item, ...]:
    """All items, in the order in which they are drawn."""
    draw = _Draw()
    made = (
        *_branches(draw),
        *_faults(draw),
        *_guides(),
        *_menu(draw),
        *_partners(draw),
        *_hardware(draw),
        *_policies(draw),
        *_for_partners(draw),
        *_other_languages(draw),
        *_releases(),
    )
    if len(made) != ITEMS:
        raise AssertionError(f"The help centre has {len(made)} items, not {ITEMS}.")
    return made


@cache
def by_id() -> Mapping[str, Item]:
    """The items by their external ids."""
    return {item["external_id"]: item for item in items()}


def _item(external_id: str, title: str, content: str, **more: Any) -> Item:
    return {
        "external_id": external_id,
        "title": title,
        "content": content,
        "language": "en",
        "region_code": "GLOBAL",
        "status": "published",
        "source_hash": sha256(f"{title}\0{content}".encode()).hexdigest(),
        **more,
    }


# By the fact that is asked for most, so that a code tells what it is of.
_PREFIXES: Final = {
    "waiter-code": "WT",
    "override-code": "MG",
    "void-code": "VD",
    "delivery-door": "DR",
    "serial": "SN",
}


def _branches(draw: _Draw) -> Iterator[Item]:
    for branch in material()["branches"]:
        for fact, (title, text) in material()["branch_facts"].items():
            is_pin = fact in {"terminal-pin", "extension", "alarm-code"}
            code = draw.number() if is_pin else draw.code(_PREFIXES.get(fact, "BR"))
            said = {"branch": branch, "code": code, **draw.details()}
            yield _item(
                f"{fact}:{slug(branch)}",
                title.format(**said),
                text.format(**said),
                folder=branch_folder(branch),
                base="handbook",
                code=code,
            )


def _faults(draw: _Draw) -> Iterator[Item]:
    for device in material()["devices"]:
        for fault, (what, remedy) in material()["faults"].items():
            code = f"E-{draw.number()}"
            yield _item(
                f"fault:{slug(device)}:{fault}",
                f"Error {code}: the {device} {what}",
                f"Message {code} is shown when the {device} {what}. {remedy}",
                folder=device_folder(device),
                base="support",
                code=code,
            )


def _guides() -> Iterator[Item]:
    pick = Random(_SEED + 1)
    for thing in material()["objects"]:
        for task, (verb, steps) in material()["tasks"].items():
            page = pick.choice(("Settings", "Master data", "Till", "Staff", "Kitchen", "Office"))
            yield _item(
                f"guide:{task}:{slug(thing)}",
                f"How to {verb} a {thing}",
                f"To {verb} a {thing}, open the page {page} in the back office and pick the {thing}. {steps}",
                folder="website:help.copperleaf.example",
                base="support",
                source_url=f"https://help.copperleaf.example/{task}/{slug(thing)}",
            )


def _menu(draw: _Draw) -> Iterator[Item]:
    pick = Random(_SEED + 2)
    for dish in material()["dishes"]:
        for style in material()["styles"]:
            code = draw.code("AR")
            price = f"€{pick.randint(3, 29)}.{pick.choice(('20', '40', '60', '80', '90'))}"
            with_ = " and ".join(pick.sample(material()["allergens"], 2))
            yield _item(
                f"article:{slug(dish)}:{slug(style)}",
                f"Article {code}: {dish}, {style}",
                f"{dish.capitalize()}, {style}, is sold as article {code} for {price}. It contains {with_}.",
                folder="integration:menu/articles",
                base="menu",
                code=code,
            )


def _partners(draw: _Draw) -> Iterator[Item]:
    for partner in material()["partners"]:
        for subject, (title, text) in material()["subjects"].items():
            code = draw.code("PX")
            said = {"partner": partner, "code": code, **draw.details()}
            yield _item(
                f"partner:{slug(partner)}:{subject}",
                title.format(**said),
                text.format(**said),
                folder="integration:partners/guides",
                base="support",
                code=code,
            )


def _hardware(draw: _Draw) -> Iterator[Item]:
    for device in material()["devices"]:
        for kind, (title, text) in material()["properties"].items():
            code = draw.code("HW")
            said = {"device": device, "code": code, **draw.details()}
            yield _item(
                f"hardware:{slug(device)}:{kind}",
                title.format(**said),
                text.format(**said),
                folder="upload:Hardware",
                base="support",
                code=code,
            )


def _policies(draw: _Draw) -> Iterator[Item]:
    pick = Random(_SEED + 3)
    for topic in material()["policies"]:
        days = pick.sample(range(2, 60), 3)
        versions: Sequence[tuple[str, int, dict[str, Any]]] = (
            ("before", days[0], {"valid_until": _LONG_AGO}),
            ("now", days[1], {}),
            ("draft", days[2], {"status": "draft"}),
        )
        for version, number, more in versions:
            code = draw.code("PO")
            yield _item(
                f"policy:{slug(topic)}:{version}",
                f"Rule on {topic}",
                f"The rule on {topic} has the number {code}: the branch decides within {number} days and writes the"
                " decision into the shift book.",
                folder="workflow:Rules",
                base="handbook",
                code=code,
                **more,
            )


def _for_partners(draw: _Draw) -> Iterator[Item]:
    for topic in material()["partner_topics"]:
        code = draw.code("FR")
        yield _item(
            f"franchise:{slug(topic)}:partners",
            f"{topic.capitalize()} for franchise partners",
            f"The {topic} of a franchise partner is settled in annex {code} of the contract, which names the figures.",
            folder="workflow:Franchise",
            base="handbook",
            segments=["partners"],
            code=code,
        )
        yield _item(
            f"franchise:{slug(topic)}:everybody",
            f"{topic.capitalize()}: where to ask",
            f"Questions on the {topic} are answered by the franchise office in writing; on the telephone no figures are"
            " given.",
            folder="workflow:Franchise",
            base="handbook",
        )


def _other_languages(draw: _Draw) -> Iterator[Item]:
    for language, entries in material()["other_languages"].items():
        for number, (title, text) in enumerate(entries):
            code = draw.code("LG")
            yield _item(
                f"{language}:{number}",
                title,
                text.format(code=code),
                language=language,
                folder="workflow:Office",
                base="handbook",
                code=code,
            )


def _releases() -> Iterator[Item]:
    pick = Random(_SEED + 4)
    for number in range(60):
        version = f"{3 + number // 30}.{number % 30}"
        for module in material()["modules"]:
            one, other = pick.sample(material()["changes"], 2)
            yield _item(
                f"release:{version}:{slug(module)}",
                f"Version {version}, {module}",
                f"In version {version} the module {module} {one} and {other}.",
                folder="upload:Release%20notes",
                base="support",
                **({"valid_from": _NEXT_CENTURY} if number == 59 else {}),
            )
