"""One text of all that a call may hear."""

from uuid import UUID

import pytest

from retrieval_sidecar.search.whole import MOST_CHARACTERS, Document, told_whole

ID = UUID(int=1, version=4)


def document(title: str, content: str, *, is_instruction: bool = False) -> Document:
    return Document(is_instruction, ID, title, content)


def test_each_document_stands_under_its_title() -> None:
    text = told_whole(
        [document("Rules\nof  returns", "Offer a voucher.\n", is_instruction=True), document("Parking", " 3 €. ")]
    )
    assert text == "## Rules of returns\n\nOffer a voucher.\n\n## Parking\n\n3 €."


def test_nothing_is_no_text() -> None:
    assert told_whole([]) is None


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_it_is_whole_or_not_at_all(more: int, fits: bool) -> None:  # noqa: FBT001 - a case
    around = len("## A\n\n\n\n## B\n\n")
    half = (MOST_CHARACTERS - around) // 2
    # Characters, not bytes: a word of Arabic or Kazakh counts as long as it is.
    text = told_whole([document("A", "ж" * half), document("B", "ع" * (MOST_CHARACTERS - around - half + more))])
    assert (text is not None) == fits
    assert text is None or len(text) == MOST_CHARACTERS
