"""What the documents show as examples is what they allow."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args
from uuid import UUID

import pytest
from yaml import safe_load

from contracts import pins
from tests.support.contract_exchange import RequestSeen, ResponseSeen, checker

NAMES: tuple[pins.Name, ...] = get_args(pins.Name)
METHODS = ("get", "post", "put", "patch", "delete")
AN_ID = UUID(int=7, version=4)
FORM = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--x--\r\n'


@dataclass(frozen=True)
class Exchange:
    """A request and the response to it, one of which is shown in a document."""

    name: pins.Name
    asked: RequestSeen
    answered: ResponseSeen | None = None

    def __str__(self) -> str:
        return f"{self.asked.method} {self.asked.path}"


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """The node, or what its reference names within the document."""
    target: Any = document
    if "$ref" not in node:
        return node
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return dict(target)


def examples(document: dict[str, Any], content: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    for media_type, described in content.items():
        for example in described.get("examples", {}).values():
            yield media_type, json.dumps(resolved(document, example)["value"]).encode()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, described in document["paths"].items():
        for method in METHODS:
            if method in described:
                yield method, path, described[method]


def asked(method: str, path: str, body: bytes = b"", media_type: str = "application/json") -> RequestSeen:
    headers = {"Authorization": "Bearer token", "X-API-Key": "key", "Content-Type": media_type}
    headers["If-Match"] = f'"{"0" * 64}"'
    return RequestSeen(method.upper(), re.sub(r"{\w+}", str(AN_ID), path), headers, body)


def requests(name: pins.Name) -> Iterator[Exchange]:
    document = safe_load(pins.document(name))
    for method, path, operation in operations(document):
        content = resolved(document, operation.get("requestBody", {})).get("content", {})
        for _, body in examples(document, content):
            yield Exchange(name, asked(method, path, body))
        if "multipart/form-data" in content:
            yield Exchange(name, asked(method, path, FORM, "multipart/form-data; boundary=x"))


REQUESTS = [exchange for name in NAMES for exchange in requests(name)]


def responses(name: pins.Name) -> Iterator[Exchange]:
    document = safe_load(pins.document(name))
    good = {(each.asked.method, each.asked.path): each.asked for each in REQUESTS if each.name == name}
    for method, path, operation in operations(document):
        request = asked(method, path)
        request = good.get((request.method, request.path), request)
        for status, response in operation["responses"].items():
            for media_type, body in examples(document, resolved(document, response).get("content", {})):
                headers = {"Content-Type": media_type, "Retry-After": "1", "ETag": f'"{"0" * 64}"'}
                yield Exchange(name, request, ResponseSeen(int(status), headers, body))


RESPONSES = [exchange for name in NAMES for exchange in responses(name)]


@pytest.mark.parametrize("exchange", REQUESTS, ids=str)
def test_each_request_shown_is_allowed(exchange: Exchange) -> None:
    assert checker(exchange.name).request_violations(exchange.asked) == []


@pytest.mark.parametrize("exchange", RESPONSES, ids=str)
def test_each_response_shown_is_allowed(exchange: Exchange) -> None:
    assert exchange.answered is not None
    assert checker(exchange.name).response_violations(exchange.asked, exchange.answered) == []


@pytest.mark.parametrize("name", NAMES)
def test_there_are_examples_of_all_that_a_client_sends(name: pins.Name) -> None:
    document = safe_load(pins.document(name))
    sending = {path for _, path, operation in operations(document) if "requestBody" in operation}
    assert len({each.asked.path for each in REQUESTS if each.name == name}) == len(sending)


@pytest.mark.parametrize("name", NAMES)
def test_every_object_is_closed_and_every_text_that_is_sent_has_an_end(name: pins.Name) -> None:
    document = safe_load(pins.document(name))
    for title, schema in document["components"]["schemas"].items():
        if schema.get("type") == "object":
            assert schema.get("additionalProperties") is False, title
    for method, path, operation in operations(document):
        content = resolved(document, operation.get("requestBody", {})).get("content", {})
        for described in content.values():
            schema = resolved(document, described["schema"])
            assert schema["additionalProperties"] is False, (method, path)
            for field, given in schema["properties"].items():
                of = resolved(document, given)
                bounded = {"maxLength", "maximum", "format", "enum", "pattern", "maxItems"} & of.keys()
                assert bounded or of["type"] in ("object", "boolean"), (method, path, field)
