"""The judges: exact ones always, a language model beside them where a key is set and never alone."""

from collections.abc import Collection, Mapping

from retrieval_sidecar.text.codes import in_document, in_question
from retrieval_sidecar.text.normalize import for_keywords
from tests.evals.artifacts import Heard, Run
from tests.evals.case import Expected

SEARCH_LIMIT_MS = 3000.0


def judge(run: Run, heard: Heard, expected: Expected, allowed: Collection[str] | None, language: str = "en") -> None:
    """Judge what came of a question: the ids first, and what was said of it only if those are right.

    Args:
        allowed: all that may be told in this call, by a reading of the rules that is not the sidecar's; None where
            the case has no such list.
    """
    run.check("searched", bool(heard.statuses), f"{len(heard.statuses)} searches")
    run.check(
        "time",
        max(heard.ms, default=0.0) < SEARCH_LIMIT_MS,
        f"the slowest search took {max(heard.ms, default=0):.0f} ms",
    )
    if allowed is not None:
        outside = [name for name in heard.found if name not in allowed]
        run.check("scope", not outside, f"outside of what may be told: {', '.join(outside) or 'nothing'}")
    if _ids(run, heard, expected):
        _words(run, heard, expected, language)


def _ids(run: Run, heard: Heard, expected: Expected) -> bool:
    status = heard.statuses[-1] if heard.statuses else "none"
    right = not expected.status or status in expected.status
    run.check("status", right, f"{status}, where {' or '.join(expected.status) or 'any'} should come")
    if expected.first is not None:
        is_first = heard.found[:1] == [expected.first]
        right &= run.check("ids", is_first, f"{expected.first} should be first of: {_listed(heard)}")
    if expected.found:
        is_there = bool(expected.found & set(heard.found))
        right &= run.check("ids", is_there, f"{' or '.join(sorted(expected.found))} should be among: {_listed(heard)}")
    if told := expected.never & set(heard.found):
        right = run.check("ids", not told, f"must never be found: {', '.join(sorted(told))}")
    return right


def _words(run: Run, heard: Heard, expected: Expected, language: str) -> None:
    if expected.say or expected.never_say:
        unsaid = [words for words in expected.say if not says(heard.answer, words, language)]
        told = [words for words in expected.never_say if says(heard.answer, words, language)]
        run.check("words", not unsaid, f"not said: {', '.join(unsaid) or 'nothing'}")
        run.check("words", not told, f"said, and must not be: {', '.join(told) or 'nothing'}")


def says(text: str, words: str, language: str = "en") -> bool:
    """Whether a text says the words: as they are written or, of a code or a number, as it may be spoken."""
    if for_keywords(words) in for_keywords(text):
        return True
    codes = in_document(words)
    return bool(codes) and codes <= (in_document(text) | in_question(text, language))


def recall(results: Mapping[str, list[bool]]) -> dict[str, float]:
    """The share of each group that was found."""
    return {group: sum(found) / len(found) for group, found in results.items() if found}


def _listed(heard: Heard) -> str:
    return ", ".join(heard.found) or "nothing"
