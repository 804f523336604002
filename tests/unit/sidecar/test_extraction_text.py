"""Text from bytes, and what kind of text it is."""

import contextlib
import random
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from retrieval_sidecar.extraction import csv_file, html, rtf
from retrieval_sidecar.extraction.document import table
from retrieval_sidecar.extraction.kind import Kind, text_kind
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason
from retrieval_sidecar.extraction.readers import read
from retrieval_sidecar.extraction.text import decode

# All that can stand in a text: control characters are none, a form feed is an end of line.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n"), min_size=1)
WORDS = (
    st.text("abcdef 0123456789₹$€,.-/+*_#|<>&\\тарифценың السعر٤٤", min_size=1, max_size=60).map(str.strip).filter(bool)
)


@given(TEXTS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_text_is_kept_to_the_letter(text: str, encoding: str, newline: str) -> None:
    assume(not text.startswith("\ufeff"))  # that is a mark of the encoding
    assert decode(text.replace("\n", newline).encode(encoding)) == text


@given(TEXTS)
@example("# Тарифы\n\n- ₹4,000 | PIN-44-X\n")
def test_plain_text_and_markdown_go_through_unchanged(text: str) -> None:
    assume(text.strip())
    assume(text_kind(text) in {Kind.PLAIN, Kind.MARKDOWN})
    assume(not text.startswith(("\ufeff", "%PDF-", "{\\rtf")))
    found = read(text.encode(), Limits())
    assert found.markdown == text
    assert found.media_type in {"text/plain", "text/markdown"}


@given(st.lists(WORDS, min_size=1, max_size=5), st.booleans())
def test_what_html_says_is_heard_as_written(paragraphs: list[str], in_list: bool) -> None:  # noqa: FBT001 - generated
    escaped = [part.replace("&", "&amp;").replace("<", "&lt;") for part in paragraphs]
    tag = "li" if in_list else "p"
    body = "".join(f"<{tag}>{part}</{tag}>" for part in escaped)
    found = html.to_markdown(f"<!doctype html><ul>{body}</ul>" if in_list else f"<!doctype html>{body}")
    said = [re.sub(r"^- ", "", line) if in_list else line for line in found.splitlines() if line.strip()]
    assert [" ".join(line.split()) for line in said] == [" ".join(part.split()) for part in paragraphs]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.sampled_from([0, 1, 2]))
def test_unicode_in_rtf_becomes_itself(text: str, fallback: int) -> None:
    units = text.encode("utf-16-le")
    numbers = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
    written = "".join(f"\\u{number}" + ("?" * fallback or " ") for number in numbers)
    escaped = re.sub(r"[\\{}]", r"\\\g<0>", text)
    assert rtf.transcode(f"{{\\rtf1\\uc{fallback} {written}}}".encode()).decode() == (
        f"{{\\rtf1\\uc{fallback} {escaped}}}"
    )


def test_bytes_in_rtf_belong_to_the_font_of_their_group() -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset178 B;}}"
    content = rf"{{\rtf1\ansi\ansicpg1251{fonts}\'d2 {{\f0\'e9}}{{\f1\'d3}}\'f2 \u233\'65x}}".encode()
    assert rtf.transcode(content).decode() == (rf"{{\rtf1\ansi\ansicpg1252 {fonts}Т {{\f0é}}{{\f1س}}т éx}}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", Kind.PLAIN),
        ("Opening hours: 9–18, Mon to Fri.", Kind.PLAIN),
        ("Dear all,\nthe office is closed, as ever.\n", Kind.PLAIN),
        ("one, two\nthree, four\n", Kind.PLAIN),
        ("The header of a PDF is\n%PDF-1.7\n", Kind.PLAIN),
        ("Code,Price\nPIN-44-X,4000\n", Kind.CSV),
        ('"Code";"Price; net"\n"PIN";"4,5"\n', Kind.CSV),
        ("Code\tPrice\r\nPIN-44-X\t4000", Kind.CSV),
        ("Code,Code\n1,2\n", Kind.PLAIN),
        ("a,b\n1,2,3\n", Kind.PLAIN),
        ("a,b\n", Kind.PLAIN),
        ("# Title\n", Kind.MARKDOWN),
        ("words\n\n- one\n- two\n", Kind.MARKDOWN),
        ("see [this](https://help.example.com)", Kind.MARKDOWN),
        ("<p align=center>\n\n# Title\n\nwords", Kind.MARKDOWN),
        ("<!-- a note -->\n# Title\n", Kind.MARKDOWN),
        ("#hashtag and #44", Kind.PLAIN),
        ("<!DOCTYPE html><html>", Kind.HTML),
        ("\n<!-- saved --><HTML lang=ru>", Kind.HTML),
        ('<?xml version="1.0"?><!doctype html>', Kind.HTML),
        ("<p>words</p>\n", Kind.HTML),
        ("<title>x</title>words", Kind.HTML),
        ("<abbr>x</abbr>", Kind.PLAIN),
        ("a < b > c", Kind.PLAIN),
    ],
)
def test_kinds_of_text(text: str, kind: Kind) -> None:
    assert text_kind(text) is kind


@given(st.binary(min_size=1, max_size=400))
@example(b"%PDF-")
@example(b"PK\x03\x04")
@example(b"PK\x05\x06" + b"\0" * 18)
@example(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
@example(b"\xff\xfe\x00")
def test_any_bytes_have_an_outcome(content: bytes) -> None:
    assume(not content.startswith(b"{\\rtf"))  # that is pandoc's to judge
    said = ""
    with contextlib.suppress(ExtractionFailed):
        said = read(content, Limits()).markdown
    assert "\0" not in said


def test_random_bytes_are_not_text() -> None:
    random_bytes = random.Random(44)
    for size in (64, 300, 4000, 100_000):
        with pytest.raises(ExtractionFailed) as caught:
            read(b"\x01" + random_bytes.randbytes(size), Limits())
        assert caught.value.reason in {Reason.NOT_TEXT, Reason.UNSUPPORTED_TYPE}


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=12)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6))
def test_cells_of_a_table_are_kept_to_the_letter(rows: list[list[str]]) -> None:
    head, line, *rest = table(rows).split("\n")
    assert line == "| --- | --- |"
    for row, cells in zip([head, *rest], rows, strict=True):
        guarded = row.removeprefix("| ").removesuffix(" |").replace("\\|", "\0")
        assert [cell.replace("\0", "|") for cell in guarded.split(" | ")] == cells


def test_empty_rows_and_columns_are_left_out_of_a_table() -> None:
    assert table([["", "a", "", "b"], ["", "", "", ""], ["", "1"]]) == "| a | b |\n| --- | --- |\n| 1 |  |"
    assert table([]) == table([["", " "]]) == ""


def test_a_csv_of_uneven_rows_after_the_first_ones_keeps_them() -> None:
    text = "Code,Price\n" + "a,1\n" * 300 + "b,2,more\n"
    assert csv_file.delimiter(text) == ","
    assert csv_file.read(text, Limits()).markdown.endswith("\n| a | 1 |  |\n| b | 2 | more |")
