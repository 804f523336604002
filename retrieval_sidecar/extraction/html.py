"""HTML, by a converter in Rust that takes megabytes in a second."""

import re

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

from retrieval_sidecar.extraction.document import Budget, Document, first_heading
from retrieval_sidecar.extraction.limits import Limits

_OPTIONS = ConversionOptions(
    bullets="-",
    compact_tables=True,
    extract_metadata=False,
    autolinks=False,
    preprocessing=PreprocessingOptions(enabled=True, remove_navigation=True, remove_forms=True),
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_FRONT = 64 * 1024  # where a title stands
# The converter guards, with backslashes, what would be Markdown at the start of a line, and backslashes themselves. A
# caller hears what was written: only a bar stays guarded, as it would end the cell. Code is never guarded.
_GUARD = re.compile(r"(^```.*?^```|`[^`\n]+`)|\\([!-/:-@\[-`{}~])", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_ANCHOR = re.compile(r"(?<!!)\[([^\]\n]*)\]\(#[^)\n]*\)")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_BULLET = re.compile(r"^( *)[•▪◦] +", re.MULTILINE)


def read(text: str, limits: Limits) -> Document:
    """Headings, lists, tables and links; without menus, forms, scripts and what is hidden."""
    markdown = Budget(limits).spend(to_markdown(text))
    return Document(markdown, _title(text) or first_heading(markdown))


def to_markdown(text: str) -> str:
    """HTML as Markdown with nothing guarded; of pictures their description, of links inside the page their words."""
    markdown = convert(text, _OPTIONS).content or ""
    markdown = _ANCHOR.sub(r"\1", _IMAGE.sub(r"\1", markdown))
    markdown = _GUARD.sub(lambda found: found[1] or found[2], markdown)
    return _BULLET.sub(r"\1- ", _TRAILING.sub("", markdown)).strip()


def _title(text: str) -> str | None:
    found = _TITLE.search(text[:_FRONT])
    if not found:
        return None
    title = " ".join(to_markdown(f"<p>{found[1]}</p>").split())
    return title if title not in {"", "-"} else None
