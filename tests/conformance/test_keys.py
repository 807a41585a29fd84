"""Thousands of keys, declared or selected, give the same integers on every engine as a list of constants on DuckDB."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest

from hedgerow.catalog import load_catalog
from hedgerow.compile import program, rows
from hedgerow.compiled import DECLARED
from hedgerow.release.key_selection import MANY, key_indices

from .tables import KEYS, label
from .test_queries import NONCE, agree, measured, planned

CATALOG = """dataset: keys
budget: {{epsilon: 10, delta: 1e-6}}
tables:
  many_keys:
    unit: {unit}
    {limit}
    columns:
      amount: {{lower: 0, upper: 100}}
"""
DECLARED_VALUES = {
    "label": tuple(label(number) for number in range(100, KEYS + 100)),
    "number": tuple(range(-KEYS, KEYS)),
    "ratio": tuple(number / 8 for number in range(KEYS)),
    "price": tuple(number / 4 for number in range(KEYS)),
    "flag": (True, False),
}
"""Values of which some occur in the rows and others do not; some rows have keys that are not among them."""

COUNT_AND_TOTAL = "SELECT {keys}, COUNT(*) AS n, SUM(amount) AS total FROM many_keys GROUP BY {keys}"


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory):
    """Catalogs under which a person has several rows, or one."""
    path = tmp_path_factory.mktemp("keys") / "catalog.yaml"
    read = []
    for unit, limit in (("person", "max_rows: 4"), ("id", "unit_unique: true")):
        path.write_text(CATALOG.format(unit=unit, limit=limit), encoding="utf-8")
        read.append(load_catalog(path))
    return read


@pytest.fixture(scope="module")
def catalog(catalogs):
    return catalogs[0]


def with_declared(catalog, *columns):
    """The catalog with thousands of declared values for each of these columns."""
    table = catalog.tables["many_keys"]
    model = next(iter(table.columns.values()))
    added = {name: replace(model, name=name, lower=None, upper=None, values=DECLARED_VALUES[name]) for name in columns}
    return replace(catalog, tables={"many_keys": replace(table, columns={**table.columns, **added})})


@pytest.mark.parametrize("column", ["label", "number", "flag"])
def test_declared_keys_are_the_same_everywhere(engine, catalog, column):
    assert agree(engine, COUNT_AND_TOTAL.format(keys=column), catalog=with_declared(catalog, column))


@pytest.mark.slow
@pytest.mark.parametrize("column", ["ratio", "price"])
def test_declared_numbers_are_the_same_everywhere(engine, catalog, column):
    assert agree(engine, COUNT_AND_TOTAL.format(keys=column), catalog=with_declared(catalog, column))


def test_declared_keys_are_the_same_everywhere_where_a_person_has_one_row(engine, catalogs):
    assert agree(engine, COUNT_AND_TOTAL.format(keys="label"), catalog=with_declared(catalogs[1], "label"))


def test_sums_without_keys_are_the_same_everywhere_where_some_people_have_many_rows(engine, catalog):
    assert agree(engine, "SELECT COUNT(*) AS n, SUM(amount) AS total FROM many_keys", catalog=catalog)


@pytest.mark.parametrize("keys", ["label, day", "number, flag", pytest.param("ratio, price", marks=pytest.mark.slow)])
def test_selected_keys_are_the_same_everywhere(engine, catalog, keys):
    assert agree(engine, COUNT_AND_TOTAL.format(keys=keys), catalog=catalog)


@pytest.mark.parametrize("column", ["label", "number", "ratio", "price"])
def test_a_table_of_keys_gives_the_integers_of_a_list(duckdb_side, catalog, column, monkeypatch):
    backend, _ = duckdb_side
    (part,) = planned(backend.schema(), COUNT_AND_TOTAL.format(keys=column), catalog=with_declared(catalog, column))
    as_table = measured(backend, part)
    assert len(as_table["first_pass"]) > KEYS // 4
    monkeypatch.setattr(rows, "MAX_LISTED", 10 * KEYS)
    assert measured(backend, part) == as_table


def test_each_declared_text_is_found_in_its_row_or_in_none(duckdb_side, catalog):
    """The keys of the data come in any order, and NULL and other texts with them."""
    backend, _ = duckdb_side
    (part,) = planned(backend.schema(), COUNT_AND_TOTAL.format(keys="label"), catalog=with_declared(catalog, "label"))
    declared = [key for (key,) in part.keys.domain]
    assert len(declared) >= MANY
    stored = [*random.sample(declared, len(declared) // 2), None, "not declared", declared[0] + " "]
    random.shuffle(stored)
    indices = key_indices(pa.table({"k0": pa.array(stored, pa.string())}), part)
    assert indices.tolist() == [stored.index(key) if key in stored else -1 for key in declared]


def test_releases_of_one_statement_load_keys_of_their_own(duckdb_side, catalog):
    """Both have a first key of the same name, and other values."""
    backend, _ = duckdb_side
    declared = with_declared(catalog, "label", "number")
    tables = {
        column: dict(program(part, backend.dialect, NONCE).declared)
        for column in ("label", "number")
        for part in planned(backend.schema(), COUNT_AND_TOTAL.format(keys=column), catalog=declared)
    }
    assert [len(loaded) for loaded in tables.values()] == [1, 1]
    assert not tables["label"].keys() & tables["number"].keys()


def test_few_declared_keys_are_listed(duckdb_side, catalog):
    backend, _ = duckdb_side
    table = with_declared(catalog, "number").tables["many_keys"]
    few = replace(table.columns["number"], values=(1, 2, 3))
    declared = replace(catalog, tables={"many_keys": replace(table, columns={**table.columns, "number": few})})
    (part,) = planned(backend.schema(), COUNT_AND_TOTAL.format(keys="number"), catalog=declared)
    steps = program(part, backend.dialect, NONCE)
    assert not steps.declared
    assert DECLARED not in steps.first_pass.sql
    assert "IN (1, 2, 3)" in steps.first_pass.sql
