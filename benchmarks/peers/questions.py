"""The ten queries as mechanisms see them: what their rows are like. Read from the data, for expected errors only."""

from pathlib import Path
from typing import Any

import duckdb
from peers.expected import Cell, Question
from tpch_queries import JOINED, SEGMENT, Facts


def questions(path: Path, table_facts: Facts) -> dict[str, Question]:
    """Every query by name."""
    with duckdb.connect(str(path), read_only=True) as connection:

        def rows(text: str) -> list[tuple[Any, ...]]:
            return [tuple(float(value) for value in row) for row in connection.execute(text).fetchall()]

        ((n, nations, total, mean, variance),) = rows(
            "SELECT COUNT(*), COUNT(DISTINCT c_nationkey), SUM(c_acctbal), AVG(c_acctbal), VAR_SAMP(c_acctbal) "
            "FROM customer"
        )
        ((lines, price, discount, covariance),) = rows(
            "SELECT COUNT(*), AVG(l_extendedprice), AVG(l_discount), COVAR_SAMP(l_extendedprice, l_discount) "
            "FROM lineitem"
        )
        counted = "SELECT COUNT(*), AVG(o_totalprice) FROM"
        joined = rows(f"{counted} {JOINED} WHERE c_mktsegment = '{SEGMENT}'")
        statuses = rows(f"{counted} orders GROUP BY o_orderstatus")
        segments = rows(f"{counted} {JOINED} GROUP BY c_mktsegment")

    def customers(name: str, exact: float) -> Question:
        return Question(name, (Cell(exact, int(n), mean, variance),), table_facts.acctbal)

    def orders(name: str, cells: list[tuple[Any, ...]], groups: int = 1, *, keyed: bool = False) -> Question:
        cells_of_groups = tuple(Cell(average, int(count), average) for count, average in cells)
        return Question(
            name,
            cells_of_groups,
            table_facts.totalprice,
            rows_each=table_facts.orders_each,
            groups_each=groups,
            keyed=keyed,
        )

    line = Cell(covariance, int(lines), price, 0.0, discount, covariance)
    all_questions = [
        customers("COUNT", n),
        customers("COUNT_DISTINCT", nations),
        customers("SUM", total),
        customers("AVG", mean),
        customers("VAR", variance),
        customers("STDDEV", variance**0.5),
        Question("COVAR", (line,), table_facts.extendedprice, table_facts.discount, table_facts.lines_each),
        orders("JOIN", joined),
        orders("GROUPBY", statuses, table_facts.statuses_each, keyed=True),
        orders("GROUPBY_JOIN", segments, keyed=True),
    ]
    return {question.name: question for question in all_questions}
