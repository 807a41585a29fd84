"""JSON of responses, and errors as problem details (RFC 9457), for programs and for people."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from hedgerow.errors import HedgerowError, dump_error
from hedgerow.figures import finite
from hedgerow.service.errors import ApprovalError, http_status


def dump_json(content: object) -> bytes:
    """Return content as JSON. It must be finite."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def json_response(content: object, status: int = 200, media_type: str = "application/json") -> Response:
    """Return a response with JSON in it; numbers that JSON does not have are null."""
    return Response(dump_json(finite(content)), status, media_type=media_type)


def as_plain(value: object) -> object:
    """Return a value with dates as text, for JSON."""
    if isinstance(value, Mapping):
        return {str(name): as_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_plain(part) for part in value]
    isoformat = getattr(value, "isoformat", None)
    return value if isoformat is None else isoformat()


PROBLEM = "application/problem+json"
TITLES = {
    400: "The request cannot be read",
    401: "Not authenticated",
    402: "The budget does not cover it",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "No such format",
    408: "The request timed out",
    409: "Conflict: stopped, or decided already",
    413: "The request is too large",
    415: "Unsupported content type",
    422: "The statement is refused",
    429: "Too many statements",
    500: "The service failed",
    502: "The database failed",
    503: "The service cannot answer now",
    504: "The statement took too long",
}
RETRY_SECONDS = {429: "5", 503: "5"}


def problem(error: HedgerowError) -> dict[str, Any]:
    """Return an error as problem details. Its field `error` is complete: a client rebuilds the error from it."""
    whole: Any = finite(dump_error(error))
    status = http_status(error)
    request = {"request": f"/v1/requests/{error.request_id}"} if isinstance(error, ApprovalError) else {}
    return {
        "type": f"urn:hedgerow:error:{error.code}",
        "title": TITLES.get(status, "Refused"),
        "status": status,
        "detail": str(error),
        "code": error.code,
        "hint": error.hint,
        "span": whole["span"],
        "charged": whole["charged"],
        **request,
        "error": whole,
    }


def problem_response(error: HedgerowError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that reports an error."""
    content = problem(error)
    status: int = content["status"]
    extra = dict(headers or {})
    if status == 401:
        extra["WWW-Authenticate"] = 'Bearer realm="hedgerow"'
    if status in RETRY_SECONDS:
        extra["Retry-After"] = RETRY_SECONDS[status]
    return Response(dump_json(content), status, extra, PROBLEM)
