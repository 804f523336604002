"""The text that a web page is about, as Markdown, without its menus and footers."""

from pathlib import Path
from typing import NamedTuple

import trafilatura

from retrieval_sidecar.fetching.content import charset_of
from retrieval_sidecar.fetching.failures import PageFailure, Reason

# Answers of a help page often stand in panels that open on a click; these say that they are closed for now.
_CLOSED = ("style", "hidden", "aria-hidden", "aria-expanded")


class MainText(NamedTuple):
    """Of one page.

    Attributes:
        title: the page's own, without the site's name; None where it has none.
        markdown: headings, lists and tables kept; links and pictures left out.
    """

    title: str | None
    markdown: str


def main_text(html_path: Path, charset: str | None = None) -> MainText:
    """Read a page from its file.

    Nothing bounds it but the size of the file: for 5 MiB of table cells it works for minutes, and its memory is some
    seventy times the file. Run it where time and memory are limited.

    Args:
        html_path: the file.
        charset: the codec that it was found to be in; None to find out.

    Raises:
        PageFailure: text_unreadable, no_text.
    """
    body = html_path.read_bytes()
    charset = charset or charset_of(body)
    if charset is None:
        raise PageFailure(Reason.TEXT_UNREADABLE)
    page = trafilatura.load_html(body.decode(charset))
    if page is None:
        raise PageFailure(Reason.NO_TEXT)
    title = _title(page)
    for element in page.iter():
        for attribute in _CLOSED:
            element.attrib.pop(attribute, None)
    markdown = trafilatura.extract(
        page,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_images=False,
        include_links=False,
        include_tables=True,
    )
    if not markdown or not markdown.strip():
        raise PageFailure(Reason.NO_TEXT)
    return MainText(title, markdown.strip())


def _title(page: object) -> str | None:
    found = trafilatura.extract_metadata(page)
    return (found.title or None) if found else None
