"""Every error code in the source has its place on the page, and every code on the page is in the source."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.backends.base import REASONS
from hedgerow.backends.clickhouse.connect import REFUSALS as CLICKHOUSE
from hedgerow.backends.postgres.errors import REFUSALS
from hedgerow.catalog import codes
from hedgerow.plan.clauses import REFUSED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([a-z-]+)`\n\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
BLOCKS = {code: re.findall(r"```sql\n(.*?)\n```", text, re.DOTALL) for code, text in SECTIONS.items()}
EXAMPLES = {code: blocks[0] for code, blocks in BLOCKS.items() if blocks}
INSTEAD = [(code, block) for code, blocks in BLOCKS.items() for block in blocks[1:]]
ON_THE_CATALOG_PAGE = {value for name, value in vars(codes).items() if name.isupper()}

COMPUTED = {
    "execution/request.py": ["bad-epsilon", "bad-delta", "bad-confidence", "bad-min-frequency", "bad-bounds"],
    "privacy/bounding.py": ["bad-max-rows", "bad-max-groups"],
    "ledger/filters.py": ["budget-gaussian", "budget-pure", "budget-mass", "budget-analyst", "budget-lifetime"],
    "plan/clauses.py": [*(code for code, _, _ in REFUSED.values()), "clause"],
    "backends/base.py": [*REASONS],
    "backends/clickhouse/connect.py": [*CLICKHOUSE],
    "backends/duckdb.py": ["open-here", "open-elsewhere"],
    "backends/postgres/errors.py": [code for _, code, _, _ in REFUSALS],
}
"""Codes that are put together at run time, by the file that does so."""


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The syntax of a file in which the word `code` occurs; nothing of others."""
    text = path.read_text(encoding="utf-8")
    return tuple(ast.walk(ast.parse(text))) if "code" in text else ()


def written(path: Path) -> set[str]:
    """The codes that stand in a file as `code="…"`, as an argument or as the code of a class."""
    actual = set()
    for node in nodes(path):
        if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
            actual.add(node.value.value)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(name, ast.Name) and name.id == "code" for name in names):
                actual.add(node.value.value)
    return {code for code in actual if isinstance(code, str)}


def computes(path: Path) -> bool:
    """True if a file passes on a code that does not stand there as text, nor comes from the catalog's list."""
    for node in nodes(path):
        if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.JoinedStr | ast.IfExp):
            parts = [n for n in ast.walk(node.value) if isinstance(n, ast.Attribute)]
            if not any(isinstance(n.value, ast.Name) and n.value.id == "codes" for n in parts):
                return True
    return False


ABOUT_QUERIES = [
    "aggregates",
    "sql/privacy_clause.py",
    "execution/public_tables.py",
    "sql/parse.py",
    "sql/parse.py",
    "plan",
]
"""The parts of the source that refuse because of what a query says."""

NOT_IN_THE_CORPUS = {
    "catalog-type": "the owner's to mend: a path between columns of different types",
    "dialect": "connect refuses it, before there is a query",
    "internal": "one room broke its promise to the next; no query is known that does it",
}
"""Codes that no query of the corpus of refusals provokes, and why."""

CORPUS = ROOT / "tests" / "errors"
SOURCES = sorted((ROOT / "src" / "hedgerow").rglob("*.py"))


@pytest.fixture(scope="module")
def in_source() -> set[str]:
    """The codes of the whole source."""
    return set().union(*map(written, SOURCES), *COMPUTED.values())


def test_every_code_in_the_source_is_on_the_page(in_source):
    assert in_source - set(SECTIONS) - ON_THE_CATALOG_PAGE == set()


def test_every_code_on_the_page_is_in_the_source(in_source):
    assert set(SECTIONS) - in_source == set()


def refused_by_queries() -> set[str]:
    """The codes of all files that refuse because of what a query says."""
    places = [ROOT / "src" / "hedgerow" / place for place in ABOUT_QUERIES]
    files = [file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])]
    return set().union(*map(written, files), COMPUTED["plan/clauses.py"])


def in_the_corpus() -> set[str]:
    """The codes that head an entry of the corpus, in its file or among those that a test puts together."""
    blocks = (CORPUS / "refusals.txt").read_text(encoding="utf-8").strip("\n").split("\n\n")
    built = re.findall(r"Refusal\(\"([a-z-]+)\"", (CORPUS / "test_refusals.py").read_text(encoding="utf-8"))
    return {block.split("\n")[0] for block in blocks} | set(built)


def test_every_code_that_a_query_can_provoke_is_in_the_corpus_of_refusals():
    assert refused_by_queries() - in_the_corpus() == set(NOT_IN_THE_CORPUS)


def test_every_code_in_the_corpus_of_refusals_is_in_the_source(in_source):
    assert {code for code in in_the_corpus() if not code.startswith("#")} <= in_source


def test_most_refusals_of_queries_have_an_example_and_show_what_to_write():
    queries = refused_by_queries() - set(NOT_IN_THE_CORPUS)
    assert len(queries & set(EXAMPLES)) > 0.8 * len(queries)
    assert len(INSTEAD) >= 30


def test_no_other_file_puts_codes_together_at_run_time():
    home = ROOT / "src" / "hedgerow"
    assert {path.relative_to(home).as_posix() for path in SOURCES if computes(path)} <= set(COMPUTED)


@pytest.mark.parametrize(("file", "listed"), COMPUTED.items())
def test_the_codes_that_are_put_together_belong_to_a_file_that_exists(file, listed):
    text = (ROOT / "src" / "hedgerow" / file).read_text(encoding="utf-8")
    stems = {code.split("-")[0] for code in listed}
    assert any(f'"{stem}-' in text or f'"{code}"' in text for stem in stems for code in listed)


@pytest.mark.parametrize("code", SECTIONS)
def test_every_entry_says_something(code):
    assert re.search(r"[A-Z`].*\.", SECTIONS[code])


@pytest.fixture(scope="module")
def database(hospital):
    with hr.connect(hospital / "hospital.duckdb", catalog=hospital / "hospital.yaml") as opened:
        yield opened


@pytest.mark.parametrize("code", EXAMPLES)
def test_every_example_is_refused_by_its_code(database, code):
    with pytest.raises(hr.HedgerowError) as caught:
        database.sql(EXAMPLES[code])
    assert caught.value.code == code


@pytest.mark.parametrize(("code", "query"), INSTEAD, ids=[code for code, _ in INSTEAD])
def test_what_an_entry_shows_instead_is_answered(database, code, query):
    answer = database.sql(query, epsilon=0.01)
    assert answer.arrow().num_columns >= 1
    assert code in EXAMPLES


def test_the_source_has_more_than_a_hundred_codes(in_source):
    assert len(in_source) > 100
