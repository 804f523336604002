"""The text that a web page is about, as Markdown, without its menus and footers."""

import trafilatura

from retrieval_sidecar.extraction.document import Budget, Document
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason

# Answers of a help page often stand in panels that open on a click; these say that they are closed for now.
_CLOSED = ("style", "hidden", "aria-hidden", "aria-expanded")


def read(text: str, limits: Limits) -> Document:
    """Headings, lists and tables kept; links and pictures left out. The title is the page's, without the site's name.

    For 5 MiB of table cells it works for minutes, and its memory is some seventy times the page.

    Raises:
        ExtractionFailed: no text, or too much.
    """
    page = trafilatura.load_html(text)
    if page is None:
        raise _no_text()
    title = _title(page)
    # Patterns for scripts, which no browser shows to anybody.
    for pattern in list(page.iter("template")):
        pattern.drop_tree()
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
        raise _no_text()
    return Document(Budget(limits).spend(markdown.strip()), title)


def _title(page: object) -> str | None:
    found = trafilatura.extract_metadata(page)
    return (found.title or None) if found else None


def _no_text() -> ExtractionFailed:
    return ExtractionFailed(
        Reason.NO_TEXT,
        "The page has no text of its own, as where a script writes it; copy the text from a browser and add it as "
        "pasted text.",
    )
