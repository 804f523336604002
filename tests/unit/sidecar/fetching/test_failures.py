"""What a failure says, and what it never does."""

import re
import traceback
from pathlib import Path

import pytest

from retrieval_sidecar.fetching import PageFailure, Reason, fetch_page
from retrieval_sidecar.fetching.failures import _SENTENCES
from tests.support.page_server import HERE, LocalResolver, answer, here_is_public, page_server, redirect

ROOT = Path(__file__).parents[4]
SENTINEL = "sentinel"
SECRETS = f"/{SENTINEL}/path?key={SENTINEL}#{SENTINEL}"


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_has_a_sentence_that_says_what_to_do(reason: Reason) -> None:
    text = str(PageFailure(reason, host="site.example", detail="7"))
    assert re.fullmatch(r".+; .+\.", text)
    assert "{" not in text
    assert str(PageFailure(reason))[0].isupper()


def test_there_is_no_sentence_without_a_reason() -> None:
    assert set(_SENTENCES) == set(Reason)


def test_the_docs_explain_each_reason() -> None:
    text = (ROOT / "docs" / "sources.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z_]+)` \| [^|]+ \|( later)? \|$", text, re.MULTILINE)
    assert {code: bool(later) for code, later in rows} == {each.value: PageFailure(each).retryable for each in Reason}


@pytest.mark.parametrize(
    "url",
    [
        f"http://{SENTINEL}:{SENTINEL}@site.example{SECRETS}",
        f"http://site.example:81{SECRETS}",
        f"ftp://site.example{SECRETS}",
        f"http://127.0.0.1{SECRETS}",
        f"http://127.1{SECRETS}",
        f"http://[::1{SECRETS}",
        f"http://site.example\\@{SECRETS}",
        f"http://nowhere.example{SECRETS}",
        f"http://inside.example{SECRETS}",
        f"https://site.example{SECRETS}",
        *[
            f"http://site.example/{page}?key={SENTINEL}"
            for page in ("404", "500", "redirect", "round", "broken", "png")
        ],
        f"http://site.example/garbled?key={SENTINEL}",
    ],
)
async def test_no_part_of_an_address_but_its_host_is_told_or_traced(
    tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with page_server() as server:
        query = f"?key={SENTINEL}"
        server.pages |= {
            f"/500{query}": answer(status=f"500 {SENTINEL}"),
            f"/redirect{query}": redirect(f"http://{SENTINEL}@site.example/{SENTINEL}"),
            f"/round{query}": redirect(f"/round{query}"),
            f"/broken{query}": answer(b"short", "Content-Length: 100"),
            f"/garbled{query}": f"HTTP/1.1 200 OK\r\n{SENTINEL}\r\n\r\n".encode(),
            f"/png{query}": answer(b"\x89PNG\r\n\x1a\n\x00\x00", f"Content-Type: {SENTINEL}"),
        }
        resolver = LocalResolver(
            {80: server.port, 443: server.port}, site_example=[[HERE]], inside_example=[["10.0.0.1"]]
        )
        with pytest.raises(PageFailure) as caught:
            await fetch_page(url, tmp_path, resolver=resolver, rule=here_is_public)
    told = str(caught.value) + "".join(traceback.format_exception(caught.value))
    # The source lines of a traceback are our own; of the values, none may show.
    assert SENTINEL not in told.replace("{SENTINEL}", "")
    assert SENTINEL not in caplog.text
