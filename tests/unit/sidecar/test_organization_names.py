"""Names that must be told apart, in organization.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.organization_file import OrganizationFile
from tests.support.small_organization import OPEN_NUMBER, agent, organization


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"agents": [agent("a", 1, OPEN_NUMBER), agent("a", 2, "+15555550009")]}, "agents.key"),
        ({"agents": [agent("a", 1, OPEN_NUMBER), agent("b", 2, "+15555550009", name="a")]}, "agents.name"),
        ({"agents": [agent("a", 1, OPEN_NUMBER), agent("b", 1, "+15555550009")]}, "agents.id"),
        ({"agents": [agent("a", 1, OPEN_NUMBER), agent("b", 2, OPEN_NUMBER)]}, "agents.numbers"),
        ({"knowledge_bases": [{"key": "a", "name": "Main"}, {"key": "b", "name": "Main"}]}, "knowledge_bases.name"),
        ({"segments": [{"key": "a", "name": "A"}, {"key": "a", "name": "B"}]}, "segments.key"),
    ],
)
def test_what_stands_twice_is_named(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    file = tmp_path / "organization.yaml"
    file.write_text(yaml.safe_dump(organization(**changes)), encoding="utf-8")
    with pytest.raises(InvalidRequest) as refused:
        OrganizationFile.read(file)
    assert f"{field}: " in refused.value.problems[0].message
    assert "stands more than once" in refused.value.problems[0].message
