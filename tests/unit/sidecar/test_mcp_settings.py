"""The settings of the MCP server, and that its document has them all."""

import re
from pathlib import Path

import pytest

from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.mcp.settings import McpSettings, listed

DOCUMENT = Path(__file__).parents[3] / "docs" / "mcp.md"
ROW = re.compile(r"^\| `(ANSWERLINE_[A-Z_]+)` \| (?:`([^`]*)`)? ?\|", re.MULTILINE)


def test_the_document_has_each_setting_and_its_default() -> None:
    defaults = {
        f"ANSWERLINE_{name.upper()}": "" if field.default is None else str(field.default).rstrip("/")
        for name, field in McpSettings.model_fields.items()
    }
    assert dict(ROW.findall(DOCUMENT.read_text("utf-8"))) == defaults


def test_what_is_wrong_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERLINE_MANAGEMENT_URL", "sentinel")
    monkeypatch.setenv("ANSWERLINE_MCP_PORT", "70000")
    with pytest.raises(ConfigurationError) as caught:
        McpSettings.from_env()
    assert "ANSWERLINE_MANAGEMENT_URL" in str(caught.value)
    assert "ANSWERLINE_MCP_PORT" in str(caught.value)
    assert "sentinel" not in str(caught.value)


@pytest.mark.parametrize(("text", "names"), [("", []), (" , ", []), ("one", ["one"]), (" one,two , ", ["one", "two"])])
def test_names_stand_between_commas(text: str, names: list[str]) -> None:
    assert listed(text) == names
