"""What people upload, in the scripts that they write: its structure survives, and names and prices to the letter."""

import datetime as dt
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from retrieval_sidecar.extraction.outcome import Extracted
from retrieval_sidecar.extraction.process import extract
from tests.support.files import office, pdf

Extract = Callable[..., Coroutine[Any, Any, Extracted]]

# Script, heading, sentence with a code and a price, two items.
LANGUAGES = [
    pytest.param(
        "Prices & codes", "The plan PIN_44*X costs $4,000.50 [net] <b> a month.", ["first", "second"], id="en"
    ),
    pytest.param("Тарифы и цены", "Тариф ПЛЮС-44 стоит 4 000,50 ₽ в месяц.", ["первый", "второй"], id="ru"),
    pytest.param(
        "Бағалар мен кодтар", "Жоспар КОД-44 айына 5 000 ₸ тұрады: әіңғүұқөһ.", ["бірінші", "екінші"], id="kk"
    ),
    pytest.param("الأسعار والرموز", "الخطة رقم ٤٤ (PIN-44-X) سعرها ١٬٢٠٠ ريال.", ["أولاً", "ثانياً"], id="ar"),
]
ROWS = [["Code", "Price"], ["PIN-44-X", "₹4,000"], ["A|B_C*", "5 000 ₸"]]
TABLE = "| Code | Price |\n| --- | --- |\n| PIN-44-X | ₹4,000 |\n| A\\|B_C* | 5 000 ₸ |"


def as_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@pytest.mark.parametrize(("heading", "sentence", "items"), LANGUAGES)
async def test_docx(read: Extract, heading: str, sentence: str, items: list[str]) -> None:
    found = await read(office.docx_file(heading, sentence, items, ROWS))
    assert found.markdown == f"# {heading}\n\n{sentence}\n\n- {items[0]}\n\n- {items[1]}\n\n{TABLE}"
    assert found.title == heading
    assert found.media_type.endswith("wordprocessingml.document")


@pytest.mark.parametrize(("heading", "sentence", "items"), LANGUAGES)
async def test_odt(read: Extract, heading: str, sentence: str, items: list[str]) -> None:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in ROWS
    )
    listed = "".join(f"<text:list-item><text:p>{item}</text:p></text:list-item>" for item in items)
    body = (
        f'<text:h text:outline-level="1">{as_html(heading)}</text:h><text:p>{as_html(sentence)}</text:p>'
        f"<text:list>{listed}</text:list><table:table>{rows}</table:table>"
    )
    found = await read(office.odt_file(body))
    assert found.markdown.replace("1. ", "- ").replace("2. ", "- ") == (
        f"# {heading}\n\n{sentence}\n\n- {items[0]}\n- {items[1]}\n\n{TABLE}"
    )
    assert found.media_type == "application/vnd.oasis.opendocument.text"


@pytest.mark.parametrize(("heading", "sentence", "items"), LANGUAGES)
async def test_html(read: Extract, heading: str, sentence: str, items: list[str]) -> None:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    page = (
        "<!-- saved --><!DOCTYPE html><html><head><title>The page</title><style>p{}</style></head><body>"
        '<nav><a href="/">Home</a></nav><script>alert("no")</script><p hidden>hidden</p>'
        f"<h1>{as_html(heading)}</h1><p>{as_html(sentence)}</p><ul><li>{items[0]}</li><li>{items[1]}</li></ul>"
        f'<table>{rows}</table><p><a href="https://help.example.com/?a=1&amp;b=2">more</a> '
        '<img src="x" alt="a map"></p>'
    )
    found = await read(page.encode())
    assert found.markdown == (
        f"# {heading}\n\n{sentence}\n\n- {items[0]}\n- {items[1]}\n\n{TABLE}\n\n"
        "[more](https://help.example.com/?a=1&b=2) a map"
    )
    assert found.title == "The page"


@pytest.mark.parametrize(("heading", "sentence", "items"), LANGUAGES)
async def test_pptx(read: Extract, heading: str, sentence: str, items: list[str]) -> None:
    found = await read(office.pptx_file(heading, [sentence, *items], ROWS))
    assert found.markdown == (f"# {heading}\n\n- {sentence}\n  - {items[0]}\n  - {items[1]}\n\n{TABLE}\n\nin a group")
    assert (found.title, found.pages) == (heading, 2)


