"""Folder keys: one text for each place, and no other text for it."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval_sidecar.scope.folder_keys import FolderKey

PART = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=150)
KEYS = st.one_of(
    st.tuples(st.sampled_from(["website", "upload", "base", "workflow"]), st.tuples(PART)),
    st.tuples(st.just("integration"), st.tuples(PART, PART)),
    st.just(("workflow", ("",))),
).map(lambda entry: FolderKey(*entry))
NEARLY = st.text(st.sampled_from(string.ascii_letters[:6] + "%/: 0123456789ABCDEFabcdef.~é\x00\ud83d"), max_size=12)


@given(KEYS)
@example(FolderKey("upload", ("a:b/c d%2F\u200f\U0001f600",)))
@example(FolderKey("integration", ("crm/x", "заказы")))
@example(FolderKey("upload", ("..",)))
def test_every_identity_comes_back_from_its_key(key: FolderKey) -> None:
    assert FolderKey.parse(str(key)) == key


@given(
    st.sampled_from(["upload:", "website:", "workflow:", "integration:", "integration:a/", "base:", "", "x:"]), NEARLY
)
def test_a_text_is_a_key_only_if_it_is_written_as_the_key_is(kind: str, rest: str) -> None:
    key = FolderKey.parse(kind + rest)
    assert key is None or str(key) == kind + rest


@pytest.mark.parametrize(
    ("text", "kind", "identity"),
    [
        ("website:help.example.com", "website", ("help.example.com",)),
        ("workflow:Returns", "workflow", ("Returns",)),
        ("workflow:", "workflow", ("",)),
        ("integration:crm/orders", "integration", ("crm", "orders")),
        ("integration:crm%2Feu/orders", "integration", ("crm/eu", "orders")),
        ("upload:Price%20list", "upload", ("Price list",)),
        ("base:0b9f7f0a-8c2e-4f39-9d53-7a1e5c6b8d90", "base", ("0b9f7f0a-8c2e-4f39-9d53-7a1e5c6b8d90",)),
    ],
)
def test_each_kind_reads_as_it_is_documented(text: str, kind: str, identity: tuple[str, ...]) -> None:
    assert FolderKey.parse(text) == FolderKey(kind, identity)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(":", id="no kind"),
        pytest.param("upload", id="no colon"),
        pytest.param("folder:x", id="unknown kind"),
        pytest.param("Upload:x", id="another case"),
        pytest.param(" upload:x", id="space before"),
        pytest.param("upload:x\n", id="line end after"),
        pytest.param("upload:", id="only a workflow may stand in no folder"),
        pytest.param("website:", id="website without host"),
        pytest.param("base:", id="base without id"),
        pytest.param("upload:a/b", id="one part too many"),
        pytest.param("integration:crm", id="one part too few"),
        pytest.param("integration:crm/", id="empty stream"),
        pytest.param("integration:/orders", id="empty integration"),
        pytest.param("integration:a/b/c", id="three parts"),
        pytest.param("upload:Price list", id="space not encoded"),
        pytest.param("upload:Price+list", id="plus is not encoded"),
        pytest.param("upload:%50rice", id="encoded for nothing"),
        pytest.param("upload:a%2fb", id="small hexadecimal"),
        pytest.param("upload:прайс", id="script not encoded"),
        pytest.param("upload:%", id="cut short"),
        pytest.param("upload:%zz", id="no hexadecimal"),
        pytest.param("upload:%FF", id="not UTF-8"),
        pytest.param("upload:%C0%AF", id="overlong UTF-8"),
        pytest.param("upload:%ED%A0%BD", id="half a surrogate pair, encoded"),
        pytest.param("upload:\ud83d", id="half a surrogate pair"),
        pytest.param("upload:a%00", id="NUL, encoded"),
        pytest.param("upload:a\x00", id="NUL"),
        pytest.param("upload:" + "a" * 2000, id="too long"),
    ],
)
def test_what_is_not_canonical_is_no_key(text: str) -> None:
    assert FolderKey.parse(text) is None
