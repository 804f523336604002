"""From a document to passages: bounded, complete, and the same each time."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_sidecar.embeddings.openai import OpenAIEmbedder
from retrieval_sidecar.ingest.headings import Headings
from retrieval_sidecar.ingest.passages import MAX_CHARACTERS, Passage, split
from retrieval_sidecar.ingest.tokens import TokenLimit

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


class Letters:
    """Counts each letter as a token, or so many for each: the smallest vocabulary there is."""

    def __init__(self, max_tokens: int, tokens_of_a_letter: int = 1) -> None:
        self.max_tokens = max_tokens
        self.counted = 0
        self._each = tokens_of_a_letter

    def count_tokens(self, text: str) -> int:
        self.counted += 1
        return 3 + self._each * len("".join(text.split()))


@settings(max_examples=60)
@given(DOCUMENTS, st.integers(40, 400), st.text(max_size=30))
def test_what_is_embedded_is_within_the_embedders_limit(text: str, max_tokens: int, title: str) -> None:
    counts = Letters(max_tokens)
    passages = split(title, text, TokenLimit(counts))
    assert uncovered(text, passages) == ""
    assert [passage.index for passage in passages] == list(range(len(passages)))
    for passage in passages:
        assert counts.count_tokens(passage.embedded_text) <= max_tokens or len(passage.content) <= 10
    assert passages == split(title, text, TokenLimit(counts))


def test_only_the_part_that_takes_many_tokens_is_cut_smaller() -> None:
    prose = "A sentence of some length stands here. " * 200
    with_many = split("Title", prose + "\n\n" + "q" * 1500, TokenLimit(Letters(1300)))
    assert with_many[:5] == split("Title", prose)[:5]
    assert max(len(passage.content) for passage in with_many[-2:]) < 1300


def test_the_limit_of_a_service_that_only_estimates_is_kept_too() -> None:
    service = OpenAIEmbedder("http://127.0.0.1:9", "key", "model", 8)
    service.max_tokens = 300
    passages = split("Title", "Парковка стоит три евро в час. " * 200, TokenLimit(service))
    assert max(service.count_tokens(passage.embedded_text) for passage in passages) <= 300
    assert min(len(passage.content) for passage in passages[:-1]) > 100


def test_a_title_without_end_leaves_room_for_the_content() -> None:
    counts = Letters(600)
    passages = split("very long title " * 60, "The garage opens at six. " * 100, TokenLimit(counts))
    assert max(counts.count_tokens(passage.embedded_text) for passage in passages) <= 600
    assert min(len(passage.content) for passage in passages[:-1]) > 200
    assert len(passages[0].title) > 900
    assert passages[0].embedded_text.startswith("very long title very long")


def test_a_grapheme_that_alone_is_over_the_limit_ends_the_cutting() -> None:
    assert [passage.content for passage in split("", "abc", TokenLimit(Letters(5, 10)))] == ["a", "b", "c"]


def test_words_that_come_again_are_not_counted_again() -> None:
    counts = Letters(5000)
    limit = TokenLimit(counts)
    for _ in range(50):
        split("Title", "The garage opens at six. " * 100, limit)
    assert counts.counted < 20


MANUAL = """\
# Parking

Three garages are open.

## Prices

Three euros an hour.

### Members

Nothing on Sundays.

## Bicycles

They are free.
"""


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("# Parking", ()),
        ("Three garages", ("Parking",)),
        ("## Prices", ("Parking",)),
        ("Three euros", ("Parking", "Prices")),
        ("Nothing on", ("Parking", "Prices", "Members")),
        ("## Bicycles", ("Parking", "Prices", "Members")),
        ("They are", ("Parking", "Bicycles")),
    ],
)
def test_a_place_stands_under_the_headings_above_it(place: str, path: tuple[str, ...]) -> None:
    for line_end in ("\n", "\r\n", "\r"):
        text = MANUAL.replace("\n", line_end)
        assert Headings(text).above(text.index(place)) == path


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n# no heading\n```\n\nafter", id="code"),
        pytest.param("#no heading\n\nafter", id="no space"),
        pytest.param("word " * 60 + "\n-----\n\nafter", id="a paragraph above a line"),
        pytest.param("1 | 2\n--|--\n\nafter", id="a table"),
        pytest.param("#\n\nafter", id="empty"),
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert Headings(text).above(len(text)) == ()


def test_headings_travel_with_passages_and_stay_out_of_the_content() -> None:
    text = "# Parking\n\n## Prices\n\n" + "Three euros an hour in every garage of the town. " * 60
    passages = split("Town guide", text)
    assert passages[0].heading == ""
    further = [passage for passage in passages if "#" not in passage.content]
    assert len(further) > 1
    assert {passage.heading for passage in further} == {"Parking › Prices"}
    assert further[0].embedded_text.startswith("Town guide. Parking › Prices. Three euros")
    assert all("Parking" not in passage.content for passage in further)
    assert uncovered(text, passages) == ""


def test_a_title_that_is_the_first_heading_is_embedded_once() -> None:
    assert Passage(0, "Parking", "Three euros.", "Parking › Prices").embedded_text == "Parking. Prices. Three euros."
    assert Passage(0, "Parking", "Three euros.", "Parking").embedded_text == "Parking. Three euros."


@pytest.mark.parametrize(
    "content",
    [
        "₹4,000 / ₹ 4,000.00 — 4 000,50 ₽; CHF 4’000",
        "Call +1 555 010 0199 or (555) 010-0199, ext. 44",
        "٢٥٠ ريالًا، من ٩:٠٠ إلى ١٧:٣٠",
        "25.05.2026 – 25 мая; ١٤٤٧هـ; ５月",
        "PIN‑44‑X, LF_27_B, ﬁne print, Ａ１２, Шоколад\u00a0№\u202f5, e\u0301te\u0301",
        "الشَّحْنُ مجّانيّ، الشحـــن",
    ],
)
def test_what_is_spoken_is_kept_as_it_is_written(content: str) -> None:
    (passage,) = split("Title", content)
    assert passage.content == content
    assert "".join(each.content for each in split("Title", "\n\n".join([content] * 200))).count(content) >= 200
