"""Files that are broken, locked, empty or mean harm: each with what its owner is told.

What a test holds a file to are the extractor's own limits; the fixture `scratch` sees that nothing is left.
"""

import io
import stat
import zipfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from retrieval_sidecar.extraction.limits import MB, Limits
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, Reason
from retrieval_sidecar.extraction.process import extract
from tests.support.files import office, pdf

Extract = Callable[..., Coroutine[Any, Any, Extracted]]
Refuse = Callable[..., Coroutine[Any, Any, ExtractionFailed]]

TIGHT = Limits(memory_bytes=512 * MB, seconds=120)
ONE_PAGE = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>"}
# Fifty times the one before, five times over: 31 billion characters.
ENTITIES = (
    f'<!DOCTYPE x [<!ENTITY a "{"ha" * 50}">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 50}">' for before, name in zip("abcde", "bcdef", strict=True))
    + "]>"
)


def one_line_pdf(**parts: object) -> bytes:
    return pdf.pdf([[pdf.Run("Prices", 50, 700)]], **parts)  # type: ignore[arg-type]


def bare_pdf(contents: bytes, resources: bytes = b"", more: dict[int, bytes] | None = None) -> bytes:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<<%s>>/Contents 5 0 R>>" % resources
    return pdf.assemble({**ONE_PAGE, 3: page, 5: pdf.stream(contents), **(more or {})})


def a_cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


