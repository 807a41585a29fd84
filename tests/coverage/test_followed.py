"""Numbers made of several released groups: shares, totals, changes, ranks, maxima, and releases that are joined."""

import pytest
from scipy.stats import binom

ASKED = 400
CONFIDENCE = 0.9
FALSE_ALARM = 1e-9
LEAST = binom.ppf(FALSE_ALARM, ASKED, CONFIDENCE)
MOST = binom.isf(FALSE_ALARM, ASKED, CONFIDENCE)
"""Of so many intervals this many hold at least, and (where they are exact) at most."""

MECHANISMS = pytest.mark.parametrize("mechanism", ["gaussian", pytest.param("laplace", marks=pytest.mark.slow)])
GROUPS = ["a", "b", "c", "d", "e"]
SIZES = [60, 45, 44, 43, 90]
WINDOWS = """
WITH r AS (SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g)
SELECT g, n / SUM(n) OVER () AS share, SUM(n) OVER (ORDER BY g) AS running, s - LAG(s) OVER (ORDER BY g) AS change,
       SUM(s) OVER () / SUM(n) OVER () AS mean, 100.0 * s / (SELECT SUM(s) FROM r) AS percent, n * p.weight AS weighted,
       MAX(n) OVER () AS largest, MIN(n) OVER () AS smallest, RANK() OVER (ORDER BY n DESC) AS place,
       ROUND(n / SUM(n) OVER (), 2) AS rounded
FROM r JOIN p ON p.k = r.g ORDER BY g"""
EXACT = ["share", "running", "change", "mean", "percent", "weighted"]
CONSERVATIVE = ["largest", "smallest", "place", "rounded"]
TOTALS = "SELECT g, h, COUNT(*) AS n, AVG(x) AS mean, SUM(x) AS s FROM t GROUP BY ROLLUP (g, h) ORDER BY g, h"
JOINED = """
WITH a AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g), b AS (SELECT g, SUM(x) AS s FROM t WHERE h = 'v' GROUP BY g)
SELECT g, s / n AS each FROM a JOIN b USING (g) ORDER BY g"""


@pytest.fixture(scope="module")
def town(build_once):
    rows = [
        f"({100 * place + i}, '{g}', '{'uv'[i % 2]}', {(i * 7) % 10})"
        for place, (g, size) in enumerate(zip(GROUPS, SIZES, strict=True))
        for i in range(size)
    ]
    return build_once(
        [
            "CREATE TABLE t (u INTEGER PRIMARY KEY, g VARCHAR NOT NULL, h VARCHAR NOT NULL, x DOUBLE NOT NULL)",
            f"INSERT INTO t VALUES {', '.join(rows)}",
            "CREATE TABLE p (k VARCHAR PRIMARY KEY, weight DOUBLE)",
            "INSERT INTO p VALUES ('a', 1), ('b', 2), ('c', 0.5), ('d', -1), ('e', 3)",
        ],
        "t: {unit: u, unit_unique: true, columns: {x: {lower: 0, upper: 10}, g: {values: [a, b, c, d, e]}, "
        "h: {values: [u, v]}}}\np: {public: true}",
        handed_in=True,
        budget="{epsilon: 1000000, delta: 0.1, pure_epsilon: 500000}",
    )


@pytest.fixture
def held(town, ask):
    """How often each interval of some rows held, by row and column."""

    def count(query, rows, mechanism):
        result = town.owner.execute(query)
        names, plain = [column[0] for column in result.description], result.fetchall()
        truth = {(row, name): value for row in rows for name, value in zip(names, plain[row], strict=True)}
        hits = dict.fromkeys(truth, 0)
        for _ in range(ASKED):
            answer = ask(town, query, mechanism=mechanism, confidence=CONFIDENCE, epsilon=2.0, delta=1e-5)
            for row in rows:
                for name, interval in answer.intervals[row].items():
                    hits[row, name] += interval.lower - 1e-9 <= truth[row, name] <= interval.upper + 1e-9
        return hits

    return count


@MECHANISMS
def test_windows_and_joins_after_the_noise_cover(held, mechanism):
    found = held(WINDOWS, [2], mechanism)
    assert all(found[2, name] >= LEAST for name in [*EXACT, *CONSERVATIVE]), found
    if mechanism == "gaussian":
        assert all(found[2, name] <= MOST for name in EXACT), found


