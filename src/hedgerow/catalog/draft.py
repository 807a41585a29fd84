"""The first catalog that `hedgerow init` writes: everything private, with comments that teach."""

from collections.abc import Iterator

from hedgerow.catalog import codes
from hedgerow.catalog.draft_table import draft_table
from hedgerow.catalog.names import fold
from hedgerow.catalog.quote import quote
from hedgerow.catalog.remark import remark
from hedgerow.errors import CatalogError
from hedgerow.schema import Schema

_HEADING = """\
# What hedgerow protects, and how much may be learnt about it.
#
# Written from the database's schema; no row was read. Everything is private until you say otherwise.
#   1. Replace each ??? that is not in a comment: until then the catalog does not load.
#   2. Read each guess. The unit is whom you protect: a person, not an order or a visit.
#   3. Give bounds to the columns that will be summed or averaged. Take them from what you know about
#      the subject, never from the data: a bound that was read off the data gives something away.
# Then run `hedgerow check`. The file is YAML 1.2: 1e-6 is a number, and `on`, `yes`, `no` are words.
"""


def draft_catalog(
    schema: Schema,
    *,
    dataset: str,
    ledger_id: str | None,
    epsilon: float = 3.0,
    delta: float = 1e-6,
    pure_epsilon: float = 0.0,
) -> str:
    """The text of a first catalog for the tables of `schema`.

    It loads once each open `???` is replaced, and where the names leave no doubt it loads at once.
    """
    if not schema.tables:
        raise CatalogError(
            "The database has no table, so there is nothing to protect.",
            code=codes.UNKNOWN_TABLE,
            hint="Name a database that has tables.",
        )
    parts = [
        _HEADING,
        remark(f"dataset: {quote(dataset)}", "the ledger is keyed by this name"),
        remark('# version: "1"', "change it with the data: answers are reused within one version"),
        "",
        *_budget(epsilon, delta, pure_epsilon, ledger_id),
        "",
        *_defaults(),
        "",
        "tables:",
        *_tables(schema),
    ]
    return "\n".join(parts) + "\n"


def _budget(epsilon: float, delta: float, pure_epsilon: float, ledger_id: str | None) -> Iterator[str]:
    yield "budget:"
    yield remark(
        f"  epsilon: {_number(epsilon)}", "how much all answers together may reveal about one person; 1 is cautious"
    )
    yield remark(
        f"  delta: {_number(delta)}", "the probability that they reveal more; far less than one in the number of people"
    )
    yield remark(
        f"  pure_epsilon: {_number(pure_epsilon)}", "the part of epsilon kept for Laplace noise: 0 suits many queries,"
    )
    yield remark("", "all of epsilon suits a handful. It cannot be changed later")
    yield remark("  # refresh: 30d", "a new budget for each period (12h, 30d, 4w); without it there is one, for ever")
    yield remark("  # lifetime: {epsilon: 12.0}", "with refresh: the most over all periods together")
    yield remark("  # per_query: {epsilon: 1.0}", "the most that one statement may ask for")
    yield remark("  # analysts: {default: {epsilon: 1.0}}", "the most for each analyst, inside the total")
    name = f"  ledger: {quote(ledger_id)}" if ledger_id else "  # ledger: …"
    yield remark(name, "the ledger's id: without that ledger nothing is answered, so deleting it buys nothing")


def _number(value: float) -> str:
    return repr(value).replace("e-0", "e-")


def _defaults() -> Iterator[str]:
    yield remark("# defaults:", "used when a query does not say; remove the # to set them")
    yield remark("#   epsilon: 0.1", "without it, every query must state its own")
    yield remark("#   delta: 1e-8", "likewise")
    yield remark("#   min_frequency: 10", "no group of fewer people is shown; a query may ask for more")
    yield remark("#   confidence: 0.95", "how often an error bar holds")


def _tables(schema: Schema) -> Iterator[str]:
    seen: set[str] = set()
    for table in schema.tables.values():
        if fold(table.name) in seen:
            yield f"  # {quote(table.name)} is left out: its name differs from another table's only in case."
        else:
            yield from draft_table(table, schema)
        seen.add(fold(table.name))
