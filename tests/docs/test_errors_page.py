"""Every error code in the source has its place on the page, and every code on the page is in the source."""

import ast
import re
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.catalog import codes
from hedgerow.plan.clauses import REFUSED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([a-z-]+)`\n\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLES = {code: found[1] for code, text in SECTIONS.items() if (found := re.search(r"```sql\n(.*?)\n```", text))}
ON_THE_CATALOG_PAGE = {value for name, value in vars(codes).items() if name.isupper()}

COMPUTED = {
    "engine/parameters.py": ["bad-epsilon", "bad-delta", "bad-confidence", "bad-min-frequency", "bad-bounds"],
    "privacy/bounding.py": ["bad-max-rows", "bad-max-groups"],
    "ledger/filters.py": ["budget-gaussian", "budget-pure", "budget-mass", "budget-analyst", "budget-lifetime"],
    "plan/clauses.py": [*(code for code, _, _ in REFUSED.values()), "clause"],
    "backends/duckdb.py": ["open-here", "open-elsewhere"],
}
"""Codes that are put together at run time, by the file that does so."""


def written(path: Path) -> set[str]:
    """The codes that stand in a file as `code="…"`, as an argument or as the code of a class."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
            found.add(node.value.value)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(name, ast.Name) and name.id == "code" for name in names):
                found.add(node.value.value)
    return {code for code in found if isinstance(code, str)}


def computes(path: Path) -> bool:
    """Whether a file passes on a code that does not stand there as text, nor comes from the catalog's list."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.JoinedStr | ast.IfExp):
            parts = [n for n in ast.walk(node.value) if isinstance(n, ast.Attribute)]
            if not any(isinstance(n.value, ast.Name) and n.value.id == "codes" for n in parts):
                return True
    return False


SOURCES = sorted((ROOT / "src" / "hedgerow").rglob("*.py"))
IN_SOURCE = set().union(*map(written, SOURCES), *COMPUTED.values())


def test_every_code_in_the_source_is_on_the_page():
    assert IN_SOURCE - set(SECTIONS) - ON_THE_CATALOG_PAGE == set()


def test_every_code_on_the_page_is_in_the_source():
    assert set(SECTIONS) - IN_SOURCE == set()


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


def test_the_source_has_more_than_a_hundred_codes():
    assert len(IN_SOURCE) > 100
