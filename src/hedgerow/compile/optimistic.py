"""Short statements that return a result together with the proof that nobody is beyond a limit.

Where no fact about rows is known (`facts`), it is most often true all the same that nobody is beyond a limit. A short
statement sums as the plain query does, and counts the rows of each owner. If nobody has too many rows or keys, every
weight is full, and its integers are those of `weights`; the column `beyond` is 0. If not, its result is thrown away,
and the ordinary statement runs.

    keys        The keys of an owner are the bitwise OR of one bit for each key, so no pairs of owner and key are made.
                With more keys than bits the statement returns no row, and proves nothing.
    no keys,    The sums do not follow the path, the count of rows does. If each table of the path has its keys in
    along a     ascending order, as they are read, it has none twice; a row then leads to at most one owner, and to
    path        exactly one if there are as many rows along the path as without it.

Privacy: both statements have the same result, and which of them is used is visible in nothing but time. They must read
the same rows: if the short one read others, that it was thrown away could tell of rows that the answer is not about.
So a snapshot runs them only if nothing can change between them (`is_fixed` of a backend's snapshot).
"""

from dataclasses import replace
from functools import partial
from math import isqrt

from hedgerow.compile.caps import Names, most_size, people, same
from hedgerow.compile.facts import Write, plain_sum
from hedgerow.compile.paths import path_of, without_path
from hedgerow.compile.queries import from_text
from hedgerow.compile.rows import RowForm, form_of, rows_clause, summed
from hedgerow.compile.scalars import scalar
from hedgerow.compile.weights import WEIGHTED
from hedgerow.compiled import BEYOND, BIT, UNITS, Optimistic, Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Step
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Scan, inside, scans_of
from hedgerow.privacy.plan import PrivatePlan

MOST_KEYS = 30
"""Maximum number of keys that have a bit each in a 32-bit integer, which is faster than one of 64 bits."""

TOTALS, CODES, SETS, PERSONS, PROOF, ALONG = "totals", "codes", "sets", "persons", "proof", "along"


def with_optimistic(query: Query, plan: PrivatePlan, dialect: Dialect, write: Write, *, counted: bool) -> Query:
    """Return the statement with its short form, if it has one; `counted` says that people are counted.

    Where an owner may have fewer rows in a key than in all, being within the limits cannot be seen from rows and keys.
    """
    if not dialect.codes:
        return query
    if plan.release.keys:
        size = most_size(plan) if plan.l1_weights else isqrt(most_size(plan))
        maximum = min(plan.bounding.rows_per_group, size)
        single = form_of(plan, dialect) is RowForm.SINGLE and not plan.release.one_key
        if not single or maximum < plan.bounding.rows:
            return query
        short = write(plan, partial(_keyed, maximum=maximum), proof=True)
    else:
        base = None if counted else without_path(plan)
        if base is None or not summed(plan) or not _has_plain_path(plan):
            return query
        short = write(base, partial(_along_path, whole=plan), proof=True)
    tables = tuple(dict.fromkeys(scan.table for scan in scans_of(plan.release)))
    return replace(query, optimistic=Optimistic(tables, short))


def _has_plain_path(plan: PrivatePlan) -> bool:
    """Return True if each table of the path is joined on one column of whole numbers, so that `>` orders its keys."""
    path, read = path_of(plan.release.source), list(inside(plan.release.source))
    whole = all(node.type is Type.INTEGER for node in read if isinstance(node, Column))
    return whole and all(len(columns) == 1 for _, columns in path)


