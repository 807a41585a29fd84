"""SQL text ready to run, and the names that engines use for data passed between statements."""

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from hedgerow.dialects.statement import StatementParts
from hedgerow.expressions.nodes import Column, Expr, Literal, walk
from hedgerow.expressions.types import Type, decimal_size

SELECTED = "hedgerow_selected"
DECLARED = "hedgerow_declared_"
RELEASED = "hedgerow_released_"
PUBLIC = "hedgerow_public_"
KEY_INDEX = "hedgerow_place"
BUCKET = "hedgerow_bucket"
OWNER = "hedgerow_owner"
VALUE = "hedgerow_value"
WEIGHT = "hedgerow_weight"
ROW = "hedgerow_row"
DRAWS = "hedgerow_draws"
DRAW = "hedgerow_draw"
UNITS = "units"
ALL_KEYS = "all_keys"
HEAVY = "hedgerow_heavy"
CODES = "hedgerow_codes"
BIT = "hedgerow_bit"
BLOCKS = "hedgerow_blocks"
PEOPLE = "hedgerow_people"
OWNERS = "hedgerow_owners"
BEYOND = "hedgerow_beyond"


@dataclass(frozen=True, slots=True)
class Query:
    """One SELECT, with the names of its key columns and of its integer columns, and the Arrow types of the keys.

    `shortcut` has cheaper statements with the same result, for rows that cannot change, and `optimistic` one that
    proves that its result is the same. `statement` has the parts of `sql`; it is None for a query without steps.
    """

    sql: str
    keys: tuple[str, ...]
    integers: tuple[str, ...]
    types: tuple[pa.DataType, ...] = ()
    shortcut: "Shortcut | None" = None
    statement: StatementParts | None = None
    optimistic: "Optimistic | None" = None

    @property
    def parts(self) -> StatementParts:
        """The steps and the query that reads them."""
        return self.statement or StatementParts((), self.sql)