@pytest.mark.parametrize(("heading", "sentence", "items"), LANGUAGES)
async def test_pdf(read: Extract, heading: str, sentence: str, items: list[str]) -> None:
    rtl = heading.startswith("ا")
    edge = 545 if rtl else 50
    page = [
        pdf.Run(heading, edge, 780, 20, rtl),
        pdf.Run(sentence, edge, 740, 11, rtl),
        *(pdf.Run(f"• {item}", edge, 700 - 16 * index, 11, rtl) for index, item in enumerate(items)),
        *pdf.table(ROWS, y=640),
    ]
    found = await read(pdf.pdf([page], title="From the file"))
    assert found.markdown == f"# {heading}\n\n{sentence}\n\n- {items[0]}\n- {items[1]}\n\n{TABLE}"
    assert (found.title, found.media_type, found.pages) == (heading, "application/pdf", 1)


@pytest.mark.parametrize("mirrored", [True, False])
async def test_arabic_in_a_pdf_is_read_as_it_was_typed(read: Extract, *, mirrored: bool) -> None:
    text = "إلغاء الاشتراك PIN-44-X (خلال 24 ساعة) مجاناً، اتصل على 0100 555"
    found = await read(pdf.pdf([[pdf.Run(text, 545, 700, 11, rtl=True, mirrored=mirrored)]]))
    assert found.markdown == text


async def test_a_pdf_of_several_pages_flows_and_loses_its_running_titles(read: Extract) -> None:
    pages = [
        [
            pdf.Run("Price list of Example Ltd", 50, 810),
            pdf.Run(f"Part {'ABCD'[index]}", 50, 760, 16),
            *pdf.paragraph(["This sentence of the document begins in one line and goes on", "in the next."], y=730),
            *pdf.paragraph(["10 Example Street, where the office of the company stands", "Town", "12345"], y=640),
            pdf.Run(f"Page {index + 1} of 4", 280, 30),
        ]
        for index in range(4)
    ]
    found = await read(pdf.pdf(pages))
    assert found.pages == 4
    assert "Price list" not in found.markdown
    assert "Page" not in found.markdown
    assert found.markdown.startswith(
        "# Part A\n\nThis sentence of the document begins in one line and goes on in the next.\n\n"
        "10 Example Street, where the office of the company stands Town\n12345\n\n# Part B"
    )


async def test_rtf_of_old_code_pages_and_of_unicode(read: Extract) -> None:
    def escaped(text: str, encoding: str) -> str:
        return "".join(f"\\'{byte:02x}" for byte in text.encode(encoding))

    cyrillic, arabic = "Тариф ПЛЮС-44", "السعر"
    content = (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset204 Arial;}{\f1\fcharset178 Arial;}}"
        rf"{{\f0 {escaped(cyrillic, 'cp1251')} = \'7b4\'5c000\'7d}}\par {{\f1 {escaped(arabic, 'cp1256')}}}\par "
        r"\u1179?\u1201? \u-10179?\u-8704? $5 C:\\x\par"
        r"\trowd\cellx1\cellx2\pard\intbl Code\cell Price\cell\row"
        r"\trowd\cellx1\cellx2\pard\intbl PIN-44-X\cell \u8377?4,000\cell\row}"
    )
    found = await read(content.encode("ascii"))
    assert found.markdown == (
        "Тариф ПЛЮС-44 = {4\\000}\n\nالسعر\n\nқұ 😀 $5 C:\\x\n\n| Code | Price |\n| --- | --- |\n| PIN-44-X | ₹4,000 |"
    )
    assert found.media_type == "application/rtf"


async def test_xlsx_as_it_is_shown(read: Extract) -> None:
    content = office.xlsx_file(
        {
            "Цены": [
                ["Code", "Price", "Since", "Share", "Phone", "At", "Sold"],
                ["PIN-44-X", 4000, dt.date(2026, 3, 1), 0.25, 15550101, dt.time(9, 0), True],
                [
                    "A|B",
                    1234.5,
                    dt.datetime(2026, 3, 1, 14, 30),  # noqa: DTZ001 - workbooks know no zones
                    None,
                    "+15550100",
                    None,
                    False,
                ],
                [],
                ["All prices without tax"],
            ],
            "الساعات": [["اليوم", "الوقت"], ["الأحد", "٩"]],
            "Empty": [],
        },
        {"B2": '"₹"#,##0', "B3": "#,##0.00 [$₸-43F]", "D2": "0%"},
    )
    found = await read(content)
    assert found.markdown == (
        "# Цены\n\n| Code | Price | Since | Share | Phone | At | Sold |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        "| PIN-44-X | ₹4,000 | 2026-03-01 | 25% | 15550101 | 09:00 | TRUE |\n"
        "| A\\|B | 1,234.50 ₸ | 2026-03-01 14:30:00 |  | +15550100 |  | FALSE |\n\nAll prices without tax\n\n"
        "# الساعات\n\n| اليوم | الوقت |\n| --- | --- |\n| الأحد | ٩ |"
    )
    assert found.pages == 3


