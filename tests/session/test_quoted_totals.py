"""Quotes of ROLLUP, CUBE and GROUPING SETS: an error for every level, and the noise that suits the totals, too."""

import math

import pytest

VALUES = [f"g{i:03}" for i in range(300)]
ROLLUP = "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY ROLLUP (g)"


TABLES = [
    "CREATE TABLE t (id BIGINT PRIMARY KEY, g VARCHAR, h VARCHAR, x DOUBLE)",
    """INSERT INTO t SELECT i, 'g' || lpad(CAST(i % 300 AS VARCHAR), 3, '0'), 'h' || i % 7, i % 50
    FROM range(12000) r(i)""",
]
CATALOG = f"""t: {{unit: id, unit_unique: true, columns: {{x: {{lower: 0, upper: 50}}, g: {{values: {VALUES}}}}}}}"""


@pytest.fixture(scope="module")
def shop(build_once):
    """300 declared groups of 40 people; 7 values of h that nobody declared."""
    return build_once(TABLES, CATALOG)


@pytest.fixture
def new_shop(build):
    """The same, of which nothing was asked before: no mean is known."""
    return build(TABLES, CATALOG)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_error_of_a_total_is_what_its_interval_has(shop, ask, mechanism):
    options = {"epsilon": 1, "delta": 1e-5, "mechanism": mechanism}
    quote = shop.quote(ROLLUP, **options)
    answer = ask(shop, ROLLUP, **options)
    whole = answer["g"].index(None)
    for name in ("n", "s"):
        bars = [row[name] for row in answer.intervals]
        widths = [(bar.upper - bar.lower) / 2 for bar in bars]
        assert quote.totals["total"][name][10_000] == pytest.approx(widths[whole], rel=0.05)
        assert quote.errors[name][100] == pytest.approx(sorted(widths)[150], rel=0.15)


def test_measured_totals_are_better_than_the_sum_of_their_groups(shop):
    quote = shop.quote(ROLLUP, mechanism="gaussian")
    assert quote.totals["total"]["n"][10_000] < 0.5 * math.sqrt(300) * quote.errors["n"][100]


def test_every_level_of_a_cube_has_an_error_and_undeclared_keys_are_noted(shop):
    quote = shop.quote("SELECT g, h, COUNT(*) AS n, AVG(x) AS a, GROUPING(g) AS level FROM t GROUP BY CUBE (g, h)")
    assert list(quote.totals) == ["total by g", "total by h", "total"]
    for errors in (quote.errors, *quote.totals.values()):
        assert set(errors) == {"n", "a"}
        assert all(0 < errors["n"][size] < math.inf for size in (100, 100_000))
    assert any("30 values of each key" in note for note in quote.notes)
    assert quote.to_dict()["totals"]["total"]["n"]["100"] == quote.totals["total"]["n"][100]
    assert not any("30 values" in note for note in shop.quote(ROLLUP).notes)


def test_without_grouping_sets_there_are_no_totals(shop):
    quote = shop.quote("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
    assert quote.totals == {}
    assert "totals" not in quote.to_dict()


def test_the_noise_suits_totals_and_groups_together(new_shop):
    """Laplace noise suits the groups alone; their total of 300 Laplace noises is far worse than one of its own."""
    plain = new_shop.quote("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", delta=1e-5)
    assert {mechanism.kind for mechanism in plain.mechanisms} == {"laplace"}
    assert {mechanism.kind for mechanism in new_shop.quote(ROLLUP, delta=1e-5).mechanisms} == {"gaussian"}
