"""Sums of values on a lattice: all tables of a release add up to the last bit, in any order of addition."""

import itertools
import math
import random
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.internals import session_of

from hedgerow.publication.data import data_table
from hedgerow.release import lattice, marginals
from hedgerow.release.lattice import BITS, FINER, lattice_step, on_lattice

BUDGET = "{epsilon: 1e6, delta: 0.01}"
COLUMNS = "rent: {lower: 0.1, upper: 1234.567}, debt: {lower: -77.7, upper: 33.3}"
DECLARED = "a: {values: [p, q, r, s, t]}, b: {values: [x, y, z]}, c: {values: [u, v]}"
GROUPS = "['p','q','r','s','t'][1 + j % 5], ['x','y','z'][1 + (j // 5) % 3], ['u','v'][1 + (j // 15) % 2]"
VALUES = "0.1 + (j * 7919 % 1234567) / 1000, (j * 104729 % 111000) / 1000 - 77.7"
STATEMENTS = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, a VARCHAR, b VARCHAR, c VARCHAR, rent DOUBLE, debt DOUBLE)",
    f"INSERT INTO people SELECT j, {GROUPS}, {VALUES} FROM range(9000) r(j)",
    "DELETE FROM people WHERE a = 't' AND b = 'z' AND c = 'v' AND id > 200",
]
KINDS = {"declared": (DECLARED, 1), "tested": (DECLARED, 10), "open": ("", 1), "both": ("", 10)}
KEYS = ("a", "b", "c")
NUMBERS = (
    "SUM(rent) AS rent",
    "SUM(rent) AS rent, SUM(debt) AS debt",
    "COUNT(*) AS n, SUM(debt) AS debt",
    "COUNT(*) AS n, AVG(rent) AS mean, SUM(rent) AS rent",
)
SUBSETS = [keys for size in range(4) for keys in itertools.combinations(KEYS, size)]


@pytest.fixture(params=list(KINDS))
def db(request, build):
    keys, minimum = KINDS[request.param]
    columns = f"{keys}, {COLUMNS}" if keys else COLUMNS
    catalog = f"people: {{unit: id, unit_unique: true, size: 1000000, columns: {{{columns}}}}}"
    return build(STATEMENTS, catalog, min_frequency=minimum, budget=BUDGET)


def statement(keys, numbers, form):
    """A statement that groups by some keys."""
    by = ", ".join(keys)
    grouping = {
        "plain": by,
        "rollup": f"ROLLUP ({by})",
        "cube": f"CUBE ({by})",
        "sets": f"GROUPING SETS ({', '.join(f'({key})' for key in keys)})",
    }[form]
    return f"SELECT {by}, {numbers} FROM people GROUP BY {grouping}" if keys else f"SELECT {numbers} FROM people"


def random_report():
    """Two to five statements by random keys, with random numbers and grouping forms."""
    report = {}
    for position in range(random.randint(2, 5)):
        keys, numbers = random.choice(SUBSETS), random.choice(NUMBERS)
        report[f"q{position}"] = statement(keys, numbers, random.choice(["plain", "rollup", "cube", "sets"]))
    return report


def tables_of(answers, number):
    """The tables of all answers that show a number: by keys, the number of each group; equal where several show it."""
    tables = {}
    for answer in answers:
        if number not in answer.columns:
            continue
        names = [name for name in KEYS if name in answer.columns]
        for row in zip(*(answer[name] for name in (*names, number)), strict=True):
            cell = {name: value for name, value in zip(names, row, strict=False) if value is not None}
            table = tables.setdefault(tuple(sorted(cell)), {})
            assert table.setdefault(tuple(cell[name] for name in sorted(cell)), row[-1]) == row[-1]
    return tables


def pairs_that_add_up(tables):
    """Yield each number of a table with the numbers of a finer table that make it, where all of these are shown."""
    for coarse, fine in itertools.permutations(tables, 2):
        if not set(coarse) < set(fine):
            continue
        made_of = {}
        for group, value in tables[fine].items():
            parts = made_of.setdefault(tuple(group[fine.index(key)] for key in coarse), [])
            parts += [] if value is None else [value]
        for group, value in tables[coarse].items():
            yield value, made_of.get(group, [])


def sums_of(values, engine):
    """The sum of floats, exactly and in ways that round differently."""
    shuffled = random.sample(values, len(values))
    summed = "SELECT COALESCE(SUM(x), 0) FROM (SELECT UNNEST(?::DOUBLE[]) AS x)"
    [[by_duckdb]] = engine.execute(summed, [shuffled]).fetchall()
    in_floats = sum(values), sum(shuffled), by_duckdb, pd.Series(values, dtype=float).sum()
    return {sum(map(Fraction, values)), *map(Fraction, in_floats)}


def assert_adds_up(answers):
    """Compare all totals with the sums of their cells; return the number of comparisons with several cells."""
    compared = 0
    with duckdb.connect() as engine:
        for number in ("rent", "debt"):
            for value, parts in pairs_that_add_up(tables_of(answers, number)):
                assert (value is None and not parts) or sums_of(parts, engine) == {Fraction(value)}
                compared += len(parts) > 1
    return compared


def test_random_reports_add_up_to_the_last_bit(db):
    compared = 0
    while compared < 60:
        options = {"epsilon": random.choice([0.5, 2.0, 9.0]), "add_up": True}
        compared += assert_adds_up(db.batch(random_report(), reuse=False, **options))


def test_each_table_asked_alone_repeats_its_digits(db):
    report = random_report()
    batch = db.batch(report, epsilon=4.0, add_up=True)
    for name, sql in report.items():
        again = db.sql(sql, epsilon=4.0)
        assert again.receipt.reused
        assert list(again) == list(batch[name])
    repeated = db.batch(report, epsilon=4.0, add_up=True)
    assert repeated.receipt.reused
    assert [list(answer) for answer in repeated] == [list(answer) for answer in batch]


