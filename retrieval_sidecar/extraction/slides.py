"""PPTX: a heading a slide, its text as a list, its tables."""

import io
from collections.abc import Iterator
from typing import Any

import pptx
from pptx.enum.shapes import PP_PLACEHOLDER

from retrieval_sidecar.extraction.document import Budget, Document, first_heading, table
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason

_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
_SMALL_PRINT = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER}
_LISTS = {PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY, PP_PLACEHOLDER.VERTICAL_OBJECT}
_MAX_DEPTH = 20


def read(content: bytes, limits: Limits) -> Document:
    """Slides that are shown, without their notes: those are for the speaker.

    Raises:
        ExtractionFailed: damaged, or more slides than are allowed.
    """
    budget = Budget(limits)
    try:
        presentation = pptx.Presentation(io.BytesIO(content))
        _check_count(len(presentation.slides), limits)
        shown = [slide for slide in presentation.slides if slide._element.get("show") != "0"]  # noqa: SLF001 - python-pptx has no name for it
        parts = [budget.spend(part) for slide in shown for part in _slide(slide)]
        title = presentation.core_properties.title.strip()
    except (MemoryError, ExtractionFailed):
        raise
    # python-pptx checks little: damaged parts surface as whatever they break.
    except Exception as error:
        raise ExtractionFailed(
            Reason.DAMAGED,
            "The presentation is damaged: it cannot be read. Open it in the program that it was made with, save it "
            "again as PPTX, and upload that.",
        ) from error
    markdown = "\n\n".join(parts)
    return Document(markdown, title or first_heading(markdown), len(shown))


def _check_count(count: int, limits: Limits) -> None:
    if count > limits.slides:
        raise ExtractionFailed(
            Reason.TOO_MANY_PAGES,
            f"The presentation has {count:,} slides; at most {limits.slides:,} are allowed. Split it.",
        )


def _slide(slide: Any) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and (text := " ".join(title.text_frame.text.split())):
        yield f"# {text}"
    for shape in _shapes(slide.shapes, _MAX_DEPTH):
        part = _text(shape)
        if part:
            yield part


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    """All shapes, those in groups too, in the order of reading: the file's own, which readers for the blind follow."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth:
                yield from _shapes(shape.shapes, depth - 1)
        else:
            yield shape


def _text(shape: Any) -> str:
    if shape.has_table:
        return table([[cell.text for cell in row.cells] for row in shape.table.rows])
    if not shape.has_text_frame:
        return ""
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    if kind in _TITLES | _SMALL_PRINT:
        return ""
    paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
    is_list = kind in _LISTS and len(paragraphs) > 1
    text = ""
    was_item = False
    for paragraph in paragraphs:
        is_item = is_list or paragraph.level > 0 or _has_mark(paragraph)
        text += "\n" if is_item and was_item else "\n\n"
        words = " ".join(paragraph.text.split())
        text += "  " * paragraph.level + f"- {words}" if is_item else words
        was_item = is_item
    return text.strip("\n")


def _has_mark(paragraph: Any) -> bool:
    """Whether it is drawn with a bullet or number of its own, not one that its layout gives it."""
    return bool(paragraph._p.xpath("a:pPr/a:buChar | a:pPr/a:buAutoNum"))  # noqa: SLF001 - python-pptx has no name for it
