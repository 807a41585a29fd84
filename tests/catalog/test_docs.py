"""The page about the catalog is true, and complete."""

import doctest
import re
from pathlib import Path
from textwrap import indent

import pytest

from hedgerow.catalog import bind_catalog, codes, names
from hedgerow.catalog import draft as guess
from hedgerow.catalog import load as read_column
from hedgerow.catalog import load as read_table
from hedgerow.catalog import load_budget as read_budget
from hedgerow.catalog import load_budget as read_limits
from hedgerow.catalog import patch as quote
from hedgerow.errors import CatalogError

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "catalog.md").read_text(encoding="utf-8")
GUIDE = (DOCS / "how-to" / "write-a-catalog.md").read_text(encoding="utf-8")
CODES = {value for name, value in vars(codes).items() if name.isupper()}
SECTIONS = dict(re.findall(r"^### `(catalog-[a-z-]+)`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLES = {code: re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) for code, text in SECTIONS.items()}
WITHOUT_EXAMPLE = {codes.FILE, codes.ENCODING, codes.EMPTY, codes.AMBIGUOUS}


def test_every_code_has_a_section_and_every_section_a_code():
    assert set(SECTIONS) == CODES


def test_every_code_that_a_text_can_show_has_an_example():
    assert {code for code, actual in EXAMPLES.items() if not actual} == WITHOUT_EXAMPLE


@pytest.mark.parametrize(("code", "example"), [(code, text) for code, texts in EXAMPLES.items() for text in texts])
def test_every_failing_example_fails_by_its_code(load, shop, code, example):
    rest = {
        "dataset": "dataset: shop\n",
        "budget": "budget: {epsilon: 3.0, delta: 1e-6}\n",
        "tables": "tables: {orders: {unit: customer_id}}\n",
    }
    head = "".join(text for field, text in rest.items() if not re.search(f"^{field}:", example, re.MULTILINE))
    with pytest.raises(CatalogError) as caught:
        bind_catalog(load(head + example), shop)
    assert caught.value.code == code


def test_the_example_at_the_top_loads_and_shows_every_field(load):
    example = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
    catalog = load(example)
    assert catalog.tables["customers"].unit_unique
    shown = set(re.findall(r"(\w+):", example))
    fields = {
        *read_budget._FIELDS,
        *read_limits.FIELDS,
        *read_table._FIELDS,
        "lower",
        "upper",
        "values",
        "type",
        "hidden",
    }
    assert fields - shown == {"queries", "accounting", "schedule"}


@pytest.mark.parametrize("piece", re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL))
def test_every_piece_of_the_guide_loads_in_its_place(load, piece):
    field = piece.split(":", maxsplit=1)[0]
    text = "dataset: hospital\nbudget: {epsilon: 3.0, delta: 1e-6}\n"
    if field == "columns":
        text += f"tables:\n  visits:\n    unit: patient_id\n{indent(piece, '    ')}"
    elif field == "limits":
        text += f"tables: {{visits: {{unit: patient_id}}}}\n{piece}"
    else:
        text += f"tables:\n{indent(piece, '  ')}"
    assert load(text).tables["visits"].unit == "patient_id"


@pytest.mark.parametrize("field", [*read_budget._FIELDS, *read_limits.FIELDS, *read_table._FIELDS, *read_column.TYPES])
def test_every_field_and_type_is_described(field):
    assert f"`{field}`" in PAGE


@pytest.mark.parametrize("module", [guess, names, quote])
def test_the_examples_in_docstrings_run(module):
    actual = doctest.testmod(module)
    assert actual.attempted > 0
    assert actual.failed == 0