LOCKED_PDF = one_line_pdf(
    trailer=b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<" + b"00" * 32 + b">/U<" + b"11" * 32 + b">>>"
)
LOCKED_ODT_MANIFEST = (
    '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
    "</manifest:manifest>"
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504

REFUSED = {
    # Locked.
    "pdf-password": (LOCKED_PDF, Reason.ENCRYPTED, "password"),
    "odt-password": (office.odt_file("<text:p>x</text:p>", manifest=LOCKED_ODT_MANIFEST), Reason.ENCRYPTED, "password"),
    "docx-password": (OLE + "EncryptedPackage".encode("utf-16-le"), Reason.ENCRYPTED, "password"),
    # Without text.
    "pdf-empty": (pdf.pdf([[]]), Reason.NO_TEXT, "OCR"),
    "pdf-scanned": (bare_pdf(b"q 99 0 0 99 0 0 cm /I Do Q", b""), Reason.NO_TEXT, "OCR"),
    "pdf-nameless-letters": (pdf.pdf([[pdf.Run("\ue001\ue002\ue003", 50, 700)]]), Reason.NO_TEXT, "fonts"),
    "docx-empty": (office.bare_docx(office.word_document("<w:p/>")), Reason.NO_TEXT, "empty"),
    "html-empty": (b"<!doctype html><title>x</title><script>var a = 1</script>", Reason.NO_TEXT, "empty"),
    "nothing": (b"", Reason.NO_TEXT, "empty"),
    "blanks": (b" \n\t\r\n", Reason.NO_TEXT, "empty"),
    # Of other types.
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0", Reason.UNSUPPORTED_TYPE, "image/png"),
    "program": (b"\x7fELF\2\1\1" + b"\0" * 57, Reason.UNSUPPORTED_TYPE, "ELF"),
    "gzip": (b"\x1f\x8b\x08\0\0\0\0\0\0\3" + bytes(range(256)), Reason.UNSUPPORTED_TYPE, "GZIP"),
    "doc": (OLE, Reason.UNSUPPORTED_TYPE, "before 2007"),
    "zip": (office.zipped({"notes.txt": "x"}), Reason.UNSUPPORTED_TYPE, "a ZIP archive"),
    "epub": (office.zipped({"mimetype": "application/epub+zip"}), Reason.UNSUPPORTED_TYPE, "application/epub+zip"),
    "junk": (bytes(index * 7919 % 251 for index in range(5000)), Reason.NOT_TEXT, "UTF-8"),
    "text-with-nul": ("цены\0".encode() * 9, Reason.NOT_TEXT, "UTF-8"),
    # Damaged.
    "pdf-header-only": (b"%PDF-1.7\n" + bytes(range(256)), Reason.DAMAGED, "again"),
    "pdf-cut": (one_line_pdf()[:400], Reason.DAMAGED, "again"),
    "pdf-page-tree-in-a-circle": (
        pdf.assemble({1: ONE_PAGE[1], 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"}),
        Reason.DAMAGED,
        "again",
    ),
    "docx-cut": (office.bare_docx(office.word_document(office.word_paragraph("x")))[:-40], Reason.DAMAGED, "unpacked"),
    "docx-not-xml": (office.bare_docx("<w:document"), Reason.DAMAGED, "save it again"),
    "docx-deep": (office.bare_docx(office.word_document("<w:sdt>" * 200_000)), Reason.DAMAGED, "save it again"),
    "docx-entities": (
        office.bare_docx(office.word_document(office.word_paragraph("&f;"), prolog=ENTITIES)),
        Reason.DAMAGED,
        "save it again",
    ),
    "xlsx-entities": (
        office.bare_xlsx(f"<row>{a_cell('A1', '&f;')}</row>", prolog=ENTITIES),
        Reason.DAMAGED,
        "save it again",
    ),
    "pptx-hollow": (
        office.zipped(
            {
                "[Content_Types].xml": office.CONTENT_TYPES.format(
                    overrides=office.OVERRIDE.format(
                        part="/p.xml",
                        type="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
                    )
                )
            }
        ),
        Reason.DAMAGED,
        "save it again",
    ),
    "zip-path-traversal": (
        office.bare_docx(office.word_document(office.word_paragraph("x")), more={"../../escaped": "x"}),
        Reason.DAMAGED,
        "outside",
    ),
    # Over a limit, before anything of it is unpacked or drawn.
    "pdf-pages": (pdf.pdf([[pdf.Run("x", 50, 700)]] * 101), Reason.TOO_MANY_PAGES, "101 pages; at most 100"),
    "pdf-claims-a-million": (one_line_pdf(count=1_000_000), Reason.TOO_MANY_PAGES, "1,000,000 pages"),
    "pdf-large": (one_line_pdf() + b" " * 5 * MB, Reason.TOO_LARGE, "at most 5 MB"),
    "text-large": (b"words\n" * (2 * MB), Reason.TOO_LARGE, "at most 10 MB"),
    "docx-bomb": (
        office.bare_docx(office.word_document(office.word_paragraph(" " * 120 * MB))),
        Reason.TOO_LARGE,
        "unpacks to 120 MB",
    ),
    "docx-parts": (
        office.zipped({f"{index}.xml": "" for index in range(5_001)}),
        Reason.TOO_LARGE,
        "5,001 parts",
    ),
    "xlsx-wide": (
        office.bare_xlsx("<row>" + "<c><v>1</v></c>" * 100_000 + "</row>"),
        Reason.TOO_LARGE,
        "100,000 columns",
    ),
    "xlsx-far-column": (office.bare_xlsx(f"<row>{a_cell('XFD1', 'x')}</row>"), Reason.TOO_LARGE, "16,384 columns"),
    "xlsx-far-row": (
        office.bare_xlsx(f'<row r="1000000000000">{a_cell("A1000000000000", "x")}</row>'),
        Reason.TOO_LARGE,
        "rows",
    ),
    "csv-wide": (
        b"\n".join(b",".join(b"%d" % (row + column) for column in range(100_000)) for row in range(2)),
        Reason.TOO_LARGE,
        "100,000 columns",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_is_refused_with_a_reason(refusal: Refuse, name: str) -> None:
    content, reason, words = REFUSED[name]
    failure = await refusal(content, TIGHT)
    assert (failure.reason, words in str(failure)) == (reason, True), str(failure)


@pytest.mark.parametrize(
    ("content", "limits", "words"),
    [
        (office.xlsx_file({"A": [[1, 2, 3]] * 40}), Limits(sheet_cells=100), "at most 100"),
        (office.pptx_file("T", ["a", "b"], [["c"]]), Limits(slides=2), "3 slides"),
        (b"words and more words\n" * 50, Limits(markdown_characters=1000), "1,000 characters"),
        (b"<!doctype html>" + b"<p>words" * 500, Limits(markdown_characters=1000), "1,000 characters"),
        (pdf.pdf([pdf.paragraph(["words " * 9] * 50, y=800)]), Limits(markdown_characters=1000), "1,000 characters"),
        (office.xlsx_file({"A": [["words", "words"]] * 400}), Limits(markdown_characters=1000), "1,000 characters"),
        (b"words" * 9, Limits(pdf_bytes=40, text_bytes=40, office_bytes=40), "no type may have more"),
        (office.docx_file("T", "x", [], [["y"]]), Limits(office_bytes=1000), "for an office file"),
    ],
)
async def test_limits_are_settings(refusal: Refuse, content: bytes, limits: Limits, words: str) -> None:
    failure = await refusal(content, limits)
    assert failure.reason in {Reason.TOO_LARGE, Reason.TOO_MANY_PAGES}
    assert words in str(failure)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            office.with_claimed_size(
                office.bare_docx(office.word_document(office.word_paragraph("a " * 90 * MB))), "word/document.xml", 1000
            ),
            id="a zip that lies about its size",
        ),
        pytest.param(office.odt_file('<text:p><text:s text:c="2000000000"/></text:p>'), id="two billion spaces"),
    ],
)
async def test_memory_is_bounded(refusal: Refuse, content: bytes) -> None:
    """The program that reads it ends at its bound and says so."""
    failure = await refusal(content, TIGHT)
    assert failure.reason is Reason.TOO_MUCH_MEMORY


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bare_pdf(b" " * 900 * MB), id="a page that unpacks to 900 MB"),
        pytest.param(
            bare_pdf(
                b"/X Do",
                b"/XObject<</X 4 0 R>>",
                {
                    4: b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Length 10>>\n"
                    b"stream\n/X Do /X Do\nendstream"
                },
            ),
            id="a form that contains itself, twice",
        ),
    ],
)
async def test_a_pdf_that_needs_too_much_costs_its_reader_only(refusal: Refuse, content: bytes) -> None:
    """PDFium ends its process where it gets no memory; all that is known then is which file it was."""
    failure = await refusal(content, Limits(memory_bytes=400 * MB, seconds=120))
    assert failure.reason is Reason.DAMAGED
    assert "more memory than is allowed" in str(failure)


