"""How tests read logs."""

from tests.support.logs import told


def test_the_clock_is_not_content_but_everything_else_is() -> None:
    written = '{"event": "search at 12:00", "timestamp": "2026-12-01T12:00:31Z"}\n{"ms": 1, "timestamp": "12:01"}\n'
    assert "12:00" in told(written)
    assert "12:01" not in told(written)
    assert '"ms": 1' in told(written)


def test_letters_of_any_script_are_read_as_they_are() -> None:
    assert "Часы" in told('{"event": "\\u0427\\u0430\\u0441\\u044b"}')


def test_a_line_that_is_no_entry_is_not_passed_over() -> None:
    assert told('Traceback\n{"event": "a"}\n') == 'Traceback\n{"event": "a"}'
