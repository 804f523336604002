"""PDF files, written by hand: letters at places, without fonts."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bidi import get_display

GLYPH_WIDTH = 0.5  # of the size, for every letter
LAM_ALEF = "\ufefb"  # the glyph of two letters


@dataclass(frozen=True, slots=True)
class Run:
    """Text from a place on; right-to-left text ends there, and is drawn from left to right as all text in PDFs is.

    Where `mirrored`, the brackets of right-to-left text are named by their shape, as some programs do; others name
    what was typed.
    """

    text: str
    x: float
    y: float
    size: float = 11
    rtl: bool = False
    mirrored: bool = True


def pdf(
    pages: Sequence[Sequence[Run]], *, title: str = "", to_unicode: bool = True, trailer: bytes = b"", count: int = 0
) -> bytes:
    """A file with these pages; `count` is what it claims to have, where that is not the truth."""
    letters = sorted({letter for page in pages for run in page for letter in _drawn(run)})
    objects: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        3: b"<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H/DescendantFonts[4 0 R]"
        + (b"/ToUnicode 6 0 R>>" if to_unicode else b">>"),
        4: b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
        b"/Supplement 0>>/DW 500/FontDescriptor 5 0 R>>",
        5: b"<</Type/FontDescriptor/FontName/Any/Flags 4/FontBBox[0 -200 1000 800]/ItalicAngle 0/Ascent 800"
        b"/Descent -200/CapHeight 700/StemV 80>>",
        6: stream(_to_unicode(letters)),
        7: b"<</Title" + _hex("\ufeff" + title) + b">>",
    }
    kids = []
    for index, page in enumerate(pages):
        at = 10 + 2 * index
        kids.append(b"%d 0 R" % at)
        objects[at] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
            % (at + 1)
        )
        objects[at + 1] = stream(b"\n".join(_shown(run) for run in page))
    objects[2] = b"<</Type/Pages/Kids[" + b" ".join(kids) + b"]/Count %d>>" % (count or len(pages))
    return assemble(objects, b"/Info 7 0 R" + trailer)


def assemble(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects; the first is the catalogue."""
    body = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(body)
        body += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    size = max(objects) + 1
    table = b"".join(
        b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n" for number in range(size)
    )
    end = b"trailer\n<</Size %d/Root 1 0 R" % size + trailer + b">>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    return body + b"xref\n0 %d\n" % size + table + end


def stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"<</Filter/FlateDecode/Length %d>>\nstream\n" % len(packed) + packed + b"\nendstream"


def paragraph(lines: Sequence[str], *, x: float = 50, y: float, size: float = 11) -> list[Run]:
    return [Run(line, x, y - index * size * 1.3, size) for index, line in enumerate(lines)]


def table(rows: Sequence[Sequence[str]], *, y: float, width: float = 150) -> list[Run]:
    return [
        Run(cell, 50 + column * width, y - index * 18)
        for index, row in enumerate(rows)
        for column, cell in enumerate(row)
    ]


def _drawn(run: Run) -> str:
    """The glyphs from left to right."""
    if not run.rtl:
        return run.text
    visual = str(get_display(run.text.replace("لا", LAM_ALEF), base_dir="R"))
    return visual.translate(str.maketrans("()", ")(")) if run.mirrored else visual


def _shown(run: Run) -> bytes:
    glyphs = _drawn(run)
    x = run.x - len(glyphs) * GLYPH_WIDTH * run.size if run.rtl else run.x
    return b"BT /F %g Tf %g %g Td " % (run.size, x, run.y) + _hex(glyphs) + b" Tj ET"


def _hex(text: str) -> bytes:
    return b"<" + text.encode("utf-16-be").hex().encode() + b">"


def _to_unicode(letters: Sequence[str]) -> bytes:
    lines = "\n".join(
        f"<{ord(letter):04x}> <{('لا' if letter == LAM_ALEF else letter).encode('utf-16-be').hex()}>"
        for letter in letters
    )
    return (
        "/CIDInit/ProcSet findresource begin 12 dict begin begincmap /CMapName/Any def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{lines}\nendbfchar endcmap end end"
    ).encode()
