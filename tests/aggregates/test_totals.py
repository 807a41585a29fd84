"""Totals of ROLLUP, CUBE and GROUPING SETS: they add up, have the noise that their error bars say, and little of it."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.aggregates.conftest import FALSE_ALARM
from tests.internals import price_of, session_of

from hedgerow.release import stored_release

GROUPS, SIZE, INNER = 1600, 8, 4
"""Numbers of values of `a`, of people in each, and of values of `b`."""


@pytest.fixture(scope="module")
def people(build_once):
    """As many people in every group, one row each."""
    values = f"j, j // {SIZE}, j % {INNER}, 'k' || (j % 3), 1.0 * (j % 2)"
    statements = [
        "CREATE TABLE t (u BIGINT PRIMARY KEY, a INTEGER, b INTEGER, k VARCHAR, x DOUBLE)",
        f"INSERT INTO t SELECT {values} FROM range({GROUPS * SIZE}) r(j)",
    ]
    columns = (
        f"a: {{values: {list(range(GROUPS))}}}\n    b: {{values: {list(range(INNER))}}}\n    x: {{lower: 0, upper: 2}}"
    )
    return build_once(
        statements,
        f"t:\n  unit: u\n  unit_unique: true\n  columns:\n    {columns}",
        budget="{epsilon: 1e6, delta: 0.01}",
    )


def fits(numbers, variance):
    """Return whether independent normal numbers have this variance, as far as so many can tell."""
    tail = stats.chi2.cdf(np.sum(np.square(numbers)) / variance, len(numbers))
    return FALSE_ALARM / 2 < tail < 1 - FALSE_ALARM / 2


def half(bar):
    """Standard deviation of the noise that a 95 % interval is made for."""
    return (bar.upper - bar.lower) / 2 / stats.norm.isf(0.025)


def by_level(answer):
    """The numbers of groups, of subtotals, and the total; as they are shown, and as rows."""
    rows = list(zip(answer["a"], answer["b"], answer["s"], answer.intervals, strict=True))
    groups = [(s, bars["s"]) for a, b, s, bars in rows if b is not None]
    subtotals = [(s, bars["s"]) for a, b, s, bars in rows if a is not None and b is None]
    return groups, subtotals, [(s, bars["s"]) for a, _, s, bars in rows if a is None]


def test_groups_and_subtotals_have_the_noise_that_their_intervals_say(people):
    """Subtotals are independent of each other here, and the groups of one subtotal add up to it."""
    query = "SELECT a, b, SUM(x) AS s FROM t GROUP BY GROUPING SETS ((a, b), (a)) ORDER BY a, b"
    answer = people.sql(query, mechanism="gaussian", reuse=False)
    groups, subtotals, _ = by_level(answer)
    exact = {a: sum(1.0 * (j % 2) for j in range(a * SIZE, (a + 1) * SIZE)) for a in range(GROUPS)}
    errors = np.array([s for s, _ in subtotals]) - np.array([exact[a] for a in range(GROUPS)])
    sigma = half(subtotals[0][1])
    assert fits(errors, sigma**2)
    assert not fits(errors * 1.3, sigma**2)
    inside = np.array([s for s, _ in groups]).reshape(GROUPS, INNER)
    truth = np.array([[SIZE / INNER * (b % 2) for b in range(INNER)]] * GROUPS)
    contrasts = (inside - truth)[:, 0] - (inside - truth)[:, 1]
    (part,) = price_of(people, query, mechanism="gaussian")[1].parts
    raw = part.noisy_sums[0].noise.sigma * part.noisy_sums[0].unit
    assert fits(contrasts, 2 * raw**2)
    assert not fits(contrasts * 1.3, 2 * raw**2)
    assert np.allclose(inside.sum(axis=1), [s for s, _ in subtotals])


def test_intervals_come_from_the_covariance_of_the_estimates(people):
    """By hand, for groups of equal variance v under one measured total of variance w."""
    answer = people.sql("SELECT b, SUM(x) AS s FROM t GROUP BY ROLLUP (b) ORDER BY b NULLS LAST", mechanism="gaussian")
    (part,) = price_of(people, "SELECT b, SUM(x) AS s FROM t GROUP BY ROLLUP (b)", mechanism="gaussian")[1].parts
    (level,) = part.levels
    v, w = ((s.noise.sigma * s.unit) ** 2 for s in (part.noisy_sums[0], level.noisy_sums[0]))
    assert half(answer.intervals[-1]["s"]) == pytest.approx(math.sqrt(1 / (1 / w + 1 / (INNER * v))), rel=1e-9)
    group = v - v * v / (INNER * v + w)
    assert half(answer.intervals[0]["s"]) == pytest.approx(math.sqrt(group), rel=1e-9)
    between = people.sql(
        "WITH r AS (SELECT b, SUM(x) AS s FROM t GROUP BY ROLLUP (b)) SELECT p.s - q.s AS s FROM r AS p JOIN r AS q "
        "ON p.b = 0 AND q.b = 1",
        mechanism="gaussian",
    )
    assert half(between.intervals[0]["s"]) == pytest.approx(math.sqrt(2 * v), rel=1e-9)


@pytest.mark.parametrize(
    "groups", ["ROLLUP (a)", "ROLLUP (a, b)", "CUBE (b, k)", "GROUPING SETS ((b), (k))", "ROLLUP (k)"]
)
def test_totals_add_up(people, groups):
    """Of whole numbers to less than one for the total of all, where they are rounded; of others exactly."""
    query = f"SELECT GROUPING(b, k, a) AS level, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY {groups}"
    keys = [key for key in ("b", "k", "a") if key in groups.split("(", 1)[1]]
    query = query.replace("GROUPING(b, k, a)", f"GROUPING({', '.join(keys)})")
    answer = people.sql(query, mechanism="gaussian", reuse=False)
    levels = np.array(answer["level"])
    for name, slack in (("n", 0), ("s", 1e-6)):
        totals = [math.fsum(np.array(answer[name], float)[levels == level]) for level in set(levels.tolist())]
        assert max(totals) - min(totals) <= slack
    assert all(
        bars["n"].lower <= max(n, 0) + 1 and n - 1 <= bars["n"].upper
        for n, bars in zip(answer["n"], answer.intervals, strict=True)
    )


def test_the_total_of_many_groups_has_a_third_of_the_error_of_their_sum(people):
    answer = people.sql(
        "SELECT a, SUM(x) AS s FROM t WHERE a < 100 GROUP BY ROLLUP (a) ORDER BY a", mechanism="gaussian"
    )
    plain = people.sql("SELECT a, SUM(x) AS s FROM t GROUP BY a", mechanism="gaussian")
    assert half(answer.intervals[-1]["s"]) <= half(plain.intervals[0]["s"]) * math.sqrt(GROUPS) / 3
    assert half(answer.intervals[0]["s"]) <= half(plain.intervals[0]["s"]) * 1.05


def test_groups_alone_are_answered_from_their_roll_up_with_the_same_digits(people):
    whole = people.sql(
        "SELECT b, COUNT(*) AS n, SUM(x) AS s FROM t WHERE a <> 1 GROUP BY ROLLUP (b) ORDER BY b", mechanism="gaussian"
    )
    alone = people.sql(
        "SELECT b, COUNT(*) AS n, SUM(x) AS s FROM t WHERE a <> 1 GROUP BY b ORDER BY b", mechanism="gaussian"
    )
    again = people.sql(
        "SELECT b, COUNT(*) AS n, SUM(x) AS s FROM t WHERE a <> 1 GROUP BY ROLLUP (b) ORDER BY b", mechanism="gaussian"
    )
    assert alone.receipt.reused
    assert again.receipt.reused
    assert alone["n"] == whole["n"][:INNER]
    assert again["s"] == whole["s"]
    assert [bars["s"] for bars in alone.intervals] == [bars["s"] for bars in whole.intervals[:INNER]]


def test_a_release_without_levels_answers_a_roll_up_as_before(people):
    """As one that was stored before levels were measured, or that was bought by GROUP BY alone: totals are sums."""
    plain = people.sql("SELECT b, SUM(x) AS s FROM t WHERE a <> 2 GROUP BY b ORDER BY b", mechanism="gaussian")
    rolled = people.sql(
        "SELECT b, SUM(x) AS s FROM t WHERE a <> 2 GROUP BY ROLLUP (b) ORDER BY b NULLS LAST", mechanism="gaussian"
    )
    assert rolled.receipt.reused
    assert rolled["s"][:INNER] == plain["s"]
    assert rolled["s"][-1] == pytest.approx(sum(plain["s"]))
    assert half(rolled.intervals[-1]["s"]) == pytest.approx(math.sqrt(INNER) * half(plain.intervals[0]["s"]))


def test_a_header_from_before_levels_is_read(people):
    query = "SELECT b, SUM(x) AS s FROM t WHERE a <> 3 GROUP BY ROLLUP (b)"
    people.sql(query, mechanism="gaussian")
    _, private = price_of(people, query, mechanism="gaussian")
    (stored,) = session_of(people).earlier(private)
    (part,) = stored_release._parts(stored.payload)
    table = pa.ipc.open_stream(part).read_all()
    header = json.loads(table.schema.metadata[stored_release.HEADER])
    assert [level["keys"] for level in header.pop("levels")] == [[]]
    table = table.drop([name for name in table.column_names if name.startswith("level_")])
    table = table.replace_schema_metadata({stored_release.HEADER: json.dumps(header).encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    old = bytes(sink.getvalue())
    payload = len(old).to_bytes(8, "big") + old
    (known,) = stored_release.load_if_sufficient(payload, private, any_mechanism=False, identical=True)
    assert known.plan.levels == ()
    assert np.array_equal(known.noisy_sums[0], table.column("coordinate_0").to_numpy())


def test_laplace_noise_measures_no_levels(people):
    _, private = price_of(people, "SELECT a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)", mechanism="laplace")
    assert private.parts[0].levels == ()
