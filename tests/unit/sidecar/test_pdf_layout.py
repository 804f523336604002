"""From places of letters to Markdown."""

from retrieval_sidecar.extraction.pdf_layout import Glyph, Page, to_markdown


def line(text: str, y: float, *, x: float = 50, size: float = 10) -> list[Glyph]:
    """Letters of half the size's width, and the end of a line as PDFium has it; `~` is a hyphen at its end."""
    width = size / 2
    letters = [
        Glyph("" if letter == "~" else letter, x + index * width, x + (index + 1) * width, y, size, letter == "~")
        for index, letter in enumerate(text)
    ]
    return [*letters, Glyph("\r", x, x, y, size), Glyph("\n", x, x, y, size)]


def page(*lines: list[Glyph]) -> Page:
    return Page(800, [glyph for each in lines for glyph in each])


def test_nothing() -> None:
    assert to_markdown([]) == to_markdown([page()]) == to_markdown([page(line("  ", 500))]) == ""


def test_sizes_are_levels_and_lines_of_one_heading_belong_together() -> None:
    body = line("words " * 20, 500)
    text = to_markdown(
        [page(line("Prices and", 700, size=24), line("codes", 670, size=24), line("Net", 540, size=14), body)]
    )
    assert text.startswith("# Prices and codes\n\n## Net\n\nwords words")


def test_a_large_number_heads_nothing() -> None:
    assert to_markdown([page(line("44", 700, size=24), line("words " * 20, 500))]).startswith("44\n\nwords")


def test_full_lines_flow_and_short_ones_stay() -> None:
    lines = ["a sentence that fills its line and", "goes on in this one", "Mon 9-18", "Tue 10-15"]
    assert to_markdown([page(*(line(text, 600 - 12 * index) for index, text in enumerate(lines)))]) == (
        "a sentence that fills its line and goes on in this one\nMon 9-18\nTue 10-15"
    )


def test_a_word_is_put_together_again_and_a_code_keeps_its_hyphen() -> None:
    lines = ["notice must be given in writ~", "ing for the contract PIN-44~", "X and no other at all"]
    assert to_markdown([page(*(line(text, 600 - 12 * index) for index, text in enumerate(lines)))]) == (
        "notice must be given in writing for the contract PIN-44-X and no other at all"
    )


def test_items_are_a_list_and_may_be_long() -> None:
    lines = ["\u2022 the first item which is so long that it", "takes two lines", "\u2022 the second", "1. the third"]
    assert to_markdown([page(*(line(text, 600 - 12 * index) for index, text in enumerate(lines)))]) == (
        "- the first item which is so long that it takes two lines\n- the second\n1. the third"
    )


def row(y: float, *cells: str) -> list[Glyph]:
    """Cells at fixed places, without the ends of lines between them."""
    glyphs = [glyph for column, cell in enumerate(cells) for glyph in line(cell, y, x=50 + 150 * column)[:-2]]
    return [*glyphs, Glyph("\n", 50, 50, y, 10)]


def test_rows_whose_cells_stand_below_each_other_are_a_table() -> None:
    text = to_markdown(
        [
            page(
                line("Before:", 640),
                row(600, "Code", "Price"),
                row(580, "A|B", "5"),
                row(560, "C", "6"),
                line("After", 500),
            )
        ]
    )
    assert text == "Before:\n\n| Code | Price |\n| --- | --- |\n| A\\|B | 5 |\n| C | 6 |\n\nAfter"


def test_one_row_alone_is_text_and_so_is_a_numbered_list() -> None:
    assert to_markdown([page(row(600, "Code", "Price"))]) == "Code Price"
    assert to_markdown([page(row(600, "1.", "one"), row(588, "2.", "two"))]) == "1. one\n2. two"


def test_columns_of_arabic_are_read_from_the_right() -> None:
    def rtl(word: str, right: float, y: float) -> list[Glyph]:
        # PDFium gives right-to-left runs in the order of reading, at their places.
        return [Glyph(letter, right - 5 * (i + 1), right - 5 * i, y, 10) for i, letter in enumerate(word)]

    rows = [("الرمز", "السعر"), ("أحمر", "قليل")]
    glyphs = [
        glyph
        for index, (first, second) in enumerate(rows)
        for glyph in (*rtl(first, 500, 600 - 20 * index), *rtl(second, 300, 600 - 20 * index), Glyph("\n", 0, 0, 0, 0))
    ]
    assert to_markdown([Page(800, glyphs)]) == "| الرمز | السعر |\n| --- | --- |\n| أحمر | قليل |"


def test_lines_at_the_edge_stay_where_few_pages_have_them() -> None:
    pages = [page(line("Terms", 780), line(f"Part {index}", 400), line(f"- {index} -", 20)) for index in range(2)]
    assert to_markdown(pages).count("Terms") == 2
    pages = [page(line("Terms", 780), line(f"Part {index}", 400), line(f"- {index} -", 20)) for index in range(3)]
    assert to_markdown(pages) == "Part 0\n\nPart 1\n\nPart 2"
