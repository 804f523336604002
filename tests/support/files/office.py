"""Office files, by other libraries than those that read them, or by hand."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import docx
import openpyxl
import pptx
from pptx.util import Inches

CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
)
OVERRIDE = '<Override PartName="{part}" ContentType="{type}"/>'
DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
WORKSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_RELATIONSHIPS = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{type}" '
    'Target="{target}"/></Relationships>'
)
_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_LINKS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def docx_file(heading: str, text: str, items: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    document = docx.Document()
    document.add_heading(heading, 1)
    document.add_paragraph(text)
    for item in items:
        document.add_paragraph(item, style="List Bullet")
    cells = document.add_table(len(rows), len(rows[0]))
    for row, words in zip(cells.rows, rows, strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    return _saved(document)


def pptx_file(title: str, items: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """Two slides and one that is hidden, notes, and a group."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = title
    frame = slide.placeholders[1].text_frame
    frame.text = items[0]
    for item in items[1:]:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = item, 1
    slide.notes_slide.notes_text_frame.text = "for the speaker only"
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    size = (Inches(1), Inches(1), Inches(6), Inches(2))
    cells = slide.shapes.add_table(len(rows), len(rows[0]), *size).table
    for row, words in enumerate(rows):
        for column, word in enumerate(words):
            cells.cell(row, column).text = word
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(*size).text_frame.text = "in a group"
    hidden = presentation.slides.add_slide(presentation.slide_layouts[6])
    hidden.shapes.add_textbox(*size).text_frame.text = "on a hidden slide"
    hidden._element.set("show", "0")
    return _saved(presentation)


def xlsx_file(sheets: Mapping[str, Sequence[Sequence[Any]]], formats: Mapping[str, str] | None = None) -> bytes:
    """Sheets by name; `formats` are number formats of cells of the first one."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for place, number_format in (formats or {}).items():
        book.worksheets[0][place].number_format = number_format
    return _saved(book)


def odt_file(body: str, *, manifest: str | None = None) -> bytes:
    """`body` is what stands in office:text."""
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (("office", "office"), ("text", "text"), ("table", "table"), ("style", "style"))
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {names} office:version="1.2">'
        f"<office:font-face-decls/><office:automatic-styles/><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    styles = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-styles {names} office:version="1.2">'
        "<office:font-face-decls/><office:styles/><office:automatic-styles/><office:master-styles/>"
        "</office:document-styles>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "styles.xml": styles}
    parts["META-INF/manifest.xml"] = manifest or (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    return zipped(parts)


def bare_docx(document: str, *, content_type: str = DOCUMENT, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """`document` is word/document.xml itself."""
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES.format(
                overrides=OVERRIDE.format(part="/word/document.xml", type=content_type)
            ),
            "_rels/.rels": _RELATIONSHIPS.format(type="officeDocument", target="word/document.xml"),
            "word/document.xml": document,
            **(more or {}),
        }
    )


def word_document(body: str, *, prolog: str = "") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>{prolog}<w:document {_WORD}><w:body>{body}</w:body></w:document>'


def word_paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def bare_xlsx(rows: str, *, prolog: str = "") -> bytes:
    """`rows` is what stands in sheetData."""
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES.format(
                overrides=OVERRIDE.format(part="/xl/workbook.xml", type=WORKBOOK)
                + OVERRIDE.format(part="/xl/worksheets/sheet1.xml", type=WORKSHEET)
            ),
            "_rels/.rels": _RELATIONSHIPS.format(type="officeDocument", target="xl/workbook.xml"),
            "xl/_rels/workbook.xml.rels": _RELATIONSHIPS.format(type="worksheet", target="worksheets/sheet1.xml"),
            "xl/workbook.xml": f'<?xml version="1.0"?><workbook {_SHEET} {_LINKS}><sheets>'
            '<sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/worksheets/sheet1.xml": f'<?xml version="1.0"?>{prolog}<worksheet {_SHEET}>'
            f"<sheetData>{rows}</sheetData></worksheet>",
        }
    )


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def with_claimed_size(archive: bytes, name: str, size: int) -> bytes:
    """The same zip with a lie about how large one part is when unpacked, in both places that say it."""
    changed = bytearray(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        header = opened.getinfo(name).header_offset
    changed[header + 22 : header + 26] = size.to_bytes(4, "little")
    at = archive.rindex(b"PK\x05\x06")
    entry = int.from_bytes(archive[at + 16 : at + 20], "little")
    while archive[entry : entry + 4] == b"PK\x01\x02":
        lengths = [int.from_bytes(archive[entry + place : entry + place + 2], "little") for place in (28, 30, 32)]
        if archive[entry + 46 : entry + 46 + lengths[0]].decode() == name:
            changed[entry + 24 : entry + 28] = size.to_bytes(4, "little")
        entry += 46 + sum(lengths)
    return bytes(changed)


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
