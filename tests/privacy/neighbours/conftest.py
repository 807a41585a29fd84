"""The exact integers of a statement, read through the real backend, with the noise left out."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hedgerow.accounting.budget import Budget, RemainingBudget
from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog.model import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable
from hedgerow.compile import program
from hedgerow.compiled import ALL_KEYS, BUCKET, KEY_INDEX, SELECTED, UNITS, WEIGHT
from hedgerow.dialects import DUCKDB
from hedgerow.plan.bind import bind
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.price import price
from hedgerow.release.draw import _to_grid
from hedgerow.release.noisy_table import _counts, _flows
from hedgerow.sql.parse import parse

from .forms import allowed_forms

NONCE = "00112233445566778899aabbccddeeff"
TYPES = [pa.int64(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.bool_()]
LAYOUT = "(u BIGINT {}, g VARCHAR, d VARCHAR, x DOUBLE, i BIGINT, b BOOLEAN)"
COLUMNS = {
    "x": DeclaredColumn("x", lower=-2.0, upper=10.0),
    "i": DeclaredColumn("i", lower=0, upper=5),
    "d": DeclaredColumn("d", values=("p", "q", "r")),
}
REMAINING = RemainingBudget(
    gaussian_left=Fraction(10**6), pure_left=Fraction(10**6), fair_mass=lambda _: Fraction(1, 10**6)
)
"""A ledger with room for everything."""


class Row(NamedTuple):
    """One row of either table."""

    owner: int | None
    g: str | None = None
    d: str | None = None
    x: float | None = None
    i: int | None = None
    b: bool | None = None


@dataclass(frozen=True)
class Limits:
    """Limits of one owner; `unique` where the database enforces one row."""

    rows: int = 1
    per_group: int | None = None
    groups: int | None = None
    unique: bool = False


@dataclass(frozen=True)
class Measured:
    """A statement before the noise: units per key, and each coordinate's number per key.

    `vectors` are exact; `released` are rounded to the lattice that the noise lives on.
    """

    units: dict
    vectors: dict
    released: dict

    def __sub__(self, other):
        return Measured(
            _minus(self.units, other.units),
            _minus_vectors(self.vectors, other.vectors),
            _minus_vectors(self.released, other.released),
        )


def _minus(left, right):
    keys = left.keys() | right.keys()
    return {key: change for key in keys if (change := left.get(key, 0) - right.get(key, 0))}


def _minus_vectors(left, right):
    zero = next(iter([*left.values(), *right.values()]), ())
    zeros = (Fraction(0),) * len(zero)
    keys = left.keys() | right.keys()
    return {k: tuple(a - b for a, b in zip(left.get(k, zeros), right.get(k, zeros), strict=True)) for k in keys}


class Laboratory:
    """One DuckDB with two tables of the same layout: `one` has a unique unit, `many` has not.

    With `facts`, it runs the cheapest form of each statement that facts about its rows allow.
    """

    def __init__(self):
        self.facts = False
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute(f"CREATE TABLE one {LAYOUT.format('UNIQUE')}")
        self.connection.execute(f"CREATE TABLE many {LAYOUT.format('')}")
        self.backend = DuckDB(self.connection, handed_in=True)
        self.dialect = DUCKDB
        self.schema = self.backend.schema()

    def plan(self, select, limits, *, mechanism="gaussian", min_frequency=1, epsilon=1.0, delta=1e-8, **options):
        """The priced plan of `select`, whose FROM names `t`."""
        name = "one" if limits.unique else "many"
        table = DeclaredTable(
            name,
            unit="u",
            unit_unique=limits.unique,
            max_rows=None if limits.unique else limits.rows,
            max_rows_per_group=limits.per_group,
            max_groups=limits.groups,
            columns=COLUMNS,
        )
        catalog = Catalog("test", BudgetPolicy(1.0, 1e-6), {name: table})
        logical = bind(parse(select.replace("FROM t", f"FROM {name}")).query, catalog, self.schema)
        budget = Budget(epsilon, delta, mechanism)
        (plan,) = price(logical, budget, REMAINING, min_frequency=min_frequency, **options).parts
        return plan

    def fill(self, rows, *, unique):
        """Replace the contents of the table."""
        name = "one" if unique else "many"
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(TYPES)
        arrays = [pa.array(list(column), type=kind) for column, kind in zip(columns, TYPES, strict=True)]
        # DuckDB's unique index does not see deletions of the same transaction, so the table is made anew.
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} {LAYOUT.format('UNIQUE' if unique else '')}")
        self.connection.register("rows_in", pa.table(arrays, names=list("ugdxib")))
        self.connection.execute(f"INSERT INTO {name} SELECT * FROM rows_in")
        self.connection.unregister("rows_in")

    def measure(self, rows, plan: PrivatePlan, selected=None):
        """Units per key (whatever their number), and the coordinates over `selected` keys (None: all those)."""
        self.fill(rows, unique=not plan.bounding.weighted)
        steps = program(replace(plan, minimum=1), self.dialect, NONCE, shortcuts=self.facts, fixed=True)
        with self.backend.snapshot() as snapshot:
            first_pass = self._run(snapshot, steps.first_pass)
            keys = _keys(first_pass)
            units = dict(zip(keys, _units(first_pass), strict=True))
            if steps.measure is None:
                return Measured(units, *_vectors(first_pass, keys, plan, selected))
            places = list(keys if selected is None else selected)
            snapshot.load(SELECTED, _as_table(places, first_pass))
            measured = self._run(snapshot, steps.measure)
            actual = [places[place] for place in measured.exact_integers(KEY_INDEX).tolist()]
            return Measured(units, *_vectors(measured, actual, plan, None))

    def _run(self, snapshot, query):
        """Run a statement, or its cheapest form: the last of those that are allowed."""
        facts = allowed_forms(query, snapshot.read, snapshot.load)
        return snapshot.run(list(facts.values())[-1])

    def first_pass(self, rows, plan):
        """The sums that the first_pass returns, which hold where every key is selected; and how many keys it saw."""
        self.fill(rows, unique=not plan.bounding.weighted)
        steps = program(replace(plan, minimum=1), self.dialect, NONCE)
        with self.backend.snapshot() as snapshot:
            first_pass = snapshot.run(steps.first_pass)
        seen = first_pass.exact_integers(ALL_KEYS).tolist() if ALL_KEYS in first_pass.names else [len(first_pass)]
        return _vectors(first_pass, _keys(first_pass), plan, None)[0], set(seen)

    def weights(self, rows, plan, selected):
        """For each bucketing, the exact weight of every bucket of every selected key: one row of integers for a key."""
        tables = []
        for query, bucketing in zip(self._asked(rows, plan, selected, "buckets"), plan.bucketings, strict=True):
            actual = np.zeros((len(selected), bucketing.buckets.count), dtype=object)
            places = zip(*(query.exact_integers(name).tolist() for name in (KEY_INDEX, BUCKET, WEIGHT)), strict=True)
            for place, bucket, weight in places:
                actual[place, bucket] = weight
            tables.append(actual)
        return tables

    def distinct(self, rows, plan, selected):
        """For each count of different values, what it is in every selected key before the noise."""
        pairs = zip(self._asked(rows, plan, selected, "distinct"), plan.distinct, strict=True)
        actual = [_flows(query, counted) if counted.flow else _counts(query) for query, counted in pairs]
        return [[counts.get(place, 0) for place in range(len(selected))] for counts in actual]

    def _asked(self, rows, plan, selected, kind):
        """The sealed tables of one kind of query over the selected keys."""
        self.fill(rows, unique=not plan.bounding.weighted)
        steps = program(replace(plan, minimum=1), self.dialect, NONCE)
        with self.backend.snapshot() as snapshot:
            first_pass = snapshot.run(steps.first_pass)
            if plan.release.keys:
                snapshot.load(SELECTED, _as_table(list(selected), first_pass))
            return [snapshot.run(query) for query in getattr(steps, kind)]


def _one_nan(value):
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _keys(table):
    keys = table.exact_keys()
    columns = [[_one_nan(value) for value in column.to_pylist()] for column in keys.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * len(table)


def _as_table(places, first_pass):
    schema = first_pass.exact_keys().schema
    columns = [pa.array([key[i] for key in places], type=field.type) for i, field in enumerate(schema)]
    return pa.table([*columns, pa.array(range(len(places)), type=pa.int64())], names=[*schema.names, KEY_INDEX])


def _vectors(table, keys, plan, selected):
    sums = [table.exact_integers(f"s{i}") for i in range(len(plan.sums))]
    exact, released = [], []
    for coordinate in plan.noisy_sums:
        total = sum((sums[i] * factor for i, factor in coordinate.combination), np.zeros(len(table), dtype=object))
        exact.append([Fraction(int(value), coordinate.denominator << plan.weight_bits) for value in total])
        on_lattice = _to_grid(total, coordinate.shift)
        released.append([int(value) / lattice_step(coordinate, plan) for value in on_lattice])
    return [
        {key: row for key, row in zip(keys, rows, strict=True) if selected is None or key in selected}
        for rows in (_rows(exact, len(keys)), _rows(released, len(keys)))
    ]


def _rows(columns, count):
    return list(zip(*columns, strict=True)) if columns else [()] * count


def lattice_step(coordinate, plan):
    """Return the number of steps of the noise's lattice that make one row."""
    return Fraction(coordinate.denominator << plan.weight_bits) * Fraction(2) ** coordinate.shift


@pytest.fixture(scope="session")
def laboratory():
    return Laboratory()


@pytest.fixture
def step():
    return lattice_step


@pytest.fixture
def limits():
    return Limits


@pytest.fixture
def row():
    return Row


@pytest.fixture
def paid():
    """The cost of a change under the noise of the plan, next to the charge."""

    def compare(change, plan):
        power = 2 if plan.mechanism == "gaussian" else 1
        spent = Fraction(0)
        for index, coordinate in enumerate(plan.noisy_sums):
            size = sum(abs(vector[index]) ** power for vector in change.released.values())
            spent += size / (Fraction(coordinate.scale) / lattice_step(coordinate, plan)) ** power
        if plan.selection is not None:
            scale = Fraction(plan.selection.scale) / (1 << plan.selection.shift)
            spent += sum(abs(n) for n in change.units.values()) / scale**power
        cost = plan.charge.cost
        return spent, cost.gaussian if plan.mechanism == "gaussian" else cost.pure

    return compare


def _units(first_pass):
    """The bounded number of owners; where no test needs it, it is not asked for."""
    return first_pass.exact_integers(UNITS).tolist() if UNITS in first_pass.names else [0] * len(first_pass)
