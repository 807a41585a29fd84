"""A question before the noise: exact integers, and the answer that they would give."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from hedgerow.accounting.budget import Budget, RemainingBudget
from hedgerow.answer import Summary
from hedgerow.backends.duckdb import DuckDB
from hedgerow.compile import postprocess, program, public_tables
from hedgerow.compiled import KEY_INDEX, RELEASED, SELECTED, UNITS, VALUE
from hedgerow.dialects import DUCKDB
from hedgerow.errors import QueryError
from hedgerow.execution.build_answer import build_answer
from hedgerow.execution.public_tables import multiplicity, public_table
from hedgerow.execution.request import resolve_request
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.plan.bind import bind
from hedgerow.plan.join_limits import within_limits
from hedgerow.plan.nodes import AggregateCall, LogicalPlan, Released, Select
from hedgerow.privacy.distinct import DistinctLevel
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.price import price
from hedgerow.release import Estimator, NoisyTable, PostprocessEngine
from hedgerow.release.draw import _to_grid
from hedgerow.release.key_selection import declared_table
from hedgerow.sql.parse import parse

NONCE = "00112233445566778899aabbccddeeff"
REMAINING = RemainingBudget(
    gaussian_left=Fraction(10**6), pure_left=Fraction(10**6), fair_mass=lambda _: Fraction(1, 10**6)
)
"""A ledger with room for everything."""

OPEN = 2**20
"""A limit beyond all rows that a small database makes."""

CLIP = "CREATE OR REPLACE MACRO clip(x, low, high) AS CASE WHEN x IS NOT NULL THEN GREATEST(LEAST(x, high), low) END"


@dataclass(frozen=True)
class Planned:
    """An answered question: what was bound, and what it costs."""

    logical: LogicalPlan
    statement: PrivateStatement


@dataclass(frozen=True)
class Measured:
    """Units per key, and the exact integers of each coordinate per key."""

    keys: pa.Table
    units: dict
    sums: dict

    def minus(self, other):
        """Entries that are larger here than in the other."""
        return self._with(other, -1)

    def plus(self, other):
        """Both together."""
        return self._with(other, 1)

    @property
    def is_nothing(self):
        """True if no unit counts and every number is zero."""
        return not any(self.units.values()) and not any(any(row) for row in self.sums.values())

    def _with(self, other, sign):
        units = {
            k: n for k in {**self.units, **other.units} if (n := self.units.get(k, 0) + sign * other.units.get(k, 0))
        }
        return Measured(self.keys, units, _added(self.sums, other.sums, sign))


def _added(left, right, sign):
    zeros = (0,) * len(next(iter([*left.values(), *right.values()]), ()))
    actual = {
        k: tuple(a + sign * b for a, b in zip(left.get(k, zeros), right.get(k, zeros), strict=True))
        for k in {**left, **right}
    }
    return {k: vector for k, vector in actual.items() if any(vector)}


class Laboratory:
    """One DuckDB for private worlds, and one for plain SQL over the same rows."""

    def __init__(self):
        self.connection = duckdb.connect(config={"threads": 1})
        self.plain = duckdb.connect(config={"threads": 1})
        self.plain.execute(CLIP)
        self.backend = DuckDB(self.connection, handed_in=True)
        self.engine = PostprocessEngine()
        self.rows_per_person = UNDECLARED.rows_per_person

    def enter(self, world):
        """Make the tables of a world, with its rows in them, and read the schema."""
        for (name,) in self.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            self.connection.execute(f"DROP TABLE {name}")
        fill(self.connection, world)
        return self.backend.schema()

    def plan(self, sql, world, schema, *, mechanism="gaussian", epsilon=1.0, min_frequency=1):
        """The priced plan, or the refusal."""
        catalog = replace(world.catalog(), limits=StatementLimits(rows_per_person=self.rows_per_person))
        try:
            bound = partial(bind, parse(sql).query, catalog, schema)
            logical = within_limits(bound, catalog, schema, partial(multiplicity, backend=self.backend))
            budget = Budget(epsilon, 1e-8, mechanism)
            return Planned(logical, price(logical, budget, REMAINING, min_frequency=min_frequency, method="simple"))
        except QueryError as refusal:
            return refusal

    def measure(self, plan, selected=None):
        """Units per key, and the coordinates over `selected` keys (None: all there are)."""
        steps = program(replace(plan, minimum=1), DUCKDB, NONCE)
        with self.backend.snapshot() as snapshot:
            first_pass = snapshot.run(steps.first_pass)
            table = first_pass.exact_keys()
            keys = _keys(first_pass)
            units = dict(zip(keys, _units(first_pass), strict=True))
            if steps.measure is None:
                return Measured(table, units, _sums(first_pass, keys, plan, selected))
            places = list(keys if selected is None else selected)
            snapshot.load(SELECTED, _as_table(places, table.schema))
            measured = snapshot.run(steps.measure)
            actual = [places[place] for place in measured.exact_integers(KEY_INDEX).tolist()]
            return Measured(table, units, _sums(measured, actual, plan, None))

    def without_noise(self, plan):
        """The released table as it would be without noise."""
        measured = self.measure(plan)
        table = declared_table(plan) if plan.keys.rule is not KeyRule.SELECTED else measured.keys
        keys = _rows_of(table)
        vectors = exact(measured, plan)
        zeros = (Fraction(0),) * len(plan.noisy_sums)
        columns = [[float(vectors.get(k, zeros)[i]) for k in keys] for i in range(len(plan.noisy_sums))]
        counts = None if plan.selection is None else np.array([float(measured.units.get(k, 0)) for k in keys])
        noisy = NoisyTable(
            table,
            np.ones(len(keys), bool),
            counts,
            tuple(np.array(c, dtype=float) for c in columns),
            distinct=self._different(plan, table),
        )
        return Estimator(noisy, plan), measured

    def _different(self, plan, keys):
        """For each count of different values, how many every one of the keys has."""
        steps = program(plan, DUCKDB, NONCE).distinct
        actual = []
        with self.backend.snapshot() as snapshot:
            if steps and plan.release.keys:
                snapshot.load(SELECTED, _as_table(_rows_of(keys), keys.schema))
            for step in steps:
                shown = snapshot.run(step)
                places, numbers = shown.exact_integers(KEY_INDEX).tolist(), shown.exact_integers(VALUE).tolist()
                there = dict(zip(places, numbers, strict=True))
                actual.append(np.array([float(there.get(place, 0)) for place in range(keys.num_rows)]))
        return tuple(actual)

    def answered(self, planned, world, schema):
        """The answer, with its error bars, as `Database.sql` makes it of released tables."""
        estimators = [self.without_noise(part)[0] for part in planned.statement.parts]
        request = resolve_request(world.catalog(), epsilon=1.0, delta=1e-8)
        public = self._public(planned.logical, schema)
        return build_answer(self.engine, planned.logical, estimators, public, request, Summary(None, ""))

    def answer(self, planned, schema):
        """The post-processed released tables in which nobody is weighted, and of which plain SQL knows.

        Plain SQL has no groups without rows, and no sum or mean of nothing; here noise hides both, so groups of
        nobody are taken out, and what nothing was added up for is NULL.
        """
        tables = {f"{RELEASED}{i}": self._as_plain(p) for i, p in enumerate(planned.statement.parts)}
        steps = postprocess(planned.logical, DUCKDB)
        shown = self.engine.run(steps.sql, {**tables, **self._public(planned.logical, schema)})
        return _rows_of(shown.select(shown.column_names[: len(planned.logical.names)]))

    def expected(self, sql, world):
        """DuckDB's own answer, over the rows that somebody owns."""
        fill(self.plain, world.owned_only())
        return self.plain.execute(sql).fetchall()

    def _public(self, logical, schema):
        return {
            there: public_table(name, self.backend, schema, 10**6) for name, there in public_tables(logical).items()
        }

    def _as_plain(self, plan):
        estimator, measured = self.without_noise(_opened(plan))
        table, keys = estimator.table(), _rows_of(estimator.noisy.keys)
        summed = [call for call in plan.release.calls if call.function in {"SUM", "AVG"}]
        supports = self._supports(plan, summed)
        for number, call in enumerate(summed):
            missing = np.array([key not in supports or supports[key][number] == 0 for key in keys], dtype=bool)
            place = table.column_names.index(call.name)
            values = pa.array(table.column(place).to_numpy(zero_copy_only=False), mask=missing)
            table = table.set_column(place, call.name, values)
        if plan.keys.rule is KeyRule.ONE:
            return table
        return table.filter(pa.array([key in measured.units for key in keys], type=pa.bool_()))

    def _supports(self, plan, calls):
        """Return the number of rows behind each sum or mean, by key."""
        if not calls:
            return {}
        counts = tuple(
            AggregateCall(f"a{i}", "COUNT", call.arguments, call.filter, False, Type.INTEGER)  # noqa: FBT003
            for i, call in enumerate(calls)
        )
        release = replace(plan.release, calls=counts)
        root = Select(Released(release, "t"), (), ())
        shadow = LogicalPlan(root, (release,), ())
        (part,) = price(shadow, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
        actual = self.measure(_opened(part))
        vectors = exact(actual, part)
        return {
            key: [n if recipe.from_selection else _form(recipe.count, vectors[key]) for recipe in part.sum_forms]
            for key, n in actual.units.items()
        }


def _form(terms, vector):
    return sum(Fraction(coefficient) * vector[index] for index, coefficient in terms)


def _opened(plan):
    """The same plan for people who may count as much as they do."""
    level = DistinctLevel(OPEN, OPEN, complete=True)
    distinct = tuple(replace(count, level=level, flow=False) for count in plan.distinct)
    return replace(
        plan, bounding=replace(plan.bounding, rows=OPEN, rows_per_group=OPEN, groups=OPEN), distinct=distinct
    )


def fill(connection, world):
    """Make the tables of a world anew, with its rows in them."""
    for name, table in world.tables.items():
        connection.execute(table.ddl())
        rows = world.rows[name]
        if rows:
            marks = ", ".join(f"({', '.join('?' for _ in table.columns)})" for _ in rows)
            connection.execute(f"INSERT INTO {name} VALUES {marks}", [cell for row in rows for cell in row])


def _one_nan(value):
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _rows_of(table):
    columns = [[_one_nan(value) for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _keys(first_pass):
    keys = first_pass.exact_keys()
    return _rows_of(keys) if keys.column_names else [()] * len(first_pass)


def _as_table(places, schema):
    columns = [pa.array([key[i] for key in places], type=field.type) for i, field in enumerate(schema)]
    return pa.table([*columns, pa.array(range(len(places)), type=pa.int64())], names=[*schema.names, KEY_INDEX])


def _sums(table, keys, plan, selected):
    """For each key (of those selected) the integer that each coordinate is before the noise."""
    sums = [table.exact_integers(f"s{i}") for i in range(len(plan.sums))]
    columns = [
        sum((sums[i] * factor for i, factor in coordinate.combination), np.zeros(len(table), dtype=object)).tolist()
        for coordinate in plan.noisy_sums
    ]
    kept = set(keys if selected is None else selected)
    rows = zip(*columns, strict=True) if columns else [()] * len(keys)
    return {key: row for key, row in zip(keys, rows, strict=True) if key in kept}


def exact(measured, plan):
    """Each coordinate per key, in units of one row."""
    units = [coordinate.denominator << plan.weight_bits for coordinate in plan.noisy_sums]
    return {
        key: tuple(Fraction(int(n), unit) for n, unit in zip(row, units, strict=True))
        for key, row in measured.sums.items()
    }


def released(measured, plan):
    """Each coordinate per key on the lattice that its noise lives on, as the sampler's integers."""
    shifts = [coordinate.shift for coordinate in plan.noisy_sums]
    return {
        key: tuple(int(_to_grid(n, shift)) for n, shift in zip(row, shifts, strict=True))
        for key, row in measured.sums.items()
    }


def spent(before, postprocess, plan):
    """The cost of the change from one database to its neighbour costs under the noise of the plan."""
    power = 2 if plan.mechanism == "gaussian" else 1
    left, right = released(before, plan), released(postprocess, plan)
    zeros = (0,) * len(plan.noisy_sums)
    total = Fraction(0)
    for key in {**left, **right}:
        pairs = zip(left.get(key, zeros), right.get(key, zeros), plan.noisy_sums, strict=True)
        total += sum(Fraction(abs(a - b)) ** power / Fraction(c.scale) ** power for a, b, c in pairs)
    if plan.selection is not None:
        scale = Fraction(plan.selection.scale) / (1 << plan.selection.shift)
        total += sum(abs(n) for n in before.minus(postprocess).units.values()) / scale**power
    return total


def charged(charge, mechanism):
    """The charge for noise of this kind."""
    return charge.cost.gaussian if mechanism == "gaussian" else charge.cost.pure


def _units(first_pass):
    """The bounded number of owners; where no test needs it, it is not asked for."""
    return first_pass.exact_integers(UNITS).tolist() if UNITS in first_pass.names else [0] * len(first_pass)
