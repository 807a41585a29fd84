"""Formats of an answer, by the header `Accept`."""

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import pyarrow as pa
from starlette.responses import Response

from hedgerow.answer import Answer
from hedgerow.answer.exchange import dump_answer
from hedgerow.answer.files import as_csv, as_parquet
from hedgerow.figures import finite
from hedgerow.service.errors import ServiceError
from hedgerow.service.http.problems import dump_json
from hedgerow.session.http_transport import EXACT

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
