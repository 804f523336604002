"""What decides whether a passage may be returned is written once, and every statement that reads passages has it."""

import re
from pathlib import Path

import pytest

import retrieval_sidecar
from retrieval_sidecar import sql
from retrieval_sidecar.search.statement import SQL

PRODUCT = Path(retrieval_sidecar.__file__).parent
ELIGIBLE = "/*include eligible*/"
TABLES = ("passage", "passage_vector", "passage_words", "passage_code")
READS = re.compile(rf"\b(?:from|join|using|update|into|table)\s+({'|'.join(TABLES)})\b(?:\s+(?:as\s+)?(\w+))?")
VECTORS = re.compile(r"\b(?:from|join)\s+passage_vector\b")

# Statements that read or write passages and return no content, each with its reason.
MAINTENANCE = {
    ("ingest/queries.sql", "outdated"): "compares hashes; the statements that have it return documents to their cutter",
    ("ingest/queries.sql", "unembedded_passages"): "returns ids of passages without a kept vector",
    ("ingest/queries.sql", "texts_of_passages"): "returns text to the embedder, for those who load it",
    ("ingest/queries.sql", "unwritten"): "returns ids and languages of passages without a vector",
    ("ingest/queries.sql", "describe_spaces"): "counts",
    ("ingest/queries.sql", "count_passages"): "counts",
    ("ingest/queries.sql", "language_means"): "returns means of vectors",
    ("ingest/queries.sql", "unused_embeddings"): "returns keys of kept vectors that no passage uses",
    ("ingest/queries.sql", "forget_embeddings"): "removes them",
    ("ingest/queries.sql", "forget_centers"): "removes means of languages that no passage is in",
    ("ingest/queries.sql", "forget_passages"): "removes passages that are replaced in the same transaction",
    ("ingest/queries.sql", "forget_deleted"): "removes passages of deleted documents",
    ("ingest/queries.sql", "center_again"): "writes them where their centre moved",
    ("ingest/queries.sql", "add_passages"): "writes; returns the new ids",
    ("ingest/queries.sql", "add_words"): "writes",
    ("ingest/queries.sql", "common_words"): "counts words; no search returns them",
    ("ingest/queries.sql", "add_codes"): "writes",
    ("ingest/queries.sql", "facts"): "computes the columns that the predicate reads",
    ("ingest/queries.sql", "facts_by_key"): "the same",
    ("ingest/queries.sql", "add_vectors"): "writes them",
    ("ingest/queries.sql", "refresh_facts"): "brings them up to date",
    ("sources/queries.sql", "bases"): "counts",
    ("sources/queries.sql", "sources"): "counts",
    ("sources/queries.sql", "texts_of_source"): "returns the keys of kept vectors",
    ("content/instructions.sql", "columns"): "says whether there are any",
    ("content/items.sql", "columns"): "the same",
    ("ingest/queries.sql", "texts_of_documents"): "returns the keys of kept vectors",
    ("ingest/queries.sql", "forget_texts"): "removes kept vectors that no passage uses",
    ("ingest/queries.sql", "passages_of_documents"): "returns ids of passages whose columns are brought up to date",
    ("ingest/queries.sql", "passages_of_source"): "returns ids of passages whose columns are brought up to date",
    ("ingest/queries.sql", "passages_of_base"): "the same",
    ("ingest/queries.sql", "passages_of_items"): "the same",
    ("ingest/queries.sql", "refresh_facts_of"): "brings those up to date",
    ("partitions/queries.sql", "standings"): "counts",
    ("partitions/queries.sql", "attach_partition"): "adds an empty one",
    ("partitions/queries.sql", "remove_outdated_copies"): "removes; the original stays",
    ("partitions/queries.sql", "copy_missing"): "writes what is there already",
    ("partitions/queries.sql", "count_rows"): "counts",
    ("partitions/queries.sql", "count_vectors"): "counts",
    ("partitions/queries.sql", "has_rows_elsewhere"): "says whether there are any",
    ("partitions/queries.sql", "remove_rows_elsewhere"): "removes copies that no search reads any more",
}

# Statements that show passages to those who manage them, whom no caller is: all of what is theirs, closed or not.
OPERATORS = {
    ("sources/queries.sql", "passages_of_source"): "what became of a source, for those who may edit it",
    ("search/queries.sql", "withheld"): "why a call was not given what is near its question",
}

# Parts of the search, which reach passages through what is allowed alone: by this in their text.
PARTS = {
    ("search/queries.sql", "hits_of_index"): "{is_allowed}",
    ("search/queries.sql", "hits_of_list"): "from allowed l",
}


