"""organization.yaml: what is wrong in it is named by field."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.organization_file import OrganizationFile
from tests.support.small_organization import agent, organization


def organization_file(path: Path, content: str | bytes | dict[str, Any]) -> OrganizationFile:
    if isinstance(content, dict):
        content = yaml.safe_dump(content)
    file = path / "organization.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return OrganizationFile.read(file)


def test_an_organization_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    plain = organization_file(tmp_path, organization())
    assert organization_file(tmp_path, b"\xef\xbb\xbf" + yaml.safe_dump(organization()).encode()) == plain


@pytest.mark.parametrize(
    ("content", "field"),
    [
        pytest.param("a: [", "organization.yaml", id="no YAML"),
        pytest.param(b"name: \xe9", "organization.yaml", id="no UTF-8"),
        pytest.param('name: "a\\0b"', "organization.yaml", id="NUL"),
        pytest.param("name: &a [*a]", "organization.yaml", id="holds itself"),
        pytest.param("!!python/name:os.system {}", "organization.yaml", id="a foreign tag"),
        pytest.param("", "document", id="empty"),
        pytest.param("[]", "document", id="a list"),
        pytest.param(organization(contacts=[{"phone": "555 0101", "name": "R"}]), "contacts.0.phone", id="not E.164"),
        pytest.param(organization(contacts=[{"phone": "+1555 5550101", "name": "R"}]), "contacts.0.phone", id="spaces"),
        pytest.param(organization(contacts=[{"phone": "+15550101", "name": "R"}]), "contacts.0.phone", id="local"),
        pytest.param(organization(agents=[agent("a", 1, "anonymous")]), "agents.0.numbers.0", id="number of an agent"),
        pytest.param(organization(agents=[agent("a", 1, "+15555550001", scope={})]), "agents.0.scope", id="misspelt"),
        pytest.param(
            organization(agents=[agent("a", 1, "+15555550001", knowledge_scope={"folders": ["Prices"]})]),
            "agents.0.knowledge_scope.KnowledgeSelection.folders.0",
            id="folder key",
        ),
        pytest.param(organization(knowledge_bases=[]), "knowledge_bases", id="no knowledge base"),
    ],
)
def test_a_wrong_organization_is_refused_by_field(tmp_path: Path, content: str | dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        organization_file(tmp_path, content)
    assert field in [problem.field for problem in raised.value.problems]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "UTC+3", "../etc/passwd"])
def test_only_a_time_zone_that_exists_is_one(tmp_path: Path, zone: str) -> None:
    document = organization()
    document["organization"]["time_zone"] = zone
    with pytest.raises(InvalidRequest) as raised:
        organization_file(tmp_path, document)
    assert [problem.field for problem in raised.value.problems] == ["organization.time_zone"]
