"""At most two searches a turn, none twice, and each call for itself."""

from worker.question import Question
from worker.search_guard import Search, SearchGuard

CODE = Question("What is the door code of the north entrance?")
AGAIN = Question("the north entrance door code please")
SOUTH = Question("door code of the south garage")
HOURS = Question("When is the lab open?")


def test_the_same_question_in_other_words_is_not_searched_again_in_its_turn() -> None:
    guard = SearchGuard()
    assert isinstance(guard.judge("turn-1", CODE, "en"), Search)
    assert guard.judge("turn-1", AGAIN, "en") == "already_searched"
    assert isinstance(guard.judge("turn-1", SOUTH, "en"), Search)


def test_there_are_two_searches_in_a_turn_and_a_new_turn_has_its_own() -> None:
    guard = SearchGuard()
    for question in (CODE, SOUTH):
        assert isinstance(guard.judge("turn-1", question, "en"), Search)
    assert guard.judge("turn-1", HOURS, "en") == "enough_searched"
    assert isinstance(guard.judge("turn-2", HOURS, "en"), Search)
    assert isinstance(guard.judge("turn-2", CODE, "en"), Search)


def test_a_search_that_could_not_be_made_is_not_called_done() -> None:
    guard = SearchGuard()
    search = guard.judge("turn-1", CODE, "en")
    assert isinstance(search, Search)
    search.failed = True
    assert guard.judge("turn-1", AGAIN, "en") == "unavailable"


def test_parts_make_another_question() -> None:
    guard = SearchGuard()
    both = Question("door code and lab hours", ("What is the north door code?", "When is the lab open?"))
    assert isinstance(guard.judge("turn-1", both, "en"), Search)
    assert guard.judge("turn-1", both, "en") == "already_searched"
    assert isinstance(guard.judge("turn-1", HOURS, "en"), Search)


def test_stop_words_are_those_of_the_calls_language() -> None:
    guard = SearchGuard()
    assert isinstance(guard.judge("t", Question("сколько стоит анализ крови"), "ru"), Search)
    assert guard.judge("t", Question("а сколько же стоит мне анализ крови"), "ru") == "already_searched"


def test_two_calls_at_once_share_nothing() -> None:
    one, other = SearchGuard(), SearchGuard()
    assert isinstance(one.judge("turn-1", CODE, "en"), Search)
    assert isinstance(other.judge("turn-1", CODE, "en"), Search)
    assert one.judge("turn-1", CODE, "en") == "already_searched"