@dataclass(frozen=True, slots=True)
class Optimistic:
    """A short statement whose result is that of another one if its column `hedgerow_beyond` is 0 in every row.

    See `compile.optimistic`; `tables` are those that it reads.
    """

    tables: tuple[str, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """Queries for the owner of each row of a table, and for the number of these rows."""

    rows: Query
    column: Query


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Cheaper statements that return the keys and integers of another one, and the facts that they rely on.

    A fact is a small table about all rows of FROM, before WHERE and whatever the question: see `compile.facts`.

    Attributes:
        tables: The tables that the statement reads.
        reads_all: True if the statement has no WHERE, so that it reads as many rows as the facts do.
        heavy: Query for the owners beyond a limit, loaded as `hedgerow_heavy`; its result is cut at `MOST_HEAVY` + 1.
        codes: Query for the keys, loaded with a bit for each as `hedgerow_codes` and cut at `MOST_CODES` + 1; None
            where no statement counts people per key.
        blocks: Query for the pairs of key and block of owners, cut at `MOST_BLOCKS` + 1; None where no statement counts
            people, or owners are not whole numbers.
        people: Query for the number of owners of each key, loaded as `hedgerow_people` and cut at `MOST_COUNTED` + 1;
            None where it is not needed, or the statement has a WHERE.
        strays: Query for a row if some row does not lead to exactly one owner; None where owners need no other table.
        within, within_coded, within_blocked, within_counted: Statements for no owner beyond a limit: alone, with codes,
            with strings of bits for few blocks, and with the number of owners of each key.
        apart, apart_coded, apart_blocked, apart_counted: Likewise for statements in which the owners of
            `hedgerow_heavy` are weighted.
        ownerless: Statement for no owner beyond a limit and no stray row.
        owners: The owner column of the only table that is read besides the path, loaded as `hedgerow_owners`; or None.
        owned: The statement, with the same forms, that reads this column in place of the path.
    """

    tables: tuple[str, ...]
    reads_all: bool
    heavy: Query
    codes: Query | None
    blocks: Query | None
    people: Query | None
    strays: Query | None
    within: Query
    within_coded: Query | None
    within_blocked: Query | None
    within_counted: Query | None
    apart: Query
    apart_coded: Query | None
    apart_blocked: Query | None
    apart_counted: Query | None
    ownerless: Query | None
    owners: OwnerColumn | None = None
    owned: Query | None = None

    def named_texts(self) -> list[tuple[str, str]]:
        """Return the facts and the statements that rely on them, each with a name for display."""
        queries = {
            "fact: owners beyond a limit": self.heavy,
            "fact: keys": self.codes,
            "fact: blocks of people per key": self.blocks,
            "fact: people per key": self.people,
            "fact: rows without exactly one owner": self.strays,
            "nobody beyond a limit": self.within,
            "nobody beyond a limit, few keys": self.within_coded,
            "nobody beyond a limit, few blocks of people": self.within_blocked,
            "nobody beyond a limit, people counted": self.within_counted,
            "some beyond a limit": self.apart,
            "some beyond a limit, few keys": self.apart_coded,
            "some beyond a limit, few blocks of people": self.apart_blocked,
            "some beyond a limit, people counted": self.apart_counted,
            "nobody beyond a limit, one owner for each row": self.ownerless,
        }
        texts = [(name, query.sql) for name, query in queries.items() if query is not None]
        if self.owners is None or self.owned is None or self.owned.shortcut is None:
            return texts
        beside = [("all owners weighted", self.owned.sql), *self.owned.shortcut.named_texts()]
        texts += [("fact: number of rows", self.owners.rows.sql), ("fact: owner of each row", self.owners.column.sql)]
        return texts + [(f"{name}, owner column", sql) for name, sql in beside if not name.startswith("fact: ")]


MOST_HEAVY = 10_000
"""Maximum number of owners beyond a limit that are kept as a fact."""

MOST_COUNTED = 10_000
"""Maximum number of keys whose number of owners is kept as a fact."""

MOST_CODES = 62
"""Maximum number of keys that have a bit each in a 64-bit integer."""

MOST_BLOCKS = 4096
"""Maximum number of pairs of key and block of owners that have a string of 2^16 bits each: 32 MB for a thread."""


@dataclass(frozen=True, slots=True)
class Program:
    """SQL of one release.

    `first_pass` runs first; `measure` if not every key was selected; `buckets` for each ranked column; `distinct` for
    each column whose distinct values are counted. The keys to measure are loaded as `hedgerow_selected` before all but
    the first run, and `declared`, the tables of declared keys that are too many to be listed, before all of them.
    """

    first_pass: Query
    measure: Query | None
    buckets: tuple[Query, ...] = ()
    distinct: tuple[Query, ...] = ()
    declared: tuple[tuple[str, pa.Table], ...] = ()

    def named_texts(self) -> list[tuple[str, str]]:
        """Return all statements, each with the name of its step, for display."""
        steps = [("first pass", self.first_pass)]
        steps += [] if self.measure is None else [("measure", self.measure)]
        steps += [("buckets", query) for query in self.buckets] + [("values", query) for query in self.distinct]
        return [(step, query.sql) for step, query in steps]

    def texts(self) -> list[str]:
        """Return all statements, for display."""
        return [sql for _, sql in self.named_texts()]

    def shortcut_texts(self) -> list[tuple[str, str]]:
        """Return the cheaper statements and the facts they rely on, each with its name, for display."""
        texts = []
        for step, query in {"first pass": self.first_pass, "measure": self.measure}.items():
            if query is not None and query.optimistic is not None:
                texts.append((f"{step}, with the proof that nobody is beyond a limit", query.optimistic.query.sql))
            if query is not None and query.shortcut is not None:
                texts += [(f"{step}, {name}", sql) for name, sql in query.shortcut.named_texts()]
        return texts


ARROW = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.TEXT: pa.string(),
    Type.DATE: pa.date32(),
    Type.TIME: pa.time64("us"),
    Type.TIMESTAMP: pa.timestamp("us"),
    Type.NULL: pa.int64(),
}


def arrow_type(expr: Expr) -> pa.DataType:
    """Return the Arrow type of a key, which is the same for every engine."""
    if expr.type is not Type.DECIMAL:
        return ARROW[expr.type]
    digits = digits_of(expr)
    return pa.float64() if digits is None else pa.decimal128(38, digits)


def digits_of(expr: Expr) -> int | None:
    """Return the digits after the point of a decimal; None if they are unknown."""
    scales = [_digits(part) for part in walk(expr) if isinstance(part, Column | Literal) and part.type is Type.DECIMAL]
    known = [digits for digits in scales if digits is not None]
    return max(known) if known and len(known) == len(scales) else None


def _digits(expr: Column | Literal) -> int | None:
    """Return the digits of a column of a table (`DECIMAL(12,2)`, or a wide integer) or a constant."""
    if isinstance(expr, Literal):
        return max(0, -int(expr.value.as_tuple().exponent)) if isinstance(expr.value, Decimal) else None
    if expr.native.upper() in {"HUGEINT", "UBIGINT"}:
        return 0
    size = decimal_size(expr.native)
    return size[1] if size else None
