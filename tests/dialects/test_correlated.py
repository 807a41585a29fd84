"""Nested queries that refer to rows around them, on engines without LATERAL."""

import pytest

from hedgerow.backends.duckdb import DuckDB
from hedgerow.compile import program
from hedgerow.dialects.mariadb import MariaDBDialect
from hedgerow.errors import UnsupportedSQLError

from ..conformance.tables import reference, shop
from ..conformance.test_queries import NONCE, planned

REFERS = "SELECT {} FROM orders o WHERE o.member_id = m.member_id"


def first_pass(condition):
    query = f"SELECT COUNT(*) AS n FROM members m WHERE {condition}"
    with reference(shop()) as connection:
        (part,) = planned(DuckDB(connection, handed_in=True).schema(), query)
    return program(part, MariaDBDialect(), NONCE).first_pass.sql


def test_an_aggregate_of_the_rows_of_a_person_is_not_in_a_query_in_from():
    assert "(SELECT COUNT(*) AS `c0` FROM `orders`" in first_pass(f"({REFERS.format('COUNT(*)')}) > 2")


def test_groups_of_the_rows_of_a_person_are_refused():
    """They are a query in FROM, with the condition on the groups around it."""
    with pytest.raises(UnsupportedSQLError) as refused:
        first_pass(f"EXISTS ({REFERS.format('o.status')} GROUP BY o.status HAVING COUNT(*) > 2)")
    assert refused.value.code == "engine-lacks"
