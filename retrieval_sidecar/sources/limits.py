"""How much may be added; DESIGN section 5 has the numbers."""

from dataclasses import dataclass, field

from retrieval_sidecar.extraction.limits import MB, Limits
from retrieval_sidecar.fetching.limits import FetchLimits
from retrieval_sidecar.settings import Settings


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """Bounds of what an organization adds. Each is a setting: `setting` names it.

    Attributes:
        bases: of an organization.
        sources: of a base.
        passages: of a file, a page or a pasted text.
        pasted_characters: of a pasted text, and of an item that is written by hand.
        written_items: of a base, written by hand.
        import_bytes, import_lines: of a JSONL file.
        extraction: of a file, by its type.
        fetching: of a web page.
    """

    bases: int = 20
    sources: int = 50
    passages: int = 3_000
    pasted_characters: int = 500_000
    written_items: int = 3_000
    import_bytes: int = 1024 * MB
    import_lines: int = 1_000_000
    extraction: Limits = field(default_factory=Limits)
    fetching: FetchLimits = field(default_factory=FetchLimits)

    @classmethod
    def of(cls, settings: Settings) -> "SourceLimits":
        return cls(
            bases=settings.max_bases,
            sources=settings.max_sources,
            passages=settings.max_passages,
            pasted_characters=settings.max_pasted_characters,
            written_items=settings.max_written_items,
            import_bytes=settings.max_import_bytes,
            import_lines=settings.max_import_lines,
            extraction=Limits(
                pdf_bytes=settings.max_pdf_bytes,
                pdf_pages=settings.max_pdf_pages,
                text_bytes=settings.max_text_bytes,
                office_bytes=settings.max_office_bytes,
                seconds=settings.extraction_seconds,
                memory_bytes=settings.extraction_memory_bytes,
            ),
            fetching=FetchLimits(max_bytes=settings.max_page_bytes, seconds=settings.max_page_seconds),
        )

    def upload_bytes(self, kind: str) -> tuple[int, str]:
        """The most that is taken of an upload before anybody has looked at it, and the setting that says so.

        What type a file is, and so which limit is its own, is told when it is read.
        """
        if kind == "jsonl":
            return self.import_bytes, "ANSWERLINE_MAX_IMPORT_BYTES"
        extraction = self.extraction
        return max(
            (extraction.office_bytes, "ANSWERLINE_MAX_OFFICE_BYTES"),
            (extraction.text_bytes, "ANSWERLINE_MAX_TEXT_BYTES"),
            (extraction.pdf_bytes, "ANSWERLINE_MAX_PDF_BYTES"),
        )
