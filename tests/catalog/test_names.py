"""Comparison of names."""

import duckdb
import pytest

from hedgerow.catalog import fold
from hedgerow.catalog.names import closest


@pytest.mark.parametrize(
    ("one", "other"), [("Orders", "oRDERS"), ("É", "é"), ("ß", "SS"), ("İ", "i"), ("K", "k"), ("a b", "A B")]
)
def test_two_spellings_are_one_name_exactly_where_duckdb_says_so(one, other):
    connection = duckdb.connect()
    connection.execute(f'CREATE TABLE "{one}" (x INTEGER)')
    try:
        connection.execute(f'SELECT x FROM "{other}"')
        same = True
    except duckdb.CatalogException:
        same = False
    assert (fold(one) == fold(other)) is same


def test_the_closest_name_is_the_one_that_was_probably_meant():
    assert closest("Custmers", ["orders", "customers"]) == "customers"
    assert closest("zzz", ["orders", "customers"]) is None