def statements() -> dict[tuple[str, str], str]:
    """Every named statement of the product, as it is written, by file and name."""
    found = {}
    for path in sorted(PRODUCT.rglob("*.sql")):
        if "migrations" in path.parts:
            continue
        parts = sql._NAME.split(path.read_text(encoding="utf-8"))[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            found[str(path.relative_to(PRODUCT)), name] = re.sub(r"--.*", "", body)
    return found


def reading_passages() -> dict[tuple[str, str], str]:
    return {
        place: body for place, body in statements().items() if READS.search(body) and place not in PARTS | OPERATORS
    }


@pytest.mark.parametrize("place", PARTS, ids=lambda place: place[1])
def test_a_part_of_the_search_reaches_only_what_is_allowed(place: tuple[str, str]) -> None:
    assert PARTS[place] in statements()[place]
    allowed = statements()["search/queries.sql", "by_itself"]
    assert ELIGIBLE in allowed
    assert "{leg}" in allowed
    assert statements()["search/queries.sql", "on_list"].split() == (
        ["join", "allowed", "on", "allowed.passage_id", "=", "{passage_id}"]
    )
    assert statements()["search/queries.sql", "listed"].count("{allowed}") == 1


def test_every_statement_that_reads_passages_has_the_predicate_or_a_reason_not_to() -> None:
    without = {place for place, body in reading_passages().items() if ELIGIBLE not in body}
    assert without == set(MAINTENANCE), (
        "Write `where /*include eligible*/` into the statement; only one that returns no content has its name, and the"
        " reason, in MAINTENANCE."
    )


@pytest.mark.parametrize(
    "place", [place for place in reading_passages() if place not in MAINTENANCE], ids=lambda place: place[1]
)
def test_the_predicate_stands_beside_each_use_of_the_vectors(place: tuple[str, str]) -> None:
    body = reading_passages()[place]
    uses = VECTORS.findall(body)
    assert len(uses) == body.count(ELIGIBLE) >= 1
    # It speaks of `p`, so that is what the table is called wherever it is used.
    assert all(alias == "p" for table, alias in READS.findall(body) if table == "passage_vector")


def test_no_statement_of_the_search_reads_words_codes_or_text_without_the_vectors_row() -> None:
    for place, body in reading_passages().items():
        if place not in MAINTENANCE:
            assert VECTORS.search(body), place


def test_maintenance_returns_no_content() -> None:
    for place in MAINTENANCE:
        _, _, returned = statements()[place].partition("returning")
        assert returned.strip() in ("", "passage_id;"), place


@pytest.mark.parametrize("place", OPERATORS, ids=lambda place: place[1])
def test_what_operators_see_is_of_one_organization_and_no_call_asks_for_it(place: tuple[str, str]) -> None:
    assert re.search(r"where \w+\.organization_id = %\(organization_id\)s", statements()[place])
    for package in ("search", "voice", "scope"):
        for path in (PRODUCT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "retrieval_sidecar.sources" not in text, path
            assert "retrieval_sidecar.search.withheld" not in text, path


def test_what_was_withheld_is_only_what_is_not_searched_and_nobodys_own() -> None:
    withheld, kept_back = (statements()["search/queries.sql", name] for name in ("withheld", "kept_back"))
    assert len(VECTORS.findall(withheld)) == withheld.count("/*include kept_back*/") == 4
    assert f"({ELIGIBLE} and {{leg}}) is not true" in kept_back
    assert "b.for_agents" in kept_back


def test_the_predicate_is_written_once_and_has_all_its_conditions() -> None:
    bodies = [body for body in statements().values() if re.search(r"\bp\.servable\b", body)]
    assert len(bodies) == 1
    for condition in (
        "p.organization_id = %(organization_id)s",
        "p.partition_id = {partition_id}",
        "p.space_id = %(space_id)s",
        "(p.servable {or_reserved})",
        "p.valid_from <= %(now)s and %(now)s < p.valid_to",
        "p.open_minutes @> %(minute)s",
        "p.segment_ids && %(segment_ids)s",
    ):
        assert condition in SQL["eligible"]


def test_the_python_code_reads_no_passages_by_itself() -> None:
    for path in PRODUCT.rglob("*.py"):
        if "migrations" not in path.parts:
            assert not READS.search(path.read_text(encoding="utf-8")), path


def test_an_instruction_and_an_item_are_read_again_from_their_own_rows() -> None:
    own = SQL["search"].rpartition("where")[2]
    for condition in (
        "i.status = 'published'",
        "i.visibility = 'public'",
        "i.deleted_at is null",
        "'phone' = any(i.channels)",
        "n.status = 'published'",
        "n.deleted_at is null",
    ):
        assert condition in own
