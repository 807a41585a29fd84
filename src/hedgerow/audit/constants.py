"""What a query compares a column with: where its answer turns, rows have to be on both sides."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from hedgerow.expressions.nodes import Call, Column, Literal, Nested
from hedgerow.plan.nodes import LogicalPlan, Scan, inside

CONNECTIVES = frozenset({"and", "or", "not"})

Place = tuple[str, str]
"""A table and a column of it."""


def columns_read(logical: LogicalPlan) -> frozenset[Place]:
    """The columns of declared tables that the query names."""
    tables = _tables(logical)
    columns = (node for node in inside(logical) if isinstance(node, Column))
    return frozenset((tables[column.table], column.name) for column in columns if column.table in tables)


def tables_read(logical: LogicalPlan) -> frozenset[str]:
    """The declared tables that the query reads, those on the way to a unit included."""
    return frozenset(_tables(logical).values())


def partners(logical: LogicalPlan) -> Mapping[Place, frozenset[Place]]:
    """For each column, those that it stands in one comparison with."""
    tables = _tables(logical)
    found: dict[Place, set[Place]] = {}
    for node in _comparisons(logical):
        places = {(tables[c.table], c.name) for c in _columns(node) if c.table in tables}
        for place in places:
            found.setdefault(place, set()).update(places - {place})
    return {place: frozenset(others) for place, others in found.items()}


def constants(logical: LogicalPlan) -> Mapping[Place, tuple[str, ...]]:
    """For each column, texts of constants that stand in one expression with it, and of their neighbours."""
    tables = _tables(logical)
    found: dict[Place, dict[str, None]] = {}
    for node in _comparisons(logical):
        texts = [text for literal in _literals(node) for text in around(literal.value)]
        for column in _columns(node):
            if column.table in tables:
                found.setdefault((tables[column.table], column.name), {}).update(dict.fromkeys(texts))
    return {place: tuple(texts) for place, texts in found.items()}


def around(value: object) -> Sequence[str]:
    """A constant and values close to it, as text; of a pattern, something that it matches.

    Example:
        >>> around(50)
        ['50', '51', '49']
        >>> around("Ann%")
        ['Ann%', 'Ann', 'Annx']
    """
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [str(value), str(value + 1), str(value - 1), *_within_year(value)]
    if isinstance(value, float | Decimal):
        number = float(value)
        step = max(abs(number), 1.0) / 100
        return [str(value), f"{number + step:.10g}", f"{number - step:.10g}"]
    if isinstance(value, datetime | date):
        return [value.isoformat(), *(str(value.replace(day=day)) for day in (1, 28))]
    text = str(value)
    matched = [text.replace("%", filler).replace("_", "x") for filler in ("", "x")]
    return list(dict.fromkeys([text, *matched]))


def _within_year(value: int) -> list[str]:
    """A day in that year, or in that month: the column may be a date, of which a part is compared."""
    if 1 <= value <= 12:
        return [f"2024-{value:02d}-15"]
    return [f"{value}-06-15"] if 1900 <= value <= 2100 else []


def _tables(logical: LogicalPlan) -> dict[str, str]:
    """Declared tables by the alias under which they are read."""
    return {node.alias: node.table for node in inside(logical) if isinstance(node, Scan)}


def _comparisons(logical: LogicalPlan) -> Iterator[Call | Nested]:
    """Everything in which columns and constants meet: a call, or a value that is looked for in a query."""
    for node in inside(logical):
        if isinstance(node, Nested) or (isinstance(node, Call) and node.function not in CONNECTIVES):
            yield node


def _columns(node: Call | Nested) -> list[Column]:
    return [found for found in inside(node) if isinstance(found, Column)]


def _literals(node: Call | Nested) -> list[Literal]:
    return [found for found in inside(node) if isinstance(found, Literal)]
