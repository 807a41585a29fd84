"""Responses: JSON, answers in the format that `Accept` names, and errors as problem details (RFC 9457)."""

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import pyarrow as pa
from starlette.responses import Response

from hedgerow.answer import Answer
from hedgerow.answer.exchange import dump_answer
from hedgerow.answer.files import as_csv, as_parquet
from hedgerow.errors import HedgerowError, dump_error
from hedgerow.figures import finite
from hedgerow.service.errors import ApprovalError, ServiceError, http_status
from hedgerow.session.http_transport import EXACT


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


JSON, CSV = "application/json", "text/csv"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"


def _as_json(answer: Answer, *, intervals: bool) -> bytes:
    document: dict[str, Any] = {**answer.to_dict(), "noisy": list(answer.noisy)}
    if not intervals:
        del document["intervals"]
    return dump_json(finite(document))


def _as_exact(answer: Answer, *, intervals: bool) -> bytes:  # noqa: ARG001 - it always has them
    return dump_json(dump_answer(answer))


def _as_arrow(answer: Answer, *, intervals: bool) -> bytes:
    table, buffer = answer.arrow(intervals=intervals), BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return buffer.getvalue()


FORMATS: Mapping[str, Callable[..., bytes]] = {
    JSON: _as_json,
    CSV: as_csv,
    ARROW: _as_arrow,
    PARQUET: as_parquet,
    EXACT: _as_exact,
}


def chosen_format(accept: str | None, media_types: tuple[str, ...] = tuple(FORMATS)) -> str:
    """Return the offered media type that a client prefers.

    Example:
        >>> chosen_format("text/csv;q=0.5, application/vnd.apache.parquet"), chosen_format("*/*"), chosen_format(None)
        ('application/vnd.apache.parquet', 'application/json', 'application/json')
    """
    if accept is None or not accept.strip():
        return media_types[0]
    liked: list[tuple[float, str]] = []
    for part in accept[:1000].split(","):
        name, *words = (word.strip().lower() for word in part.split(";"))
        quality = next((_quality(word[2:]) for word in words if word.startswith("q=")), 1.0)
        if quality > 0:
            liked.append((-quality, name))
    for _, name in sorted(liked, key=lambda pair: pair[0]):
        matching = [kind for kind in media_types if name in {kind, "*/*", f"{kind.partition('/')[0]}/*"}]
        if matching:
            return matching[0]
    raise ServiceError(
        "None of the formats that the client accepts is offered.",
        code="not-acceptable",
        hint=f"Accept one of {', '.join(media_types)}.",
    )


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def answer_response(answer: Answer, media_type: str, *, intervals: bool) -> Response:
    """Return an answer in a format, with its price in the headers."""
    receipt = answer.receipt
    headers = {
        "Hedgerow-Epsilon": f"{receipt.charge.epsilon:g}",
        "Hedgerow-Reused": "true" if receipt.reused else "false",
        **({} if receipt.id is None else {"Hedgerow-Receipt": receipt.id}),
    }
    return Response(FORMATS[media_type](answer, intervals=intervals), 200, headers, media_type)
