"""What reading one file may cost."""

from dataclasses import dataclass

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one extraction; a file over one of them is refused with a sentence that names it.

    Attributes:
        pdf_bytes, pdf_pages: DESIGN section 5.
        text_bytes: plain text, Markdown, HTML and CSV; DESIGN section 5.
        office_bytes: DOCX, ODT, RTF, PPTX and XLSX. Most of such a file is pictures, which nobody reads.
        office_unpacked_bytes: all parts of such a file, unpacked: a zip bomb is refused before it is unpacked.
        office_parts: members of such a file.
        slides: of a presentation.
        sheet_cells, sheet_columns: of a workbook or a CSV file, as far as they are filled.
        markdown_characters: what comes out, at most: as much as the largest text has.
        seconds: wall clock; the processor's time is held to it as well.
        memory_bytes: address space of each process that reads.
        open_files: descriptors of each process that reads.
    """

    pdf_bytes: int = 5 * MB
    pdf_pages: int = 100
    text_bytes: int = 10 * MB
    office_bytes: int = 20 * MB
    office_unpacked_bytes: int = 100 * MB
    office_parts: int = 5_000
    slides: int = 500
    sheet_cells: int = 2_000_000
    sheet_columns: int = 1_000
    markdown_characters: int = 10 * MB
    seconds: float = 60.0
    memory_bytes: int = 1536 * MB
    open_files: int = 64

    @property
    def largest_bytes(self) -> int:
        """No file of any type may be larger."""
        return max(self.pdf_bytes, self.text_bytes, self.office_bytes)


def megabytes(size: int) -> str:
    """A size as a sentence says it: 5 MB, 0.5 MB."""
    return f"{size / MB:.3g} MB"
