"""From a document to passages: bounded, complete, and the same each time."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_sidecar.ingest.passages import MAX_CHARACTERS, Passage, split

FAMILY = "👨‍👩‍👧‍👦"
WORDS = st.text(st.sampled_from("abcdeя中ا.!? \n#|-*`1"), min_size=1, max_size=30)
DOCUMENTS = st.one_of(
    st.text(max_size=300),
    # Long ones, of few different pieces, with and without places to cut at.
    st.builds(
        lambda words, times, joint: joint.join(words * times),
        st.lists(WORDS, min_size=1, max_size=8),
        st.integers(1, 400),
        st.sampled_from(["", " ", "\n\n", ". "]),
    ),
)


def uncovered(text: str, passages: list[Passage]) -> str:
    """What of a text stands in no passage, white space apart; passages are in order and may overlap."""
    rest, end = [], 0
    for passage in passages:
        begin = end + len(text[end:]) - len(text[end:].lstrip())
        start = text.rfind(passage.content, 0, begin + len(passage.content))
        if start < 0:
            start = text.find(passage.content, begin)
            rest.append(text[end:start])
        end = max(end, start + len(passage.content))
    return "".join("".join([*rest, text[end:]]).split())


@settings(max_examples=150)
@given(DOCUMENTS)
def test_passages_are_bounded_numbered_and_cover_the_text(text: str) -> None:
    passages = split("Title", text)
    assert all(0 < len(passage.content) <= MAX_CHARACTERS for passage in passages)
    assert [passage.index for passage in passages] == list(range(len(passages)))
    assert uncovered(text, passages) == ""


@settings(max_examples=20)
@given(DOCUMENTS)
def test_the_same_text_gives_the_same_passages(text: str) -> None:
    assert split("Title", text) == split("Title", text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 50_000, id="one letter"),
        pytest.param("https://shop.example/" + "b" * 3000, id="an address"),
        pytest.param("QUJD" * 4000, id="base64"),
        pytest.param("停车场每小时收费三欧元" * 900, id="Chinese without spaces"),
        pytest.param("ที่จอดรถราคาสามยูโรต่อชั่วโมง" * 300, id="Thai without spaces"),
        pytest.param("موقف السيارات بثلاثة يورو في الساعة. " * 300, id="Arabic"),
        pytest.param("| a | b |\n|---|---|\n| " + "x" * 8000 + " | y |\n", id="a table of one row"),
        pytest.param("# Heading\n\n" + "word " * 3000, id="a heading"),
        pytest.param("- item 44\n" * 3000, id="a list"),
        pytest.param("\n" * 5000 + "x" + "\n" * 5000, id="mostly empty lines"),
        pytest.param("```\n" + "code();\n" * 2000, id="code that does not end"),
        pytest.param("e\u0301" * 6000, id="combining marks"),
    ],
)
def test_long_texts_of_every_make_come_to_an_end_and_are_covered(text: str) -> None:
    passages = split("Title", text)
    assert max(len(passage.content) for passage in passages) <= MAX_CHARACTERS
    assert uncovered(text, passages) == ""


@pytest.mark.parametrize("sign", [FAMILY, "🏳️‍🌈", "e\u0301", "🇰🇿", "ก็"])
def test_no_passage_parts_what_is_seen_as_one_character(sign: str) -> None:
    passages = split("Title", sign * 4000)
    assert len(passages) > 1
    assert all(passage.content.replace(sign, "") == "" for passage in passages)


def test_passages_overlap_so_that_a_thought_on_the_border_is_whole_in_one() -> None:
    sentences = [f"Sentence number {number} says something of its own." for number in range(200)]
    passages = split("Title", " ".join(sentences))
    assert len(passages) > 5
    assert all(any(sentence in passage.content for passage in passages) for sentence in sentences)
    assert all(
        any(sentence in before.content and sentence in after.content for sentence in sentences)
        for before, after in pairwise(passages)
    )


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u2003"])
def test_a_blank_text_has_no_passage(text: str) -> None:
    assert split("Title", text) == []


def test_a_short_text_is_one_passage_as_written() -> None:
    assert split("Title", " Price: ₹4,000 — fixed.\n") == [Passage(0, "Title", "Price: ₹4,000 — fixed.")]


def test_the_title_is_embedded_with_the_content_and_decides_the_hash_with_it() -> None:
    one, other = Passage(0, "Garage", "Three euros."), Passage(7, "Bus", "Three euros.")
    assert one.embedded_text == "Garage. Three euros."
    assert one.text_hash != other.text_hash
    assert one.text_hash == Passage(3, "Gar\u200bage", "Three  euros.").text_hash
    assert len(one.text_hash) == 16