def test_totals_cover_and_are_not_wider_than_they_need_be(held):
    """A group, the total of its first key, and the total of everything."""
    found = held(TOTALS, [0, 2, 15], "gaussian")
    assert all(LEAST <= found[row, name] <= MOST for row in (0, 2, 15) for name in ("n", "mean", "s")), found


def test_a_quotient_of_two_releases_covers(held):
    found = held(JOINED, [1], "gaussian")
    assert LEAST <= found[1, "each"] <= MOST, found


def test_a_number_of_groups_has_no_interval_and_says_so(town, ask):
    answer = ask(town, "SELECT COUNT(*) AS groups FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) AS r")
    assert answer.intervals[0]["groups"].note.startswith("unbounded")


def test_the_rows_of_an_answer_show_no_more_than_was_asked_for(town, ask):
    answer = ask(town, WINDOWS)
    assert answer.columns == ["g", *EXACT, *CONSERVATIVE]
    assert answer.arrow().column_names == answer.columns


EQUAL = 30
CHOSEN = {
    "SELECT SUM(n) AS it, COUNT(*) AS k FROM r WHERE n > 40": lambda row: 40 * row.k,
    "SELECT SUM(n) FILTER (WHERE n > 41) AS it, COUNT(*) FILTER (WHERE n > 41) AS k FROM r": lambda row: 40 * row.k,
    "SELECT AVG(n) AS it, COUNT(*) AS k FROM (SELECT n FROM r ORDER BY n DESC LIMIT 5) AS top": lambda _: 40,
    "SELECT FIRST_VALUE(n) OVER (ORDER BY n DESC) AS it, 1 AS k FROM r": lambda _: 40,
    "SELECT SUM(n) OVER (ORDER BY n DESC) AS it, COUNT(*) OVER (ORDER BY n DESC) AS k FROM r": lambda row: 40 * row.k,
}


@pytest.fixture(scope="module")
def equals(build_once):
    """Groups of one size, so that what noise puts first was put there by noise alone."""
    rows = ", ".join(f"({place * 100 + i}, 'g{place:02}')" for place in range(EQUAL) for i in range(40))
    keys = ", ".join(f"g{place:02}" for place in range(EQUAL))
    return build_once(
        ["CREATE TABLE t (u INTEGER PRIMARY KEY, g VARCHAR NOT NULL)", f"INSERT INTO t VALUES {rows}"],
        f"t: {{unit: u, unit_unique: true, columns: {{g: {{values: [{keys}]}}}}}}",
        budget="{epsilon: 1000000, delta: 0.1}",
    )


@pytest.mark.parametrize("query", CHOSEN)
def test_what_noise_has_chosen_is_covered(equals, ask, query):
    """Nine in ten, where the plain interval of what was put first would hold hardly ever."""
    asked, hits = 60, 0
    for _ in range(asked):
        text = f"WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) {query}"
        answer = ask(equals, text, confidence=CONFIDENCE, epsilon=1.0, delta=1e-5)
        interval = answer.intervals[0]["it"]
        hits += interval.lower <= CHOSEN[query](next(iter(answer))) <= interval.upper
    assert hits >= binom.ppf(FALSE_ALARM, asked, CONFIDENCE)


CELLS = """
WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g)
SELECT COUNT(*) FILTER (WHERE n > 44) AS filtered, SUM(CASE WHEN n > 44 AND NOT n > 80 THEN 1 ELSE 0 END) AS between,
       (SELECT COUNT(*) FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) >= 44) AS s) AS kept
FROM r"""


@MECHANISMS
def test_counts_of_cells_cover_though_cells_lie_on_the_edge(held, mechanism):
    found = held(CELLS, [0], mechanism)
    assert all(found[0, name] >= LEAST for name in ("filtered", "between", "kept")), found


def test_a_count_of_cells_is_no_wider_than_what_noise_leaves_open(town, ask):
    """Only the groups of 45, 44 and 43 can be on either side of 44; those of 60 and 90 are sure."""
    answer = ask(town, CELLS, mechanism="gaussian", confidence=CONFIDENCE, epsilon=50.0, delta=1e-5)
    interval = answer.intervals[0]["filtered"]
    assert interval.note == "conservative"
    assert 2 <= interval.lower <= interval.upper <= 5
