"""What a body is told to be, whatever is claimed of it."""

import pytest

from retrieval_sidecar.extraction.charsets import charset_of
from retrieval_sidecar.fetching import PageFailure, Reason
from retrieval_sidecar.fetching.content import MediaType, identify

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"
RUSSIAN = (
    "Мы открыты с понедельника по пятницу, с девяти до семнадцати часов. Звоните нам, если у вас есть вопросы "
    "о возврате товара или о доставке заказа."
)
PAGE = "<!doctype html><title>Часы</title><p>" + RUSSIAN


def refusal(body: bytes, content_type: str = "") -> Reason:
    with pytest.raises(PageFailure) as caught:
        identify(body, content_type)
    return caught.value.reason


@pytest.mark.parametrize(
    ("body", "content_type", "path", "expected"),
    [
        (PDF, "", "", MediaType.PDF),
        (PDF, "text/plain", "/a.txt", MediaType.PDF),
        (b"junk before it\n" + PDF, "application/octet-stream", "", MediaType.PDF),
        (b"<html><p>x", "", "", MediaType.HTML),
        (b"  <!-- a --> \n<!DOCTYPE HTML><p>x", "", "", MediaType.HTML),
        (b'<?xml version="1.0"?><html xmlns="x">x</html>', "application/xhtml+xml", "", MediaType.HTML),
        (b"<html><p>x", "text/plain", "/a.txt", MediaType.HTML),
        (b"<html><p>x", "image/png", "", MediaType.HTML),
        (b"just text", "text/html", "", MediaType.HTML),
        (b"just text", "", "", MediaType.TEXT),
        (b"just text", "application/octet-stream", "", MediaType.TEXT),
        (b"just text", "nonsense", "", MediaType.TEXT),
        (b"# Text", "TEXT/Markdown; charset=utf-8", "", MediaType.MARKDOWN),
        (b"# Text", "", "/README.MD", MediaType.MARKDOWN),
        (b"<html><p>x", "text/markdown", "", MediaType.HTML),
    ],
)
def test_the_type_is_told_from_the_body(body: bytes, content_type: str, path: str, expected: MediaType) -> None:
    assert identify(body, content_type, path).media_type is expected


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "text/html"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", ""),
        (b"PK\x03\x04\x14\x00\x06\x00", "text/plain"),
        (b"GIF89a\x01\x00\x01\x00", "text/html; charset=iso-8859-1"),
        (b"\x7fELF\x02\x01\x01\x00", "application/octet-stream"),
        (b"not a PDF", "application/pdf"),
        (b'{"a": 1}', "application/json"),
        (b"a,b\n1,2\n", "text/csv"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "application/rss+xml"),
        (b"var a = 1;", "text/javascript"),
    ],
)
def test_other_types_are_refused(body: bytes, content_type: str) -> None:
    assert refusal(body, content_type) is Reason.TYPE_REFUSED


@pytest.mark.parametrize("body", [b"", b" \r\n\t"])
def test_nothing_is_nothing(body: bytes) -> None:
    assert refusal(body) is Reason.EMPTY


@pytest.mark.parametrize(
    ("encoded_as", "claim", "in_page"),
    [
        ("utf-8", None, None),
        ("utf-8", "utf-8", None),
        ("utf-8", "iso-8859-1", None),  # the commonest lie
        ("utf-8", "windows-1251", "koi8-r"),
        ("utf-8", "no-such-charset", None),
        ("utf-8-sig", "windows-1251", None),
        ("utf-16", "utf-8", None),
        ("utf-16-le", "utf-16le", None),
        ("windows-1251", "windows-1251", None),
        ("windows-1251", "WINDOWS-1251", "utf-8"),
        ("windows-1251", None, "windows-1251"),
        ("windows-1251", "utf-8", "windows-1251"),
        ("koi8-r", "koi8-r", None),
        ("windows-1251", "utf-8", None),
        ("windows-1251", None, None),
        ("windows-1251", "unicode_escape", None),
    ],
)
def test_the_text_is_decoded_whatever_is_claimed(encoded_as: str, claim: str | None, in_page: str | None) -> None:
    text = (f'<meta charset="{in_page}">' if in_page else "") + PAGE
    body = text.encode(encoded_as)
    codec = charset_of(body, claim)
    assert codec is not None
    assert body.decode(codec) == text


@pytest.mark.parametrize("label", ["unicode_escape", "raw_unicode_escape", "utf-7", "punycode", "idna", "zip", "rot13"])
def test_a_codec_that_is_no_charset_of_the_web_is_not_used(label: str) -> None:
    assert charset_of(rb"+ADw-script+AD4- \u003c", label) == "utf-8"
    assert charset_of(f'<meta charset="{label}"><p>'.encode()) == "utf-8"


def test_a_text_of_seven_bits_may_be_what_it_claims() -> None:
    text = "営業時間は九時から十七時までです。"
    assert text.encode("iso-2022-jp").decode(str(charset_of(text.encode("iso-2022-jp"), "iso-2022-jp"))) == text


def test_a_page_that_can_be_read_to_its_own_claim_is_not_in_utf_16() -> None:
    assert charset_of(b'<meta charset="utf-16"><p>We are open.') == "utf-8"


def test_bytes_that_no_charset_decodes_are_unreadable() -> None:
    assert charset_of(b"\xef\xbb\xbf\xff\xfe\xff") is None
    assert refusal(b"\xef\xbb\xbf\xff\xfe\xff", "text/html") is Reason.TEXT_UNREADABLE
