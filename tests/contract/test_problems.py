"""The sidecar's errors against what each contract says of them."""

from typing import Any, get_args

import pytest
import yaml

from contracts import management, pins, voice
from retrieval_sidecar.http import problems

CODES: dict[pins.Name, set[str]] = {
    "voice": set(get_args(voice.Problem.model_fields["code"].annotation)),
    "management": set(get_args(management.Problem.model_fields["code"].annotation)),
}
# Answers that not every operation can give: of each, the operations that do.
SOME = {"404", "409", "412", "413", "415", "428"}


def operations(name: pins.Name) -> list[tuple[str, str, dict[str, Any]]]:
    """All that read or change something, and so can fail in every way that is not their own."""
    document = yaml.safe_load(pins.document(name))
    return [
        (method, path, operation)
        for path, described in document["paths"].items()
        for method, operation in described.items()
        if method != "parameters" and "security" not in operation
    ]


def test_every_code_of_a_problem_is_one_of_a_contracts_and_each_of_those_occurs() -> None:
    codes = {code for _, code in problems.STATUS.values()} | set(problems.OF_AIOHTTP.values()) | {"internal_error"}
    assert codes == CODES["voice"] | CODES["management"]
    assert CODES["voice"] < CODES["management"]


@pytest.mark.parametrize("name", CODES)
def test_every_status_that_an_operation_may_answer_with_is_documented_there(name: pins.Name) -> None:
    statuses = {str(status) for status, code in problems.STATUS.values() if code in CODES[name]} | {"500"}
    for method, path, operation in operations(name):
        undocumented = statuses - set(operation["responses"])
        if name == "voice":
            assert undocumented <= ({"404"} if path.endswith("/sessions") else set()), path
            continue
        assert undocumented <= SOME, (method, path)
        answers = set(operation["responses"])
        assert ("404" in answers) == ("{" in path), (method, path)
        assert ({"413", "415"} <= answers) == ("requestBody" in operation), (method, path)
        conditional = {"$ref": "#/components/parameters/IfMatch"} in operation.get("parameters", [])
        assert ("412" in answers) == ("428" in answers) == conditional, (method, path)
        assert not ("409" in answers and operation["x-permission"] == "agents.view"), (method, path)
