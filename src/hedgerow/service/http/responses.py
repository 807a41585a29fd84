"""JSON of responses."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from hedgerow.figures import finite


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
