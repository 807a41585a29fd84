"""Everything that a statement lacks is said at once, with lines to paste."""

import duckdb
import pytest

import hedgerow as hr
from hedgerow.errors import HedgerowError

CATALOG = """\
dataset: flights
budget: {epsilon: 3, delta: 1e-6}
tables:
  flights:
    unit: tail
    columns:
      carrier: {values: [AA, UA]}
"""
AVERAGE = "SELECT AVG(distance) AS d, SUM(delay * 2) AS s FROM flights"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("missing")
    with duckdb.connect(str(folder / "flights.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE flights AS "
            "SELECT i % 100 AS tail, i AS distance, i % 7 AS delay, 'AA' AS carrier FROM range(999) t(i)"
        )
    (folder / "flights.yaml").write_text(CATALOG)
    with hr.connect(folder / "flights.duckdb", catalog=folder / "flights.yaml") as opened:
        yield opened


def refused(database, query, how="sql", **options):
    with pytest.raises(HedgerowError) as caught:
        getattr(database, how)(query, **options)
    assert database.budget.queries == 0
    return caught.value


@pytest.mark.parametrize("how", ["sql", "quote", "explain"])
def test_a_statement_without_any_setting_is_told_all_of_them(database, how):
    error = refused(database, AVERAGE, how)
    assert (error.code, error.exit_code) == ("missing-settings", 2)
    assert error.message.endswith("needs: epsilon, delta, max_rows of flights, bounds of distance and delay.")
    assert error.hint == (
        'Pass epsilon=0.3, delta=1e-8, max_rows=10, bounds="auto", '
        "or write CLIP(x, lower, upper), or let the catalog say:\n"
        "  defaults:\n    epsilon: 0.3\n    delta: 1e-8\n  tables:\n    flights:\n      max_rows: 10\n"
        "      columns:\n        distance: {lower: ???, upper: ???}\n        delay: {lower: ???, upper: ???}"
    )
    assert str(error).endswith("    |        ^^^^^^^^^^^^")


def test_the_options_of_the_hint_suffice(database, tmp_path):
    error = refused(database, "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier")
    assert error.hint.startswith("Pass epsilon=0.3, delta=1e-8, max_rows=10, or let the catalog say:")
    quote = database.quote(
        "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier", epsilon=0.3, delta=1e-8, max_rows=10
    )
    assert quote.fits


@pytest.mark.parametrize(
    ("code", "options", "line"),
    [
        ("missing-epsilon", {"delta": 1e-8, "max_rows": 3}, "    epsilon: 0.3"),
        ("missing-delta", {"epsilon": 1.0, "max_rows": 3}, "    delta: 1e-8"),
        ("missing-max-rows", {"epsilon": 1.0, "delta": 1e-8}, "      max_rows: 10"),
    ],
)
def test_what_is_missing_alone_keeps_its_code_and_has_its_line(database, code, options, line):
    error = refused(database, "SELECT COUNT(*) AS n FROM flights", **options)
    assert error.code == code
    assert error.hint.endswith(line)


def test_bounds_alone_point_at_the_first_aggregate_and_name_all_columns(database):
    error = refused(database, AVERAGE, epsilon=1.0, delta=1e-8, max_rows=3)
    assert error.code == "missing-bounds"
    assert error.span.start == AVERAGE.index("AVG")
    assert "distance: {lower: ???" in error.hint
    assert "delay: {lower: ???" in error.hint


def test_a_fault_of_the_text_comes_first_and_is_pointed_at(database):
    error = refused(database, "SELECT COUNT(nothing) AS n FROM flights")
    assert error.code == "unknown-column"
    assert "^^^^^^^" in str(error)
    assert refused(database, "SELECT COUNT(*) FROM").code == "syntax"


def test_the_first_fault_of_a_text_is_the_one_that_is_told(database):
    inner = "SELECT SUM(CLIP(distance, 0, (SELECT MAX(distance) FROM flights))) AS s FROM flights"
    assert refused(database, inner, epsilon=1.0, delta=1e-8, max_rows=3).code == "missing-bounds"


def test_a_value_of_a_step_has_no_line_in_the_catalog(database):
    step = "WITH a AS (SELECT tail, SUM(distance) AS s FROM flights GROUP BY tail) SELECT SUM(s) AS t FROM a"
    error = refused(database, step, epsilon=1.0, delta=1e-8)
    assert error.hint == 'Pass bounds="auto", or write CLIP(x, lower, upper).'


def test_no_default_beyond_the_owners_cap_is_proposed(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(9) t(i)")
    (tmp_path / "a.yaml").write_text(
        "dataset: a\nbudget: {epsilon: 3, delta: 1e-6, per_query: {epsilon: 0.125}}\ntables:\n  people: {unit: id}\n"
    )
    with hr.connect(tmp_path / "a.duckdb", catalog=tmp_path / "a.yaml") as opened:
        assert "epsilon: 0.125" in refused(opened, "SELECT COUNT(*) AS n FROM people").hint
