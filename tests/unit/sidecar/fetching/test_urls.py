"""Which addresses may be given, and the one form they are read into."""

import pytest
from yarl import URL

from retrieval_sidecar.fetching import PageFailure, Reason
from retrieval_sidecar.fetching.urls import parse_url
from tests.support.refused_addresses import REFUSED_ADDRESSES


def refusal(text: str, base: str | None = None) -> Reason:
    with pytest.raises(PageFailure) as failure:
        parse_url(text, base=None if base is None else URL(base))
    return failure.value.reason


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("https://help.example.com/returns", "https://help.example.com/returns"),
        ("  http://help.example.com/  ", "http://help.example.com/"),
        ("http://help.example.com", "http://help.example.com"),
        ("HTTPS://Help.Example.COM:443/A?b=c#d", "https://help.example.com/A?b=c"),
        ("http://help.example.com:80/", "http://help.example.com/"),
        ("http://help.example.com:/", "http://help.example.com/"),
        ("http://help.example.com./", "http://help.example.com/"),
        ("http://help_desk.example.com/a b", "http://help_desk.example.com/a%20b"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"),
        ("https://example.com/?to=a@b", "https://example.com/?to=a@b"),
        ("https://example.com/a@b", "https://example.com/a@b"),
        ("https://مثال.example/سؤال", "https://xn--mgbh0fb.example/%D8%B3%D8%A4%D8%A7%D9%84"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
    ],
)
def test_an_address_is_read_into_one_form(text: str, read: str) -> None:
    assert str(parse_url(text)) == read


def test_a_look_alike_letter_never_becomes_the_name_it_looks_like() -> None:
    cyrillic = "http://\u0430pple.example/"
    assert parse_url(cyrillic).raw_host == "xn--pple-43d.example"
    assert parse_url(cyrillic) != parse_url("http://apple.example/")


@pytest.mark.parametrize("text", ["ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:1"])
def test_other_schemes_are_refused(text: str) -> None:
    assert refusal(text) is Reason.SCHEME_REFUSED
    assert refusal(text, base="https://example.com/") is Reason.SCHEME_REFUSED


@pytest.mark.parametrize(
    "text", ["data:text/html,x", "localhost:8080/x", "ws://example.com/", "view-source:http://a.b/"]
)
def test_what_only_looks_like_a_scheme_is_refused_as_one(text: str) -> None:
    assert refusal(text) is Reason.SCHEME_REFUSED


@pytest.mark.parametrize("port", [0, 21, 22, 25, 81, 444, 5432, 8080, 8090, 65535])
def test_other_ports_are_refused(port: int) -> None:
    assert refusal(f"http://example.com:{port}/") is Reason.PORT_REFUSED
    assert refusal(f"//example.com:{port}/", base="https://example.com/") is Reason.PORT_REFUSED


@pytest.mark.parametrize("userinfo", ["ada@", "ada:secret@", ":secret@", "@", ":@", "a@b@", "8.8.8.8@"])
def test_userinfo_is_refused(userinfo: str) -> None:
    assert refusal(f"http://{userinfo}example.com/") is Reason.CREDENTIALS_REFUSED
    assert refusal(f"//{userinfo}example.com/", base="http://example.com/") is Reason.CREDENTIALS_REFUSED


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "0x7F.1",
        "127.1",
        "127.0.1",
        "0",
        "127.0.0.1.",
        "017700000001",
        "127.0.0.01",
        "1.2.3.4.5",
        "example.0x",
        "256.1.1.1",
        "\uff11\uff12\uff17.0.0.1",  # full-width digits
        "①②⑦.0.0.1",
        "127。0。0。1",
        "\uff10x7f.1",
    ],
)
def test_an_ipv4_address_in_any_other_form_is_refused(host: str) -> None:
    assert refusal(f"http://{host}/") is Reason.ADDRESS_REFUSED


@pytest.mark.parametrize("text", [each for texts in REFUSED_ADDRESSES.values() for each in texts])
def test_an_address_that_is_not_public_is_refused_as_written(text: str) -> None:
    host = f"[{text}]" if ":" in text else text
    assert refusal(f"http://{host}/") is Reason.ADDRESS_REFUSED
    assert refusal(f"//{host}/", base="https://example.com/") is Reason.ADDRESS_REFUSED


@pytest.mark.parametrize("host", ["[fe80::1%eth0]", "[fe80::1%25eth0]", "[2606:4700:4700::1111%251]"])
def test_zones_are_refused(host: str) -> None:
    assert refusal(f"http://{host}/") is Reason.ADDRESS_REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "help.example.com/returns",
        "//example.com/",
        "/returns",
        "http:",
        "http://",
        "http:///returns",
        "http:example.com",
        "http://a b/",
        "http://a..b/",
        "http://.a/",
        "http://a.b../",
        "http://exa%6dple.com/",
        "http://a%00b/",
        "http://a%2fb/",
        "http://example.com%40other.example/",
        "http://exa\tmple.com/",
        "http://example.com/\r\nHost: other",
        "http://example.com\\@127.0.0.1/",
        "http://ex\u00adample.com/",
        "http://ex\u200bample.com/",
        "http://[::1/",
        "http://[v1.x]/",
        "http://example.com:port/",
        "http://example.com:99999/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 127 + "example/",
        "http://\ud800.example/",
        "https://example.com/" + "a" * 2048,
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert refusal(text) is Reason.NOT_A_WEB_ADDRESS


@pytest.mark.parametrize(
    ("location", "read"),
    [
        ("/b", "https://example.com/b"),
        ("b?c", "https://example.com/x/b?c"),
        ("//other.example/", "https://other.example/"),
        ("http://other.example/", "http://other.example/"),
        ("?page=2", "https://example.com/x/a?page=2"),
    ],
)
def test_a_redirect_is_read_from_where_it_comes(location: str, read: str) -> None:
    assert str(parse_url(location, base=URL("https://example.com/x/a"))) == read
