"""The demo's calls: what is said, and what must and must not be heard (`sample/questions.yaml`)."""

from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field

SAMPLE = Path(__file__).parent / "sample"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expectation(_Entry):
    """What the search must come to; `external_id` is the best result's, where there is one."""

    status: Literal["ok", "no_match", "restricted_empty"]
    external_id: str | None = None


class Question(_Entry):
    """One question and what its answer must and must never hold, letter by letter."""

    say: Annotated[str, Field(pattern=r"^[a-z' ]+$")]
    kind: Literal["exact_code", "other_language", "not_covered", "members_only", "out_of_scope", "plain"]
    expect: Expectation
    hear: list[str]
    never_hear: list[str]


class PlannedCall(_Entry):
    """One call; `expect_greeting` is of a call that ends after one sentence."""

    name: str
    called: str
    caller: str
    expect_greeting: Literal["unknown_number"] | None = None
    questions: list[Question]


class Scenario(_Entry):
    """All calls of the demo."""

    calls: list[PlannedCall]

    @classmethod
    def read(cls, path: Path = SAMPLE / "questions.yaml") -> Self:
        return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))

    def sentences(self) -> list[str]:
        """Everything that is asked, each once: the grammar of the stand-in recogniser."""
        return list(dict.fromkeys(question.say for call in self.calls for question in call.questions))