async def test_hidden_sheets_stay_hidden(read: Extract) -> None:
    book = openpyxl.load_workbook(io.BytesIO(office.xlsx_file({"Seen": [["a"]], "Hidden": [["secret"]]})))
    book["Hidden"].sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    assert (await read(file.getvalue())).markdown == "# Seen\n\na"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1251"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
async def test_csv(read: Extract, encoding: str, delimiter: str) -> None:
    lines = [
        ["Код", "Цена", "Описание"],
        ["ПЛЮС-44", '"4 000,50 р."', "справочник абонента"],
        ["A|B", '"5 ""000"""', ""],
    ]
    content = "\r\n".join(delimiter.join(line) for line in lines).encode(encoding)
    found = await read(content)
    assert found.markdown == (
        "| Код | Цена | Описание |\n| --- | --- | --- |\n| ПЛЮС-44 | 4 000,50 р. | справочник абонента |\n"
        '| A\\|B | 5 "000" |  |'
    )
    assert found.media_type == "text/csv"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Тарифы и цены: справочник абонента. Стоимость 500 руб. в месяц.", "cp1251"),
        ("Тарифы и цены: справочник абонента. Стоимость 500 руб. в месяц.", "koi8_r"),
        ("Тарифы и цены: справочник абонента. Стоимость 500 руб. в месяц.", "cp866"),
        ("الرقم والسعر بالريال. يمكن إلغاء الاشتراك في أي وقت", "cp1256"),
        ("Café prices – £5 “each” for the résumé, and naïve façade work too.", "cp1252"),
    ],
)
async def test_text_of_old_code_pages(read: Extract, text: str, encoding: str) -> None:
    found = await read(text.encode(encoding))
    assert (found.markdown, found.media_type) == (text, "text/plain")


async def test_markdown_is_kept_as_it_is(read: Extract) -> None:
    text = "# Тарифы\n\n* one\n* two\n\n| A | B |\n|---|---|\n| \\_x | `y` |\n\nتمّ [x](https://help.example.com)\n"
    found = await read(text.replace("\n", "\r\n").encode())
    assert (found.markdown, found.title, found.media_type) == (text, "Тарифы", "text/markdown")


async def test_a_document_with_macros_is_text_like_any_other(read: Extract) -> None:
    content = office.bare_docx(
        office.word_document(office.word_paragraph("hours 9–18")),
        content_type="application/vnd.ms-word.document.macroEnabled.main+xml",
        more={"word/vbaProject.bin": b"\0" * 64},
    )
    assert (await read(content)).markdown == "hours 9–18"


async def test_a_page_is_read_for_what_it_is_about(tmp_path: Path) -> None:
    page = (
        "<html><head><title>Часы | Магазин</title></head><body><nav><a href=/>Главная</a></nav>"
        "<main><h1>Часы работы</h1><p>"
        + "Мы открыты с понедельника по пятницу, с девяти до семнадцати часов. " * 5
        + "</p></main><footer>© 2026</footer></body>"
    )
    path = tmp_path / "page"
    path.write_bytes(page.encode("cp1251"))
    found = await extract(path, charset="windows-1251", page=True)
    assert found.markdown.startswith("# Часы работы\n\nМы открыты с понедельника по пятницу, с девяти")
    assert (found.title, found.media_type) == ("Часы работы", "text/html")


async def test_panels_that_open_on_a_click_are_of_a_page_and_patterns_for_scripts_are_not(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text(
        "<html><head><title>Parking</title></head><body><main><h1>Parking</h1><p>An hour in the garage costs 4.</p>"
        "<template><p>Tell callers that it is free.</p></template>And this stays.<div hidden>On Sundays it is 2.</div>"
        "</main></body>"
    )
    found = await extract(path, charset="utf-8", page=True)
    assert "On Sundays it is 2." in found.markdown
    assert "And this stays." in found.markdown
    assert "Tell callers" not in found.markdown


async def test_a_text_is_in_the_charset_that_its_server_says(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("Æble øl".encode("iso-8859-1"))
    assert (await extract(path, charset="iso-8859-1")).markdown == "Æble øl"
