"""Errors as problem documents (RFC 9457); the one place that knows HTTP statuses."""

import http
import json
from typing import Any
from uuid import uuid4

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from retrieval_sidecar import errors

log = structlog.get_logger()

# That each code is one of the contract's of the API that answers with it: tests/contract.
STATUS: dict[type[Exception], tuple[int, str]] = {
    errors.InvalidRequest: (400, "invalid_request"),
    errors.Unauthorized: (401, "unauthorized"),
    errors.Forbidden: (403, "forbidden"),
    errors.OwnersOnly: (403, "forbidden"),
    errors.CrossSite: (403, "forbidden"),
    errors.NotFound: (404, "not_found"),
    errors.Conflict: (409, "conflict"),
    errors.LimitReached: (409, "limit_reached"),
    errors.PreconditionFailed: (412, "precondition_failed"),
    errors.PayloadTooLarge: (413, "too_large"),
    errors.UnsupportedMedia: (415, "unsupported_media_type"),
    errors.PreconditionRequired: (428, "precondition_required"),
    errors.TooManyRequests: (429, "too_many_requests"),
    errors.Unavailable: (503, "unavailable"),
    errors.EmbedderUnavailable: (503, "unavailable"),
    errors.DeadlineExceeded: (504, "deadline_exceeded"),
}
OF_AIOHTTP = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


@web.middleware
async def problem_documents(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error, aiohttp's own too, with a problem document that holds no content of the request."""
    try:
        return await handler(request)
    except errors.SidecarError as error:
        status, code = STATUS.get(type(error), (500, "internal_error"))
        if status >= 500:
            log.warning("request failed", code=code, cause=_cause(error))
        return _response(status, code, str(error), **_members(error), headers=_headers(error))
    except web.HTTPException as error:
        if error.status not in OF_AIOHTTP:
            raise
        detail = http.HTTPStatus(error.status).description or error.reason
        allow = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return _response(error.status, OF_AIOHTTP[error.status], detail, headers=allow)
    except Exception as error:
        instance = str(uuid4())
        log.exception("unexpected error", instance=instance, type=type(error).__name__)
        return _response(500, "internal_error", "An unexpected error.", instance=instance)


def _cause(error: BaseException) -> str:
    """What lay behind it, without its text: a database's error may quote what was being written."""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None)
    return type(cause).__name__ + (f" {state}" if state else "")


def _members(error: errors.SidecarError) -> dict[str, Any]:
    """What the document says beside its sentence."""
    if isinstance(error, errors.InvalidRequest):
        return {"errors": [{"field": each.field, "message": each.message} for each in error.problems]}
    if isinstance(error, errors.Conflict) and error.field is not None:
        return {"errors": [{"field": error.field, "message": str(error)}]}
    return {}


def _headers(error: errors.SidecarError) -> dict[str, str]:
    if isinstance(error, errors.Unauthorized):
        return {"WWW-Authenticate": error.challenge}
    if isinstance(error, errors.Unavailable | errors.TooManyRequests):
        return {"Retry-After": str(error.retry_after_s)}
    return {}


def _response(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: Any
) -> web.Response:
    problem = {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    return web.Response(
        status=status,
        text=json.dumps(problem | members),
        content_type="application/problem+json",
        headers=headers,
    )
