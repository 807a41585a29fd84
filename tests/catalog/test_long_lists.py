"""Long lists of plain values are read without the parser, and the tree is the one that the parser gives."""

import random

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from hedgerow.catalog import load_catalog
from hedgerow.catalog.long_lists import LEAST, compose_with_long_lists
from hedgerow.errors import CatalogError

MANY = LEAST + 20
WORDS = ("k{}", "{}", "{}.5", "Ärzte {}", "O'Neil ({})", '"{}, a"', "'- {}'", "{} & Co", "0x{}", "null", "a-{}")


def values(turn=None):
    """Values of one kind, or of all kinds by turns."""
    kinds = WORDS if turn is None else [WORDS[turn]]
    return [random.choice(kinds).format(i) for i in range(MANY)]


def lines(items, indent=4):
    return "".join(f"{' ' * indent}- {item}\n" for item in items)


def brackets(items, separator=", "):
    return f"[{separator.join(items)}]"


BREAK = ",\n     "


def plain(node):
    """A tree as lists and tuples, with positions."""
    at = (node.start_mark.index, node.end_mark.index, node.start_mark.line)
    if isinstance(node, ScalarNode):
        return (node.value, node.style or None, at)
    parts = [plain(part) for pair in node.value for part in (pair if isinstance(node, MappingNode) else [pair])]
    return (isinstance(node, SequenceNode), parts, at)


def parsed(text):
    return plain(YAML(typ="safe", pure=True).compose(text))


@pytest.mark.parametrize("turn", [None, 5, 6])
def test_a_long_list_gives_the_tree_of_the_parser(turn):
    for text in (
        f"a: 1\nb:\n{lines(values(turn))}c: [x, y] # a note\n",
        f"b: {{values: {brackets(values(turn))}, more: 2}}\nc: 3\n",
        f"b: {brackets(values(turn), BREAK)}\nc:\n{lines(values(turn))}d: {brackets(values(turn))}\n",
        lines(values(turn), 0),
        f"b: {brackets([*values(turn), 'x: y', '{z: 1}', *values(turn)])}\n",
    ):
        read = compose_with_long_lists(text)
        assert read is not None
        assert plain(read) == parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        f"a: |\n{lines(values())}",
        f"a: 'some {brackets([f'k{i}' for i in range(MANY)])} words'\n",
        f"# {brackets(values())}\na: 1\n",
        f"a: {{{', '.join(f'k{i}' for i in range(MANY))}}}\n",
        f"a:\n  - {', '.join(f'k{i}' for i in range(MANY))}\n",
        f"a:\n{lines([*values(), 'plain'])}      goes on\n",
        f"a: !tag {brackets(values())}\n",
        "a: [1, 2]\n",
    ],
)
def test_what_only_looks_like_a_long_list_is_left_to_the_parser(text):
    read = compose_with_long_lists(text)
    assert read is None or plain(read) == parsed(text)


CATALOG = """\
dataset: shop
budget: {{epsilon: 1, delta: 1e-6}}
tables:
  sales:
    unit: person
    max_rows: 3
    columns:
      product:
        values:
{values}
      amount: {{lower: 0, upper: {upper}}}
"""


def test_errors_point_at_the_line_of_a_value_and_of_what_follows(tmp_path):
    path = tmp_path / "shop.yaml"
    listed = [f"k{i}" for i in range(MANY)]
    path.write_text(CATALOG.format(values=lines(listed, 10), upper=9))
    assert load_catalog(path).tables["sales"].columns["product"].values == tuple(listed)
    for written, upper, line in ((["k7", *listed], 9, 18), (listed, "many", MANY + 11)):
        path.write_text(CATALOG.format(values=lines(written, 10), upper=upper))
        with pytest.raises(CatalogError) as caught:
            load_catalog(path)
        assert caught.value.span.line == line