def _keyed(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None = None, *, maximum: int
) -> list[Step]:
    """Steps from `rows` to `weighted`, in which an owner may have at most `maximum` rows, with the column `beyond`.

    An owner with at most R rows has at most R in each key, and q (`caps.owner_size`) is at most R, or R^2.
    """
    keys = "".join(f"{name}, " for name in names)
    sums = "".join(f", {plain_sum(i, total, plan, dialect)} AS s{i}" for i, total in summed(plan))
    numbered = f"SELECT {keys}ROW_NUMBER() OVER () - 1 AS place, {dialect.count()} OVER () AS number FROM {TOTALS}"
    bit = f"CAST({dialect.bit('place')} AS {dialect.integer}) AS {BIT}"
    codes = f"SELECT {keys}{bit} FROM ({numbered}) AS numbered WHERE number <= {MOST_KEYS}"
    coded = f"{rows} JOIN {CODES} ON {same(rows, CODES, names, dialect)}"
    masks = f"SELECT o, {dialect.count()} AS n, {dialect.bit_or(BIT)} AS mask FROM {coded}{dialect.group_by(['o'])}"
    sets = f"SELECT mask, MAX(n) AS n, {dialect.count()} AS owners FROM ({masks}) AS masks{dialect.group_by(['mask'])}"
    matched = f"{CODES} JOIN {SETS} ON {dialect.has_bit('mask', BIT)}"
    listed = [f"{CODES}.{name}" for name in names]
    of_codes = "".join(f"{column} AS {name}, " for column, name in zip(listed, names, strict=True))
    persons = f"SELECT {of_codes}{dialect.total('owners')} AS owners FROM {matched}{dialect.group_by(listed)}"
    exceeding = f"SELECT mask FROM {matched}{dialect.group_by(['mask'])}"
    exceeding += f" HAVING MAX(n) > {maximum} OR {dialect.count()} > {plan.bounding.groups}"
    counted = f", owners AS {UNITS}" if nonce is not None else ""
    counted += "".join(f", owners * {1 << plan.weight_bits} AS s{i}" for i in people(plan))
    shown = "".join(f", s{i}" for i, _ in summed(plan))
    of_totals = "".join(f"{TOTALS}.{name} AS {name}, " for name in names)
    joined = dialect.join(TOTALS, "inner", PERSONS, same(TOTALS, PERSONS, names, dialect))
    joined = dialect.join(joined, "cross", PROOF, None)
    return [
        dialect.step(
            TOTALS, f"SELECT {keys.removesuffix(', ')}{sums} FROM {rows}{dialect.group_by(list(names))}", once=True
        ),
        dialect.step(CODES, codes, once=True),
        dialect.step(SETS, sets, once=True),
        dialect.step(PERSONS, persons, once=False),
        dialect.step(PROOF, f"SELECT {dialect.count()} AS {BEYOND} FROM ({exceeding}) AS exceeding", once=False),
        dialect.step(WEIGHTED, f"SELECT {of_totals}owners{counted}{shown}, {BEYOND} FROM {joined}", once=False),
    ]


def _along_path(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None = None, *, whole: PrivatePlan
) -> list[Step]:
    """Steps from `rows`, read without the path, to `weighted`, with the column `beyond`.

    `whole` is the plan along the path. Without keys, only the number of rows can put an owner beyond a limit.
    """
    del names, nonce  # no keys, and nobody is counted
    sums = "".join(f", {plain_sum(i, total, plan, dialect)} AS s{i}" for i, total in summed(plan))
    totals = f"SELECT {dialect.count()} AS number{sums} FROM {rows}"
    owners = f"SELECT {scalar(whole.release.owner, dialect)} AS o {rows_clause(whole, dialect)}"
    counts = f"SELECT o, {dialect.count()} AS n FROM ({owners}) AS owners{dialect.group_by(['o'])}"
    along = f"SELECT COALESCE(MAX(n), 0) AS most, COALESCE({dialect.total('n')}, 0) AS found FROM ({counts}) AS counts"
    conditions = [f"most > {plan.bounding.rows_per_group}", "found <> number"]
    conditions += [f"{_unordered(scan, columns, dialect)} > 0" for scan, columns in path_of(whole.release.source)]
    proof = f"CASE WHEN {' OR '.join(conditions)} THEN 1 ELSE 0 END AS {BEYOND}"
    shown = "".join(f", s{i}" for i, _ in summed(plan))
    joined = dialect.join(TOTALS, "cross", ALONG, None)
    return [
        dialect.step(TOTALS, totals, once=True),
        dialect.step(ALONG, along, once=True),
        dialect.step(WEIGHTED, f"SELECT 0 AS owners{shown}, {proof} FROM {joined}", once=False),
    ]


def _unordered(scan: Scan, columns: list[Column], dialect: Dialect) -> str:
    """Return the number of keys of a table that are not above the one before them. NULL joins nothing."""
    (key,) = (scalar(column, dialect) for column in columns)
    present = f"SELECT {key} AS k FROM {from_text(scan, dialect)} WHERE {key} IS NOT NULL"
    pairs = f"SELECT k, LAG(k) OVER () AS before FROM ({present}) AS present"
    return f"(SELECT {dialect.count()} FROM ({pairs}) AS pairs WHERE k <= before)"
