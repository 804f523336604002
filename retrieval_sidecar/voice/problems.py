"""Errors as problem documents (RFC 9457); the one place that knows HTTP statuses."""

import http
from uuid import uuid4

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from contracts.voice import FieldError, Problem
from retrieval_sidecar import errors

log = structlog.get_logger()

_STATUS: dict[type[Exception], tuple[int, str]] = {
    errors.InvalidRequest: (400, "invalid_request"),
    errors.Unauthorized: (401, "unauthorized"),
    errors.NotFound: (404, "not_found"),
    errors.PayloadTooLarge: (413, "too_large"),
    errors.UnsupportedMedia: (415, "unsupported_media_type"),
    errors.Unavailable: (503, "unavailable"),
    errors.EmbedderUnavailable: (503, "unavailable"),
    errors.DeadlineExceeded: (504, "deadline_exceeded"),
}
_OF_AIOHTTP = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


@web.middleware
async def problem_documents(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error, aiohttp's own too, with a problem document that holds no content of the request."""
    try:
        return await handler(request)
    except errors.SidecarError as error:
        status, code = _STATUS.get(type(error), (500, "internal_error"))
        if status >= 500:
            log.warning("request failed", code=code, cause=_cause(error))
        return _response(status, code, str(error), error)
    except web.HTTPException as error:
        if error.status not in _OF_AIOHTTP:
            raise
        detail = http.HTTPStatus(error.status).description or error.reason
        response = _response(error.status, _OF_AIOHTTP[error.status], detail)
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except Exception as error:
        instance = str(uuid4())
        log.exception("unexpected error", instance=instance, type=type(error).__name__)
        return _response(500, "internal_error", "An unexpected error.", instance=instance)


def _cause(error: BaseException) -> str:
    """What lay behind it, without its text: a database's error may quote what was being written."""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None)
    return type(cause).__name__ + (f" {state}" if state else "")


def _response(
    status: int, code: str, detail: str, error: Exception | None = None, instance: str | None = None
) -> web.Response:
    fields = error.problems if isinstance(error, errors.InvalidRequest) else ()
    problem = Problem(
        type="about:blank",
        title=http.HTTPStatus(status).phrase,
        status=status,
        code=code,  # type: ignore[arg-type] # every code above is one of the contract's: tests/contract
        detail=detail,
        instance=instance,
        errors=[FieldError(field=each.field, message=each.message) for each in fields] or None,
    )
    headers = {}
    if isinstance(error, errors.Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.Unavailable):
        headers["Retry-After"] = str(error.retry_after_s)
    return web.Response(
        status=status,
        text=problem.to_wire(),
        content_type="application/problem+json",
        headers=headers,
    )
