"""What the cells of a column can be: ordinary values, the largest and smallest, and those that break things."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import duckdb

from hedgerow.audit.blueprint import Blueprint, quoted, readable
from hedgerow.audit.constants import Place, constants, partners
from hedgerow.catalog import DeclaredColumn
from hedgerow.catalog.bind import effective_type
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import LogicalPlan

MANY = 40
"""How many different values a column without declared ones gets: enough for one person to be in far too many groups."""

FIRST_DAY = date(2024, 1, 3)
LARGEST_WHOLE = [2**7 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1]
DIGITS = [9, 99, 999, 9_999, 99_999, 10**7 - 1, 10**9 - 1, 10**15 - 1, 10**18 - 1]
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})


@dataclass(frozen=True, slots=True)
class Pool:
    """Texts that the cells of one column are taken from.

    Attributes:
        usual: What rows hold as a rule; constants of the query come first.
        high: From the upper bound on, further and further beyond it. Empty where the column holds no numbers.
        low: Likewise below.
        wild: What an engine may stumble over: NULL, NaN, infinity, the ends of the type.
    """

    usual: tuple[str | None, ...]
    high: tuple[str | None, ...] = ()
    low: tuple[str | None, ...] = ()
    wild: tuple[str | None, ...] = ()


def pools(blueprint: Blueprint, logical: LogicalPlan) -> Mapping[Place, Pool]:
    """For each column of a private table, what its cells can be."""
    stated, joined = constants(logical), partners(logical)
    found = {}
    with blueprint.build() as connection:
        for table in blueprint.tables.values():
            said = blueprint.catalog.tables[table.name]
            for column in table.columns.values() if not said.public else ():
                place = (table.name, column.name)
                kind = effective_type(said.column(column.name), column)
                native = blueprint.natives[place]
                known = [*stated.get(place, ()), *_public(connection, blueprint, joined.get(place, frozenset()))]
                found[place] = _pool(connection, native, kind, said.column(column.name), known, column.nullable)
    return found


def _pool(
    connection: duckdb.DuckDBPyConnection,
    native: str,
    kind: Type,
    declared: DeclaredColumn | None,
    known: Sequence[str],
    nullable: bool,  # noqa: FBT001 - a fact of the column
) -> Pool:
    ends = (None, None) if declared is None else (declared.lower, declared.upper)

    def held(texts: Iterable[str | None]) -> tuple[str | None, ...]:
        return tuple(text for text in readable(connection, native, texts) if nullable or text is not None)

    if declared is not None and declared.values:
        usual = held(_text(value) for value in declared.values)
        return Pool(usual or (None,), wild=held([None, "elsewhere", "-1"]))
    first, *rest = [*known, *_ordinary(kind, native, ends)] or [""]
    usual = held([first, *rest[:2], None, *rest[2:]]) or held(["[]", "{}", ""])
    if kind not in NUMBERS:
        return Pool(usual or (None,), wild=held([None, "", "x" * 2000, "0001-01-01", "9999-12-31", "infinity"]))
    high, low = (_few(held(_beyond(sign, end))) for sign, end in ((1, ends[1]), (-1, ends[0])))
    odd = held([None, "nan", "-0.0", "5e-324"])
    return Pool(usual or (None,), high, low, (*odd, *high[-2:], *low[-2:]))


def _ordinary(kind: Type, native: str, ends: tuple[float | None, float | None]) -> list[str]:
    """Values that an ordinary row has."""
    if listed := re.findall(r"'((?:[^']|'')*)'", native):
        return [text.replace("''", "'") for text in listed]
    if native.upper() == "UUID":
        return [f"00000000-0000-0000-0000-{number:012d}" for number in range(MANY)]
    lower, upper = ends
    if kind in NUMBERS and lower is not None and upper is not None:
        steps = [lower + (upper - lower) * place / 13 for place in range(1, 13)]
        return [str(round(step)) if kind is Type.INTEGER else f"{step:.6g}" for step in steps]
    if kind in NUMBERS:
        return [str(number) for number in range(1, MANY + 1)] + ["100", "1000"]
    if kind is Type.BOOLEAN:
        return ["true", "false"]
    if kind is Type.TIME:
        return [f"{hour:02d}:17:00" for hour in range(24)]
    if kind in {Type.DATE, Type.TIMESTAMP}:
        return [(FIRST_DAY + timedelta(days=17 * number)).isoformat() for number in range(MANY)]
    return [f"g{number:02d}" for number in range(MANY)]


def _beyond(sign: int, end: float | None) -> list[str]:
    """The end itself, and then further and further out, as far as any type goes."""
    first = 0.0 if end is None else end
    bound = [] if end is None else [_number(end), _number(end + sign * (abs(end) + 1) * 1000)]
    whole = [sign * number for number in sorted([*LARGEST_WHOLE, *DIGITS]) if sign * (sign * number - first) > 0]
    return [*bound, *map(str, whole), _number(sign * 1e300), "inf" if sign > 0 else "-inf"]


def _few(texts: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The nearest and the furthest."""
    return tuple(dict.fromkeys((*texts[:2], *texts[-2:])))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _text(value: str | float | bool) -> str:  # noqa: FBT001 - a declared key of any kind
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else _number(value)


def _public(connection: duckdb.DuckDBPyConnection, blueprint: Blueprint, others: Iterable[Place]) -> list[str]:
    """Values of the public columns that a column is compared with."""
    found: list[str] = []
    for table, column in sorted(others):
        if blueprint.catalog.tables[table].public:
            name = quoted(column)
            sql = f"SELECT DISTINCT CAST({name} AS VARCHAR) FROM {quoted(table)} WHERE {name} IS NOT NULL ORDER BY 1"
            found += [text for (text,) in connection.execute(f"{sql} LIMIT {MANY}").fetchall()]
    return found