async def test_time_is_bounded(refusal: Refuse) -> None:
    endless = bare_pdf(
        b"BT /F 9 Tf " + b"(words and words) Tj " * 3_000_000 + b"ET",
        b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>",
    )
    failure = await refusal(endless, Limits(seconds=1.5))
    assert failure.reason is Reason.TOO_SLOW
    assert "1.5 seconds" in str(failure)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(
            office.bare_docx(
                office.word_document(f'<w:p w:rsidR="{"x" * 20 * MB}"/>' + office.word_paragraph("hours 9–18"))
            ),
            "hours 9–18",
            id="an attribute of 20 MB",
        ),
        pytest.param(
            office.odt_file(
                '<table:table><table:table-row table:number-rows-repeated="1000000000"><table:table-cell '
                'table:number-columns-repeated="1000000000"><text:p>x</text:p></table:table-cell></table:table-row>'
                "</table:table>"
            ),
            "| x |\n| --- |",
            id="a billion rows of a billion cells, told in one",
        ),
        pytest.param(
            office.bare_xlsx(
                f'<row r="1">{a_cell("A1", "near")}</row><row r="900000">{a_cell("A900000", "far")}</row>'
            ),
            "# Prices\n\nnear\n\nfar",
            id="a cell far down",
        ),
        pytest.param(b"{\\rtf1 " + b"{" * 30_000 + b"x" + b"}" * 30_000 + b"}", "x", id="RTF that is deep"),
        pytest.param(
            office.bare_docx(office.word_document(office.word_paragraph("&#x202e;a"), prolog="<!DOCTYPE x>")),
            "\u202ea",
            id="an XML document type",
        ),
    ],
)
async def test_what_is_only_odd_is_read(read: Extract, content: bytes, text: str) -> None:
    assert (await read(content)).markdown == text


async def test_an_entity_of_a_file_is_not_read(refusal: Refuse) -> None:
    prolog = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
    failure = await refusal(office.bare_docx(office.word_document(office.word_paragraph("&a;"), prolog=prolog)))
    assert failure.reason is Reason.DAMAGED


async def test_a_link_in_a_zip_leads_nowhere(read: Extract) -> None:
    file = io.BytesIO(office.bare_docx(office.word_document(office.word_paragraph("hours 9–18"))))
    with zipfile.ZipFile(file, "a") as archive:
        link = zipfile.ZipInfo("word/settings.xml")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert (await read(file.getvalue())).markdown == "hours 9–18"


async def test_a_page_that_would_take_minutes_costs_its_reader_only(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_bytes(b"<table>" + b"<tr><td>a<td>b" * (5 * MB // 16))
    with pytest.raises(ExtractionFailed) as caught:
        await extract(path, Limits(seconds=2), page=True)
    assert caught.value.reason is Reason.TOO_SLOW
