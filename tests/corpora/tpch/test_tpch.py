"""The 22 queries of TPC-H: each is answered with the right numbers, or refused by its code; and none is made easier."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlglot
from ruamel.yaml import YAML
from sqlglot import exp

from hedgerow.errors import HedgerowError

HERE = Path(__file__).parent
NUMBERS = [f"q{number:02}" for number in range(1, 23)]
SHARP = 0.6
"""An answer must know at least one of its numbers to this share, at that confidence, or agreement would say little."""


@dataclass(frozen=True)
class Expected:
    """A line of expected.yaml."""

    name: str
    protects: str
    outcome: str
    why: str
    options: dict[str, object] = field(default_factory=dict)
    rows: int = 0
    some_hidden: bool = False
    picks: str | None = None
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def original(self) -> exp.Expression:
        """The query as the benchmark has it."""
        return parsed(HERE / "original" / f"{self.name[:3]}.sql")

    @property
    def private(self) -> str:
        """The query as it is asked."""
        return (HERE / "private" / f"{self.name}.sql").read_text(encoding="utf-8")


def parsed(path: Path) -> exp.Expression:
    """The query in a file."""
    return sqlglot.parse_one(path.read_text(encoding="utf-8"), read="duckdb")


TABLE = YAML(typ="safe").load(HERE / "expected.yaml")
CORPUS = [Expected(name, **line) for name, line in TABLE.items()]
ANSWERED = [query for query in CORPUS if query.outcome == "answered"]
REFUSED = [query for query in CORPUS if query.outcome != "answered"]


def ingredients(tree: exp.Expression) -> Iterator[str]:
    """The base tables, the conditions and the aggregates of a query, however they are nested and qualified.

    A query of WITH counts wherever it is used.
    """
    tree = tree.copy()
    named = {cte.alias: cte.pop() for cte in list(tree.find_all(exp.CTE))}
    for table in tree.find_all(exp.Table):
        if table.name in named:
            yield from ingredients(named[table.name].this)
        else:
            yield f"table {table.name}"
    clauses = [clause.this for clause in tree.find_all(exp.Where, exp.Having)]
    clauses += [join.args["on"] for join in tree.find_all(exp.Join) if join.args.get("on")]
    yield from (f"condition {bare(part)}" for clause in clauses for part in conjuncts(clause))
    yield from (f"aggregate {bare(call)}" for call in tree.find_all(exp.AggFunc))


def conjuncts(node: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions that AND brings together."""
    if isinstance(node, exp.And):
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    else:
        yield node


def bare(node: exp.Expression) -> str:
    """An expression without qualifiers, bounds and the insides of subqueries, which are listed on their own."""
    return node.transform(_bare).sql("duckdb")


def _bare(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Select | exp.Subquery):
        return exp.var("subquery")
    if isinstance(node, exp.Anonymous) and node.name.upper() == "CLIP":
        return node.expressions[0]
    return exp.column(node.name) if isinstance(node, exp.Column) else node


def whole(query: Expected) -> str:
    """The original without LIMIT and without what picks among noisy numbers: noise may pick another row."""
    tree = query.original
    tree.set("limit", None)
    if query.picks:
        (picking,) = (part for part in conjuncts(tree.args["where"].this) if bare(part) == query.picks)
        picking.replace(exp.true())
    return tree.sql("duckdb")


def answer_and_plain(query, databases, tpch, nearly_exact, beside):
    """The private answer beside the whole result of the original."""
    result = tpch.cursor().execute(whole(query))
    names = [column[0] for column in result.description]
    answer = databases[query.protects].sql(query.private, **nearly_exact, **query.options)
    return beside(answer, names, result.fetchall())


def test_every_query_of_the_benchmark_is_there_with_a_reason():
    assert sorted({query.name[:3] for query in CORPUS}) == NUMBERS
    assert set(NUMBERS) <= {query.name for query in CORPUS}
    assert all(query.why.endswith(".") for query in CORPUS)
    assert {path.stem for path in (HERE / "private").glob("*.sql")} == {query.name for query in CORPUS}


def test_at_least_sixteen_of_the_twenty_two_are_answered_with_numbers_to_compare():
    assert len([query for query in ANSWERED if query.name in NUMBERS and query.rows]) >= 16


@pytest.mark.parametrize("number", NUMBERS)
def test_the_original_text_runs_in_plain_duckdb(number, tpch):
    assert tpch.cursor().execute((HERE / "original" / f"{number}.sql").read_text(encoding="utf-8")).fetchall()


@pytest.mark.parametrize("query", CORPUS, ids=str)
def test_the_private_text_drops_no_table_no_condition_and_no_aggregate(query):
    original = Counter(ingredients(query.original))
    private = Counter(ingredients(sqlglot.parse_one(query.private, read="duckdb")))
    assert original
    assert sorted((original - private).elements()) == sorted(query.dropped)
    assert sorted((private - original).elements()) == sorted(query.added)


@pytest.mark.parametrize("dropped", ["and l_shipmode in ('MAIL', 'SHIP')", "orders,", "and l_shipdate < l_commitdate"])
def test_a_text_that_drops_something_would_be_noticed(dropped):
    text = (HERE / "original" / "q12.sql").read_text(encoding="utf-8")
    assert text.count(dropped) == 1
    whole, less = (Counter(ingredients(sqlglot.parse_one(t, read="duckdb"))) for t in (text, text.replace(dropped, "")))
    assert whole - less


@pytest.mark.parametrize("query", ANSWERED, ids=str)
def test_an_answered_query_gives_the_numbers_of_the_original(query, databases, tpch, nearly_exact, beside):
    compared = answer_and_plain(query, databases, tpch, nearly_exact, beside)
    compared.check(some_hidden=query.some_hidden)
    assert len(compared.rows) >= query.rows
    assert not compared.rows or not compared.noisy or compared.sharpness() < SHARP


@pytest.mark.parametrize("query", REFUSED, ids=str)
def test_a_refused_query_has_its_code_and_a_place_or_a_hint_and_costs_nothing(query, databases):
    database = databases[query.protects]
    before = database.budget.queries
    with pytest.raises(HedgerowError) as caught:
        database.sql(query.private)
    assert caught.value.code == query.outcome, str(caught.value)
    assert caught.value.hint or caught.value.span
    assert database.budget.queries == before
