"""Arrays as constants: one text, however many elements, which PostgreSQL reads faster than a list of rows."""

import math
from collections.abc import Sequence

from hedgerow.errors import InternalError


def array(values: Sequence[object]) -> str:
    """An array as a quoted text; it still needs its type."""
    return "'{" + ",".join("NULL" if value is None else _element(value) for value in values) + "}'"


def _element(value: object) -> str:
    written = _written(value)
    if "\x00" in written:
        raise InternalError("A text with a NUL character came from somewhere else.")
    escaped = written.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''")
    return f'"{escaped}"'


def _written(value: object) -> str:
    """Numbers, dates and truth values as PostgreSQL reads them."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
    return str(value)
