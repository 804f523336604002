"""The names of uploaded files, as they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.management.uploads import display_name
from retrieval_sidecar.sources.names import name_of


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("prices.pdf", "prices.pdf"),
        ("  price   list .pdf ", "price list.pdf"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a/b\\c/d.txt", "d.txt"),
        ("folder/", "upload"),
        ("", "upload"),
        (".", "upload"),
        (". . .", "upload"),
        ("\u200d\u200c", "upload"),
        (".htaccess", "htaccess"),
        ("a\x00b\r\nc\x7f.txt", "a b c.txt"),
        ("invoice\u202efdp.exe", "invoice fdp.exe"),
        ("a\u200bb\ufeff.txt", "a b.txt"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("half\ud83d.txt", "half?.txt"),
        ("x" * 300, "x" * 200),
        ("x" * 300 + ".docx", "x" * 195 + ".docx"),
        ("a." + "x" * 300, "a." + "x" * 198),
        ("😀" * 200 + ".pdf", "😀" * 161 + ".pdf"),
    ],
)
def test_a_name_is_without_path_and_what_cannot_be_seen(sent: str, shown: str) -> None:
    assert display_name(sent) == shown


@given(st.text(st.characters(), max_size=300))
def test_whatever_is_sent_there_is_a_name_that_a_source_may_have(sent: str) -> None:
    shown = display_name(sent)
    assert 1 <= len(shown) <= 200
    assert display_name(shown) == shown
    assert not any(character in shown for character in "/\\\r\n\x00")
    assert name_of(shown)
