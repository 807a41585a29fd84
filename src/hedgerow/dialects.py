"""Where engines differ in how they write things down. One table per engine, nothing else knows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Constant
from hedgerow.expressions.types import Type


@dataclass(frozen=True)
class Dialect:
    """How one engine spells what we generate."""

    name: str
    double: str
    whole: str
    huge: str
    is_nan: str
    binary_text: str
    hashed: str
    real_literal: str
    printable: Mapping[Type, tuple[str, str]]

    def identifier(self, name: str) -> str:
        """A quoted name."""
        return '"' + name.replace('"', '""') + '"'

    def constant(self, value: Constant) -> str:
        """A constant, written anew from its value."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return f"({value})" if value < 0 else str(value)
        if isinstance(value, float):
            return self.real(value)
        return self._text(value)

    def real(self, value: float) -> str:
        """A finite double, with all its digits."""
        if not math.isfinite(value):
            raise InternalError("Only finite numbers can be written down.")
        return self.real_literal.format(repr(value) if "e" in repr(value) else f"{value!r}e0")

    def _text(self, value: Constant) -> str:
        if isinstance(value, Decimal):
            return f"({value:f})"
        if isinstance(value, datetime):
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        if isinstance(value, date):
            return f"DATE '{value.isoformat()}'"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        raise InternalError("A constant of an unknown kind.")


DUCKDB = Dialect(
    name="duckdb",
    double="DOUBLE",
    whole="BIGINT",
    huge="HUGEINT",
    is_nan="isnan({0})",
    binary_text='{0} COLLATE "binary"',
    hashed="md5({0})",
    real_literal="({0})",
    printable={
        Type.DATE: ("DATE '0001-01-01'", "DATE '9999-12-31'"),
        Type.TIMESTAMP: ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
        Type.TIME: ("TIME '00:00:00'", "TIME '23:59:59.999999'"),
        Type.DECIMAL: (f"-{10**37}", f"{10**37}"),
    },
)
