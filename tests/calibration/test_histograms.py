"""Histograms of people over public cells: what one person changes, what is charged for it, and the noise."""

import math
import re

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.internals import session_of

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.calibration.buckets import (
    CellRange,
    amounts,
    end_cells,
    is_present,
    largest_octave,
    octaves_of,
    rows_each,
)
from hedgerow.calibration.sub_budget import SubBudget
from hedgerow.compile import program
from hedgerow.execution.request import resolve_request
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.sql.parse import parse

NONCE = "0" * 32
TABLES = "t: {unit: id}\none: {unit: id, unit_unique: true}"
LAYOUT = [
    "CREATE TABLE t (id BIGINT, x DOUBLE)",
    "CREATE TABLE one (id BIGINT PRIMARY KEY, x DOUBLE)",
]
VALUES = st.one_of(
    st.none(), st.floats(), st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 7.0, -7.0, 1e-300])
)
PEOPLE = st.dictionaries(st.integers(0, 6), st.lists(VALUES, max_size=5), max_size=6)
SPAN = CellRange(-8.0, 8.0)
X = Column("x", Type.FLOAT)


@pytest.fixture(scope="module")
def database(build_once):
    return build_once(LAYOUT, TABLES, budget="{epsilon: 100000, delta: 1e-2, pure_epsilon: 50000}")


def histograms(db, table):
    """Every histogram of a look: by octave, by end cells, and by rows of each person."""
    plan = session_of(db).bind(parse(f"SELECT COUNT(x) AS n FROM {table}", "duckdb").query)
    (release,) = plan.releases
    value = release.calls[0].arguments[0]
    present = [is_present(value)]
    looks = [largest_octave(release, value, present), *end_cells(release, value, present, SPAN)]
    return [*looks, amounts(*rows_each(release))]


def private_plan(db, histogram, mechanism="laplace"):
    request = resolve_request(session_of(db).catalog, epsilon=1.0, delta=1e-6, mechanism=mechanism)
    (part,) = SubBudget(session_of(db), "test", request).price(histogram.plan, 1.0, histogram.cells).parts
    return part


@pytest.fixture(scope="module")
def counters(database):
    """For each table, functions that count rows given in place of those of the table, one for each histogram."""
    connection = duckdb.connect()

    def counter(table, histogram):
        sql = program(
            private_plan(database, histogram), session_of(database).backend.dialect, nonce=NONCE
        ).first_pass.sql
        (source,) = set(re.findall(rf'"\w+"\."main"\."{table}"', sql))

        def counts(rows):
            listed = ", ".join(f"({owner}, {_text(x)})" for owner, x in rows) or "(NULL, NULL)"
            given = f"(SELECT CAST(id AS BIGINT) AS id, CAST(x AS DOUBLE) AS x FROM (VALUES {listed}) AS v(id, x))"
            result = connection.execute(sql.replace(source, given))
            names = [column[0] for column in result.description]
            by_cell = {row[names.index("k0")]: row[names.index("s0")] for row in result.fetchall()}
            assert set(by_cell) <= set(histogram.cells)
            return np.array([by_cell.get(cell, 0) for cell in histogram.cells], dtype=float)

        return counts

    yield {table: [counter(table, histogram) for histogram in histograms(database, table)] for table in ("t", "one")}
    connection.close()


def _text(value):
    return "CAST(NULL AS DOUBLE)" if value is None else f"CAST('{value!r}' AS DOUBLE)"


def listed(people):
    return [(owner, x) for owner, values in people.items() for x in values]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(PEOPLE, st.lists(VALUES, max_size=5))
@example({}, [7.0, -7.0, math.nan])
@example({1: [5.0, 100.0]}, [math.inf, -math.inf, 1.0])
def test_one_person_changes_one_cell_of_each_histogram_by_one(counters, people, own):
    for exact in counters["t"]:
        without, with_ = exact(listed(people)), exact(listed({**people, 99: own}))
        assert np.abs(with_ - without).sum() <= 1
        assert without.sum() <= len(people)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, max_size=6), VALUES)
def test_where_each_has_one_row_the_same_holds(counters, values, own):
    rows = list(enumerate(values))
    for exact in counters["one"]:
        difference = exact([*rows, (99, own)]) - exact(rows)
        assert np.abs(difference).sum() <= 1


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.floats(-1e20, 1e20).filter(lambda x: x == 0 or abs(x) > 1e-20), min_size=1, max_size=5))
def test_a_person_is_counted_at_the_largest_absolute_value(counters, values):
    counts = counters["t"][0]([(1, x) for x in values])
    (octave,) = (cell for cell, count in zip(octaves_of(X), counts, strict=True) if count)
    largest = max(values, key=abs)
    power = math.frexp(largest)[1] - 1
    assert abs(octave) in ({0} if largest == 0 else {power + 81, power + 82})
    assert octave == 0 or any(x * octave > 0 and abs(math.frexp(x)[1] + 80 - abs(octave)) <= 1 for x in values)


def test_what_is_charged_is_a_sensitivity_of_one_and_no_mass(database):
    for table in ("t", "one"):
        for histogram in histograms(database, table):
            laplace = private_plan(database, histogram)
            assert laplace.selection is None
            (event,) = laplace.charge.events
            assert isinstance(event, LaplaceEvent)
            assert float(event.cost.pure) == pytest.approx(1.0, rel=1e-6)
            assert laplace.charge.delta == 0
            (noisy_sum,) = laplace.noisy_sums
            assert noisy_sum.sensitivity == 1
            assert noisy_sum.noise.scale == pytest.approx(1.0, rel=1e-6)
            gaussian = private_plan(database, histogram, "gaussian")
            (event,) = gaussian.charge.events
            assert isinstance(event, GaussianEvent)
            assert gaussian.noisy_sums[0].sensitivity == 1
            assert float(event.cost.gaussian) == pytest.approx(1 / gaussian.noisy_sums[0].noise.sigma ** 2, rel=1e-6)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_the_noise_of_empty_cells_has_the_scale_that_was_charged(database, mechanism):
    """Mean size (Laplace) or square (normal) of 10 looks, within 6.2 of its standard deviations: false alarm 1e-9.

    The margin is below 0.15, so that noise which is 30 % off is rejected. At scale 20 the lattice of whole people
    changes the mean size by less than a thousandth.
    """
    histogram = histograms(database, "t")[0]
    request = resolve_request(session_of(database).catalog, epsilon=0.05, delta=1e-6, mechanism=mechanism, reuse=False)
    drawn = []
    for _ in range(10):
        budget = SubBudget(session_of(database), "test", request)
        (estimator,) = budget.ask(histogram.plan, 1.0, "noise", histogram.cells)
        drawn.extend(estimator.values(0))
    (noisy_sum,) = estimator.plan.noisy_sums
    assert len(drawn) == 10 * len(octaves_of(X))
    if mechanism == "laplace":
        ratio, deviation = np.mean(np.abs(drawn)) / noisy_sum.noise.scale, 1.0
    else:
        ratio, deviation = np.mean(np.square(drawn)) / noisy_sum.noise.sigma**2, math.sqrt(2.0)
    margin = 6.2 * deviation / math.sqrt(len(drawn))
    assert abs(ratio - 1) <= margin
    assert margin < 0.15
