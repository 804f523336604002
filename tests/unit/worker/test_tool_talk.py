"""Of a model's words only words are spoken (complaint 22: a tool's JSON read aloud)."""

import pytest

from worker.tool_talk import ToolTalk


def spoken(*pieces: str) -> str:
    talk = ToolTalk()
    return "".join(talk.spoken(piece) for piece in pieces) + talk.rest()


@pytest.mark.parametrize(
    ("pieces", "heard"),
    [
        (["It is LF-27-B."], "It is LF-27-B."),
        (["We ", "are ", "open ", "to ", "all", "."], "We are open to all."),
        (["The price is below < 5 and s", "ome search", " helps."], "The price is below < 5 and some search helps."),
        (['{"query": "door code"}'], ""),
        (['{"query": {"a": ', '"b"}', "} One moment."], " One moment."),
        (["search_knowledge", '({"query": "x"})'], "()"),
        (["functions.", "search_know", 'ledge {"query": "x"}'], ""),
        (["to=functions.search_knowledge", '{"query": "x"}'], ""),
        (["``", "`json\n", '{"query": "x"}\n```'], "\n\n"),
        (["<tool_", 'call>{"name": "search_knowledge"}</tool_call>'], ""),
        (["I'll transfer_", "to_person now"], "I'll  now"),
        (["se"], "se"),
    ],
)
def test_calls_of_tools_are_taken_out_of_the_words_wherever_they_are_cut(pieces: list[str], heard: str) -> None:
    for cut in (pieces, list("".join(pieces))):
        assert spoken(*cut).split() == heard.split()
