"""Questions made of a corpus: what they ask, and what is left to answer them."""

from uuid import UUID

from retrieval_sidecar.calibration.samples import Sampled, are_lines, background, made_from
from retrieval_sidecar.embeddings.centering import language_samples
from retrieval_sidecar.text.languages import SUPPORTED
from retrieval_sidecar.text.normalize import words

STORY = (
    "The blue lamp above the entrance burns all night. A watchman lights the lamp every evening before dinner."
    " Visitors find the entrance by following its blue light across the yard."
)


def passage(number: int, content: str = STORY, title: str = "Entrance lamp and watchman", **changes: object) -> Sampled:
    values: dict[str, object] = {
        "passage_id": number,
        "document_id": UUID(int=number),
        "chunk_index": 0,
        "language": "en",
        "title": title,
        "content": content,
        "siblings": 1,
    }
    return Sampled(**(values | changes))  # type: ignore[arg-type]


def test_every_language_has_the_same_number_of_background_questions_and_none_is_a_language_sample() -> None:
    assert set(background()) == set(SUPPORTED)
    assert len({len(questions) for questions in background().values()}) == 1
    for language, questions in background().items():
        assert len(set(questions)) == len(questions)
        assert set(questions).isdisjoint(language_samples()[language])


def test_a_question_is_taken_out_of_what_is_left_to_answer_it() -> None:
    asked = [made for made in made_from([passage(number) for number in range(1, 40)], seed=1) if made.answerable]
    assert len(asked) == 39
    texts = {made.text.strip() for made in asked}
    assert "Entrance lamp and watchman" in texts
    assert len(texts) == 2, "the title, and the one sentence that is as long as a question"
    for made in asked:
        assert made.reduced is not None
        assert made.text not in made.reduced
        assert len(words(made.reduced)) > 10
        assert made.left_out == UUID(int=made.passage_id or 0)


def test_the_same_seed_makes_the_same_questions() -> None:
    passages = [passage(number) for number in range(30)]
    assert made_from(passages, seed=7) == made_from(passages, seed=7)
    assert made_from(passages, seed=7) != made_from(passages, seed=8)


def test_a_text_of_one_sentence_without_a_title_of_its_own_makes_no_question() -> None:
    line = "The blue lamp above the entrance burns all night."
    assert not [made for made in made_from([passage(1, line, line)], seed=1) if made.answerable]


def test_a_list_of_lines_asks_each_of_the_others() -> None:
    lines = [passage(number, text, text) for number in range(120) if (text := f"please switch lamp number {number} on")]
    assert are_lines(lines)
    assert not are_lines(lines[:50])
    asked = [made for made in made_from(lines, seed=1) if made.answerable]
    assert [(made.text, made.left_out, made.reduced) for made in asked] == [
        (line.content, line.document_id, None) for line in lines
    ]


def test_questions_without_an_answer_are_in_the_languages_of_the_corpus() -> None:
    two = [passage(1), passage(2, "Лампа горит всю ночь. Сторож зажигает её вечером.", "Лампа", language="ru")]
    unanswerable = [made for made in made_from(two, seed=1) if not made.answerable]
    assert {made.language for made in unanswerable} == {"en", "ru"}
    other = made_from([passage(1, "Lampe brennt.", "Lampe", language="xx")], seed=1)
    assert not [made for made in other if not made.answerable]


def test_nothing_makes_nothing() -> None:
    assert made_from([], seed=1) == []
