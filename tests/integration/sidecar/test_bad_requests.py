"""Requests that fit no operation: paths and methods that are not there, and bytes that no client sends by accident."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.sidecar import SESSIONS, VoiceClient
from tests.support.small_organization import OPEN_NUMBER

PATHS = {
    SESSIONS: "POST",
    f"{SESSIONS}/1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10/tools/knowledge-search": "POST",
    f"{SESSIONS}/1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10/events": "POST",
    f"{SESSIONS}/1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10/end": "POST",
    "/internal/voice/v1/openapi.yaml": "GET",
    "/livez": "GET",
    "/readyz": "GET",
}


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD")


async def exchange(client: VoiceClient, request: bytes) -> tuple[int, dict[str, str], Any]:
    """Send these bytes; status, headers and problem document of the answer."""
    port = int(client.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        async with asyncio.timeout(5):
            status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            is_head = request.startswith(b"HEAD")
            body = b"null" if is_head else await reader.readexactly(int(headers["content-length"]))
    finally:
        writer.close()
        await writer.wait_closed()
    return int(status.split()[1]), headers, json.loads(body)


def request(client: VoiceClient, method: str, path: bytes, *lines: bytes, body: bytes = b"{}") -> bytes:
    head = [
        method.encode() + b" " + path + b" HTTP/1.1",
        b"Host: sidecar.example",
        b"Connection: close",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *(lines or (b"Authorization: Bearer " + client.token.encode(),)),
    ]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("path", "method"), [(path, method) for path in PATHS for method in METHODS if method != PATHS[path]]
)
async def test_a_method_that_a_path_does_not_have(api: VoiceClient, path: str, method: str) -> None:
    status, headers, problem = await exchange(api, request(api, method, path.encode()))
    assert (status, headers["allow"]) == (405, PATHS[path].lower())
    assert headers["content-type"].startswith("application/problem+json")
    assert method == "HEAD" or problem["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/internal/voice/v1",
        f"{SESSIONS}/",
        "/internal/voice/v2/sessions",
        f"{SESSIONS}/1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10",
        f"{SESSIONS}/1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10/tools/delete-everything",
        "/livez/",
        "//livez",
        "/LIVEZ",
        "/a%00b",
        "/%",
        "/%ff",
        f"{SESSIONS}/../sessions",
        f"{SESSIONS}/x/y/end",
    ],
)
async def test_a_path_that_is_not_there(api: VoiceClient, path: str) -> None:
    for method in ("GET", "POST"):
        status, headers, problem = await exchange(api, request(api, method, path.encode()))
        assert (status, problem["code"]) == (404, "not_found")
        assert headers["content-type"].startswith("application/problem+json")
        assert path.strip("/") == "" or path not in json.dumps(problem)


@pytest.mark.parametrize("session", ["%00", "a%00b", "%", "%zz", "%ff", "%2e%2e", "%2F", "%F0%9F%98%80", "x" * 4000])
@pytest.mark.parametrize("operation", ["tools/knowledge-search", "events", "end"])
async def test_a_session_id_of_odd_bytes_is_named(api: VoiceClient, session: str, operation: str) -> None:
    status, _, problem = await exchange(api, request(api, "POST", f"{SESSIONS}/{session}/{operation}".encode()))
    assert (status, problem["code"]) == (400, "invalid_request")
    assert [error["field"] for error in problem["errors"]] == ["sessionId"]


async def test_an_odd_query_string_is_no_parameter(api: VoiceClient) -> None:
    status, _, problem = await exchange(api, request(api, "POST", f"{SESSIONS}?%00=%ff".encode()))
    assert (status, problem["errors"][0]["field"]) == (400, "\x00")


@pytest.mark.parametrize(
    "authorization",
    [b"Bearer alv_%s_\xff\xfe", b"Bearer alv_%s_\x80", b"Bearer \xf0\x9f\x98\x80%s", b"Bearer alv_%s", b"\xff%s"],
)
async def test_a_token_of_odd_bytes_is_none(api: VoiceClient, authorization: bytes) -> None:
    token_id = api.token.split("_")[1].encode()
    line = b"Authorization: " + authorization % token_id
    status, headers, problem = await exchange(api, request(api, "POST", SESSIONS.encode(), line))
    assert (status, problem["code"], headers["www-authenticate"]) == (401, "unauthorized", "bearer")


async def test_two_deadlines_are_none(api: VoiceClient) -> None:
    token = b"Authorization: Bearer " + api.token.encode()
    lines = (token, b"X-Deadline-Ms: 500", b"X-Deadline-Ms: 600")
    status, _, problem = await exchange(api, request(api, "POST", SESSIONS.encode(), *lines))
    assert (status, problem["errors"][0]["field"]) == (400, "X-Deadline-Ms")


async def test_a_body_that_does_not_come_is_waited_for_until_the_deadline(api: VoiceClient) -> None:
    lines = (b"Authorization: Bearer " + api.token.encode(), b"X-Deadline-Ms: 100", b"X-Rest: none")
    whole = request(api, "POST", SESSIONS.encode(), *lines, body=b"{" + b" " * 50)
    status, _, problem = await exchange(api, whole[:-40])
    assert (status, problem["code"]) == (504, "deadline_exceeded")


async def test_a_good_request_after_bad_ones_is_answered(api: VoiceClient) -> None:
    assert (await (await api.open(OPEN_NUMBER)).search("parking garage"))["status"] == "ok"
