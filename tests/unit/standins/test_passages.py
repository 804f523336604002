import pytest

from demo.standins.passages import best_sentences, same_word, split_sentences


def test_sentences_end_at_marks_and_lines_but_not_inside_numbers_and_titles() -> None:
    text = "Dr. Ray sees you at 9.30. Bring $45.50!\nНомер 44. هل هذا صحيح؟ نعم"
    assert split_sentences(text) == [
        "Dr. Ray sees you at 9.30.",
        "Bring $45.50!",
        "Номер 44.",
        "هل هذا صحيح؟",
        "نعم",
    ]


@pytest.mark.parametrize("text", ["", " \n "])
def test_nothing_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []
    assert best_sentences("What?", text) == ""


@pytest.mark.parametrize(("a", "b"), [("cost", "costs"), ("приём", "приёма"), ("pay", "pay"), ("renew", "renewal")])
def test_endings_make_no_other_word(a: str, b: str) -> None:
    assert same_word(a, b)


@pytest.mark.parametrize(("a", "b"), [("4000", "4001"), ("pay", "pat"), ("north", "south"), ("pin44", "pin45")])
def test_other_words_and_numbers_differ(a: str, b: str) -> None:
    assert not same_word(a, b)


def test_two_sentences_that_fit_keep_their_order() -> None:
    content = "The clinic is old. An umbrella stand is at the door. Take your umbrella home at night. Cats are welcome."
    assert best_sentences("Where is the umbrella stand?", content) == (
        "An umbrella stand is at the door. Take your umbrella home at night."
    )
