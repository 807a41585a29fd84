"""Changes of a catalog: the values, and nothing else."""

import pytest

from hedgerow.catalog import load_catalog
from hedgerow.catalog.patch import patched

HEAD = "dataset: shop\nbudget: {epsilon: 3.0, delta: 1e-6}\n"
COLUMN = ("tables", "orders", "columns", "price")
CHANGES = {
    ("tables", "orders", "max_rows"): 12,
    (*COLUMN, "calibrated"): {"date": "2026-01-31", "epsilon": 0.05},
    (*COLUMN, "upper"): 512.5,
    (*COLUMN, "lower"): -4,
}
ORDERS = "tables:\n  orders:\n    unit: id\n"
SHAPES = {
    "flow": "tables:\n  orders: {unit: id}   # whose\n",
    "flow with columns": "tables: {orders: {unit: id, columns: {other: {hidden: true}}}}\n",
    "block": "tables:\n  # orders\n  orders:\n    unit: id   # whose\n\n    # the end\n",
    "block with columns": f"{ORDERS}    columns:\n      # first\n      other: {{type: date}}\n",
    "empty columns": f"{ORDERS}    columns:   # fill in\n      # price: {{lower: ???}}\n",
    "block column": f"{ORDERS}    columns:\n      price:\n        type: float # so\n  b: {{public: true}}\n",
    "flow column": f"{ORDERS}    columns:\n      PRICE: {{type: float}}  # so\n      b: {{hidden: true}}\n",
    "empty column": f"{ORDERS}    columns:\n      price:\n      other: {{hidden: true}}\n",
    "quoted": 'tables:\n  "orders":\n    unit: "id"\n    "columns": {"price": {type: "float"}}\n',
}


def is_inside(part, whole):
    """True if `part` can be had from `whole` by taking characters away."""
    letters = iter(whole)
    return all(letter in letters for letter in part)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_new_is_added_and_all_else_stays(tmp_path, name, line_end):
    before = (HEAD + SHAPES[name]).replace("\n", line_end)
    after = patched(before, CHANGES)
    assert is_inside(before, after)
    assert len(after) - len(before) < 200
    assert after.count("\n") == after.count(line_end)
    for line in before.split(line_end):
        if "#" in line:
            assert line[line.index("#") :] in after
    (tmp_path / "c.yaml").write_bytes(after.encode())
    table = load_catalog(tmp_path / "c.yaml").table("orders")
    column = table.column("price")
    assert (table.max_rows, column.lower, column.upper) == (12, -4, 512.5)
    assert (column.calibrated.date, column.calibrated.epsilon) == ("2026-01-31", 0.05)


@pytest.mark.parametrize("margin", ["      ", "          "])
def test_commented_lines_below_an_empty_entry_can_still_be_filled_in(tmp_path, margin):
    """`hedgerow init` writes such lines, and `hedgerow calibrate --write` comes before the owner fills them in."""
    before = f"{HEAD}{ORDERS}    columns:   # fill in\n{margin}# age: {{lower: ???, upper: ???}}\n"
    after = patched(before, CHANGES).replace("# age: {lower: ???, upper: ???}", "age: {lower: 0, upper: 99}")
    (tmp_path / "c.yaml").write_text(after)
    table = load_catalog(tmp_path / "c.yaml").table("orders")
    assert (table.column("price").upper, table.column("age").upper) == (512.5, 99)


def test_an_empty_entry_at_the_end_of_a_file_is_filled(tmp_path):
    (tmp_path / "c.yaml").write_text(patched(f"{HEAD}{ORDERS}    columns:", CHANGES))
    assert load_catalog(tmp_path / "c.yaml").table("orders").column("price").lower == -4


def test_what_is_there_is_exchanged_where_it_stands():
    column = "price: {lower: 0, upper: 9, calibrated: {date: 2025-01-01, epsilon: 1}}"
    before = f"{HEAD}tables:\n  orders:\n    max_rows: 3   # guess\n    unit: id\n    columns:\n      {column} # p\n"
    after = patched(before, CHANGES)
    column = "price: {lower: -4, upper: 512.5, calibrated: {date: 2026-01-31, epsilon: 0.05}}"
    assert (
        after
        == f"{HEAD}tables:\n  orders:\n    max_rows: 12   # guess\n    unit: id\n    columns:\n      {column} # p\n"
    )


def test_a_note_in_a_block_is_exchanged_with_its_comments_around():
    note = "calibrated:\n          date: 2025-01-01\n          epsilon: 1\n      # next\n"
    before = f"{HEAD}{ORDERS}    columns:\n      price:\n        lower: 0\n        upper: 9\n        {note}"
    after = patched(before, {(*COLUMN, "calibrated"): {"date": "2026-01-31", "epsilon": 2.0}})
    assert after.endswith("        calibrated:\n          {date: 2026-01-31, epsilon: 2.0}\n      # next\n")


def test_patching_twice_is_patching_once():
    once = patched(HEAD + SHAPES["block"], CHANGES)
    assert patched(once, CHANGES) == once
