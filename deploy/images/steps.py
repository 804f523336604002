"""The steps of a Dockerfile, so that what is proved here is what is built elsewhere."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dockerfile_parse import DockerfileParser

FOLDER: Final = Path(__file__).parent
IMAGES: Final = ("worker", "sidecar")


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction in capitals, and all that follows it on its line or lines."""

    instruction: str
    value: str


@dataclass(frozen=True, slots=True)
class Stage:
    """From one FROM to the next."""

    base: str
    name: str | None
    steps: tuple[Step, ...]

    def values(self, instruction: str) -> list[str]:
        return [step.value for step in self.steps if step.instruction == instruction]

    def argv(self, instruction: str) -> list[str]:
        """The last of an instruction that is written as a JSON list."""
        value: list[str] = json.loads(self.values(instruction)[-1])
        return value

    def environment(self) -> dict[str, str]:
        pairs = (pair.partition("=") for value in self.values("ENV") for pair in shlex.split(value))
        return {name: value for name, _, value in pairs}


def read(image: str) -> list[Stage]:
    """The stages of an image, in their order."""
    with (FOLDER / f"{image}.Dockerfile").open("rb") as file:
        parser = DockerfileParser(fileobj=file)
        return list(_stages([Step(each["instruction"], each["value"]) for each in parser.structure]))


def _stages(steps: list[Step]) -> Iterator[Stage]:
    steps = [step for step in steps if step.instruction != "COMMENT"]
    starts = [number for number, step in enumerate(steps) if step.instruction == "FROM"]
    for start, end in zip(starts, [*starts[1:], len(steps)], strict=True):
        base, *named = steps[start].value.split()
        yield Stage(base, named[1] if named else None, tuple(steps[start + 1 : end]))