def test_all_pairs_of_three_keys_add_up_where_no_table_has_all_keys(db):
    report = {f"by_{''.join(keys)}": statement(keys, NUMBERS[1], "plain") for keys in SUBSETS if len(keys) < 3}
    assert assert_adds_up(db.batch(report, epsilon=9.0, add_up=True)) > 30


def test_the_lattice_is_as_fine_as_the_noise_allows_and_its_sums_are_exact():
    generator = np.random.default_rng()
    for _ in range(200):
        noise, size = 10.0 ** generator.uniform(-9, 9), 10.0 ** generator.uniform(0, 12)
        cells = generator.normal(0.0, noise * size, 1000)
        step = lattice_step(cells, [noise, 0.0])
        shown = on_lattice(cells, step)
        assert math.frexp(step)[0] == 0.5
        assert np.abs(shown - cells).max() <= step / 2
        assert step <= max(noise * 2.0**-FINER, np.abs(cells).sum() * 2.0 ** (1 - BITS))
        assert Fraction(shown.sum()) == Fraction(float(np.cumsum(shown)[-1])) == sum(map(Fraction, shown.tolist()))


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("form", ["rollup", "cube", "sets"])
def test_one_statement_adds_up_to_the_last_bit(db, mechanism, form):
    sql = statement(KEYS, NUMBERS[1], form)
    answer = db.sql(sql, epsilon=9.0, mechanism=mechanism)
    if form == "sets":
        tables = tables_of([answer], "rent")
        assert len({sum(map(Fraction, filter(None, table.values()))) for table in tables.values()}) == 1
    else:
        assert assert_adds_up([answer]) > 5
    assert list(db.sql(sql, epsilon=9.0, mechanism=mechanism)) == list(answer)


def test_sums_without_negative_numbers_add_up_to_the_last_bit(db):
    report = {f"by_{''.join(keys)}": statement(keys, NUMBERS[0], "plain") for keys in SUBSETS if len(keys) < 3}
    assert assert_adds_up(db.batch(report, epsilon=3.0, add_up=True, nonnegative=True)) > 15


def test_an_average_is_that_of_the_sum_and_the_count_next_to_it(db):
    report = {"fine": statement(("a", "b"), NUMBERS[3], "cube"), "coarse": statement(("c",), NUMBERS[3], "plain")}
    for answer in db.batch(report, epsilon=9.0, add_up=True):
        rows = [row for row in zip(answer["n"], answer["mean"], answer["rent"], strict=True) if row[0] is not None]
        assert len(rows) > 1
        assert all(mean == pytest.approx(rent / n, rel=0.2) for n, mean, rent in rows)


def test_pandas_and_duckdb_read_files_that_add_up(db, tmp_path):
    report = {"fine": statement(("a", "b"), NUMBERS[1], "plain"), "coarse": statement(("b",), NUMBERS[1], "plain")}
    for name, answer in db.batch(report, epsilon=9.0, add_up=True).items():
        (tmp_path / f"{name}.csv").write_bytes(data_table(answer).csv())
    fine, coarse = (pd.read_csv(tmp_path / f"{name}.csv") for name in report)
    summed = fine.groupby("b")[["rent", "debt"]].sum()
    assert summed.equals(coarse.set_index("b")[["rent", "debt"]].sort_index())
    with duckdb.connect() as engine:
        sql = f"SELECT b, SUM(rent), SUM(debt) FROM '{tmp_path}/fine.csv' GROUP BY b ORDER BY b"
        assert engine.execute(sql).fetchall() == list(summed.itertuples(name=None))


def test_totals_over_the_groups_of_a_stored_release_are_exact(db):
    plain = db.sql(statement(("a", "c"), NUMBERS[1], "plain"), epsilon=9.0)
    rolled = db.sql(statement(("a", "c"), NUMBERS[1], "rollup"), epsilon=9.0)
    assert rolled.receipt.reused
    assert assert_adds_up([plain, rolled]) > 5


def test_a_release_of_an_earlier_version_repeats_its_digits(build, monkeypatch):
    catalog = f"people: {{unit: id, unit_unique: true, columns: {{{DECLARED}, {COLUMNS}}}}}"
    db = build(STATEMENTS, catalog, budget=BUDGET)
    report = {f"by_{key}": statement((key,), NUMBERS[1], "plain") for key in KEYS}
    rolled = statement(KEYS, NUMBERS[0], "rollup")
    with monkeypatch.context() as earlier:
        for module in (marginals, lattice):
            earlier.setattr(module, "shown_sums", lambda _: [])
        first = [*db.batch(report, epsilon=2.0), db.sql(rolled, epsilon=2.0)]
    session_of(db).answers.clear()
    again = [db.sql(sql, epsilon=2.0) for sql in (*report.values(), rolled)]
    assert all(answer.receipt.reused for answer in again)
    assert [list(answer) for answer in again] == [list(answer) for answer in first]


def test_error_bars_are_those_of_the_released_number_and_hold_the_shown_one(db):
    """They are the same numbers as before they were rounded: no end moves inwards."""
    answer = db.sql(statement(KEYS, NUMBERS[2], "cube"), epsilon=3.0, mechanism="gaussian")
    for value, bars in zip(answer["debt"], answer.intervals, strict=True):
        if value is not None:
            bar = bars["debt"]
            centre = (bar.lower + bar.upper) / 2
            assert bar.lower <= value <= bar.upper
            assert value == pytest.approx(centre, abs=(bar.upper - bar.lower) * 2.0**-20)
