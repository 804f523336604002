import pytest

from demo.standins.spoken import pieces


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("PIN-44-X", "pin 44 X"),
        ("LF-27-B", "L F 27 B"),
        ("AX-7-QT", "A X 7 Q T"),
        ("COVID-19", "covid 19"),
        ("a walk-in X-ray at 08:30", "a walk-in X-ray at 08:30"),
        ("$45.50", "45 dollars 50"),
        ("€1,200", "1200 euros"),
        ("₹4,000", "4000 rupees"),
        ("call +15550142", "call 1 5 5 5 0 1 4 2"),
        ("room 007", "room 0 0 7"),
    ],
)
def test_codes_prices_and_numbers_are_put_in_words(written: str, said: str) -> None:
    assert [(piece.voice, piece.text) for piece in pieces(written)] == [("en-us", said)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Приём стоит 4 500 ₸.", ("ru", "Приём стоит 4500 тенге.")),
        ("Қабылдау 5 000 ₸", ("kk", "Қабылдау 5000 теңге")),
        ("بسعر $20", ("ar", "بسعر 20 دولار")),
        ("44", ("en-us", "44")),
    ],
)
def test_a_script_is_read_by_its_voice(written: str, said: tuple[str, str]) -> None:
    assert [(piece.voice, piece.text) for piece in pieces(written)] == [said]


def test_a_mixed_text_is_read_piece_by_piece_in_order() -> None:
    assert [(piece.voice, piece.text) for piece in pieces("12. Код PIN-44-X нужен у входа, الرقم ٤٤!")] == [
        ("ru", "12. Код"),
        ("en-us", "pin 44 X"),
        ("ru", "нужен у входа,"),
        ("ar", "الرقم ٤٤!"),
    ]


@pytest.mark.parametrize("silent", ["", "  ", "?! -- …"])
def test_signs_alone_say_nothing(silent: str) -> None:
    assert pieces(silent) == []
