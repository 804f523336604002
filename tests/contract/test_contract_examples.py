"""What the document shows as examples is what it allows."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from yaml import safe_load

from contracts import pins
from tests.support.contract_exchange import RequestSeen, ResponseSeen, voice_checker

DOCUMENT: dict[str, Any] = safe_load(pins.document())


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """The node, or what its reference names within the document."""
    target: Any = DOCUMENT
    if "$ref" not in node:
        return node
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return dict(target)


def examples(content: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    for media_type, described in content.items():
        for example in described.get("examples", {}).values():
            yield media_type, json.dumps(resolved(example)["value"]).encode()


def asked(method: str, path: str, body: bytes = b"") -> RequestSeen:
    headers = {"Authorization": "Bearer token", "Content-Type": "application/json"}
    return RequestSeen(method.upper(), path.format(sessionId=uuid4()), headers, body)


REQUESTS = [
    asked(method, path, body)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    for _, body in examples(operation.get("requestBody", {}).get("content", {}))
]
RESPONSES = [
    (
        next((r for r in REQUESTS if r.path.endswith(path.rpartition("}")[2])), asked(method, path)),
        ResponseSeen(int(status), {"Content-Type": media_type, "Retry-After": "1"}, body),
    )
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    for status, response in operation["responses"].items()
    for media_type, body in examples(resolved(response).get("content", {}))
]


@pytest.mark.parametrize("request_seen", REQUESTS, ids=lambda seen: seen.path)
def test_each_request_shown_is_allowed(request_seen: RequestSeen) -> None:
    assert voice_checker().request_violations(request_seen) == []


@pytest.mark.parametrize(("request_seen", "response_seen"), RESPONSES)
def test_each_response_shown_is_allowed(request_seen: RequestSeen, response_seen: ResponseSeen) -> None:
    assert voice_checker().response_violations(request_seen, response_seen) == []


def test_there_are_examples_of_all_that_a_worker_asks() -> None:
    posts = [operations for operations in DOCUMENT["paths"].values() if "post" in operations]
    assert len({seen.path.rpartition("/")[2] for seen in REQUESTS}) == len(posts)
