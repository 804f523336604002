"""Limits of what is added: each is a setting, said once; names that people give."""

import dataclasses

import pytest

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.extraction.limits import MB
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.names import name_of


def settings(**changes: object) -> Settings:
    return Settings.model_validate({"DATABASE_URL": "postgresql://db.example/x"} | changes)


def test_what_is_not_set_is_as_the_parts_have_it() -> None:
    assert SourceLimits.of(settings()) == SourceLimits()


def test_each_setting_moves_one_limit() -> None:
    changes = {
        "max_bases": 1,
        "max_sources": 2,
        "max_passages": 3,
        "max_pasted_characters": 4,
        "max_import_bytes": "5MiB",
        "max_import_lines": 6,
        "max_pdf_bytes": 7,
        "max_pdf_pages": 8,
        "max_text_bytes": 9,
        "max_office_bytes": 10,
        "max_page_bytes": 11,
        "max_page_seconds": 12.0,
        "extraction_seconds": 13.0,
        "extraction_memory_bytes": "300MiB",
    }
    seen = set()
    for name, value in changes.items():
        limits = SourceLimits.of(settings(**{name: value}))
        moved = {
            (part, field.name)
            for part, now, usual in (
                ("", limits, SourceLimits()),
                ("extraction", limits.extraction, SourceLimits().extraction),
                ("fetching", limits.fetching, SourceLimits().fetching),
            )
            for field in dataclasses.fields(now)
            if field.name not in ("extraction", "fetching") and getattr(now, field.name) != getattr(usual, field.name)
        }
        assert len(moved) == 1, (name, moved)
        seen |= moved
    assert len(seen) == len(changes)


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        ("jsonl", {}, (1024 * MB, "ANSWERLINE_MAX_IMPORT_BYTES")),
        ("file", {}, (20 * MB, "ANSWERLINE_MAX_OFFICE_BYTES")),
        ("file", {"max_pdf_bytes": "50MiB"}, (50 * MB, "ANSWERLINE_MAX_PDF_BYTES")),
        ("file", {"max_text_bytes": "60MiB"}, (60 * MB, "ANSWERLINE_MAX_TEXT_BYTES")),
    ],
)
def test_an_upload_may_be_as_large_as_the_largest_type(
    kind: str, changes: dict[str, object], expected: tuple[int, str]
) -> None:
    assert SourceLimits.of(settings(**changes)).upload_bytes(kind) == expected


@pytest.mark.parametrize(("text", "name"), [("  Price\tlist \n", "Price list"), ("Тарифы", "Тарифы"), ("a" * 200,) * 2])
def test_a_name_is_kept_without_the_space_around_it(text: str, name: str) -> None:
    assert name_of(text) == name
    assert FolderKey.parse(str(FolderKey("upload", (name,)))) is not None


@pytest.mark.parametrize("text", ["", "  ", "\u200b", "a" * 201, "a\x00b", "\ud800", "😀" * 170])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        name_of(text)
    assert [problem.field for problem in raised.value.problems] == ["name"]
