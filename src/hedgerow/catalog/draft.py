"""The first catalog that `hedgerow init` writes: everything private, with explanatory comments.

Guesses come from names and enforced keys alone; `Decisions` are the owner's. A wrong guess that loads would protect the
wrong thing (an order instead of the person who placed it), so a unit is guessed only where the names refer to people.
Everywhere else the owner must decide.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hedgerow.catalog import codes
from hedgerow.catalog.names import fold
from hedgerow.catalog.patch import quote
from hedgerow.catalog.strict_yaml import FILL_IN
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

_MARGIN = 38

USUAL_ROWS = 10
"""Rows of one person that count in full, where nobody said."""


def remark(line: str, comment: str) -> str:
    """Return `line` with `comment` after it, aligned where the line is short enough."""
    return f"{line:<{_MARGIN}}  # {comment}"


_PEOPLE = frozenset(
    {
        "applicant",
        "borrower",
        "buyer",
        "citizen",
        "client",
        "consumer",
        "customer",
        "donor",
        "employee",
        "guest",
        "individual",
        "member",
        "participant",
        "passenger",
        "patient",
        "person",
        "player",
        "policyholder",
        "pupil",
        "resident",
        "respondent",
        "student",
        "subscriber",
        "user",
        "visitor",
        "voter",
        "worker",
    }
)
_KEY_WORDS = frozenset({"id", "key", "no", "nr", "number", "num", "uuid", "guid", "ref", "code", "pk", "fk", "sk"})
_TABLE_WORDS = frozenset({"dim", "tbl", "table", "t", "d", "data"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """A column whose name suggests that it references the unique key of another table."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of the owner, made before the catalog is drafted.

    Attributes:
        people: Tables, and the column of each that names the person.
        public: Tables whose rows are not about people.
        max_rows: Rows of one person that count in full; None leaves it open.
        types: Types of columns that the source keeps as text, by table.
        price: Epsilon and delta of a question that states none; None leaves them open.
        typed_by_values: True if values of the source were read to find types.
    """

    people: Mapping[str, str] = field(default_factory=dict)
    public: frozenset[str] = frozenset()
    max_rows: int | None = None
    types: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    price: tuple[float, float] | None = None
    typed_by_values: bool = False


UNDECIDED = Decisions()


def words(name: str) -> tuple[str, ...]:
    """The words of a name, folded.

    >>> words("CustomerID"), words("order_lines"), words("userid")
    (('customer', 'id'), ('order', 'lines'), ('user', 'id'))
    """
    parts = tuple(fold(word) for word in _WORD.findall(name))
    joined = parts[-1].removesuffix("id") if parts else ""
    return (*parts[:-1], joined, "id") if joined in _PEOPLE and joined != parts[-1] else parts


def singular(word: str) -> str:
    """Return the singular of a table's name.

    >>> singular("customers"), singular("people"), singular("companies"), singular("address")
    ('customer', 'person', 'company', 'address')
    """
    if word == "people":
        return "person"
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def names_person(column: str) -> bool:
    """True if a column's name says that it identifies a person: `customer_id`, `PatientNo`, `user`."""
    parts = words(column)
    if len(parts) == 1:
        return parts[0] in _PEOPLE
    return len(parts) > 1 and parts[-1] in _KEY_WORDS and parts[-2] in _PEOPLE


def is_key(column: str) -> bool:
    """True if a column's name says that it identifies something and measures nothing."""
    parts = words(column)
    return bool(parts) and parts[-1] in _KEY_WORDS - {"number", "num", "no", "nr"}


def lists_people(table: str) -> bool:
    """True if a table's name says that it has a row for each person: `customers`, `dim_patient`."""
    return _subject(table)[-1:] != () and _subject(table)[-1] in _PEOPLE


def _subject(table: str) -> tuple[str, ...]:
    parts = tuple(word for word in words(table) if word not in _TABLE_WORDS)
    return (*parts[:-1], singular(parts[-1])) if parts else ()


def single_keys(table: SchemaTable) -> list[str]:
    """The columns that the database enforces to be unique on their own, in the order of the table."""
    return [name for name in table.columns if frozenset({name}) in table.unique]


def unit_candidates(table: SchemaTable) -> list[str]:
    """Return the columns that may identify the person; with exactly one it is guessed, otherwise the owner is asked."""
    named = [name for name in table.columns if names_person(name)]
    if not lists_people(table.name):
        return named
    own = (_subject(table.name)[-1], "id")
    plain = [name for name in table.columns if words(name) in {("id",), own}]
    enforced = single_keys(table)
    return [name for name in plain if name in enforced][:1] or enforced or plain or named


def references(table: SchemaTable, schema: Schema) -> list[Reference]:
    """Return the columns that reference another table, by their name and by the unique key there."""
    return [
        Reference(column, other.name, key)
        for other in schema.tables.values()
        if other.name != table.name
        for key in single_keys(other)
        for column in table.columns
        if _leads_to(column, other.name, key)
    ]


def _leads_to(column: str, table: str, key: str) -> bool:
    if fold(column) == fold(key):
        return len(words(key)) > 1 and words(key)[-2:-1] == _subject(table)[-1:]
    return words(column) == (*_subject(table), *words(key))


_NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})


def draft_table(table: SchemaTable, schema: Schema, decisions: Decisions = UNDECIDED) -> Iterator[str]:
    """Return the lines for `table`, private, with its unit decided, guessed or left open."""
    yield f"  {quote(table.name)}:"
    if table.name in decisions.public:
        yield remark("    public: true", "the rows are not about people")
        return
    candidates = unit_candidates(table)
    decided = decisions.people.get(table.name)
    unit = decided or (candidates[0] if len(candidates) == 1 else None)
    links = [link for link in references(table, schema) if link.column != unit]
    if unit is None:
        yield remark(f"    unit: {FILL_IN}", "FILL IN the column that names the person each row is about")
        for name in candidates or ([] if links else single_keys(table)):
            reason = "by its name" if names_person(name) else "if each row is about another person"
            yield remark(f"    # unit: {quote(name)}", f"perhaps this one, {reason}")
        yield remark("    # public: true", "instead of a unit, if the rows are not about people (a list of countries)")
        yield from _limits(decisions.max_rows)
    else:
        yield from _unit(table, unit, decisions.max_rows, guessed=decided is None)
    for link in links:
        path = f"{{through: {quote(link.table)}, on: {{{quote(link.column)}: {quote(link.key)}}}}}"
        yield f"    # If {quote(link.table)} knows the person, by way of {quote(link.column)}, write instead:"
        yield f"    # unit: {path}"
    types = decisions.types.get(table.name, {})
    yield from _columns([column for name, column in table.columns.items() if name != unit], types)
    if not types and all(column.type is Type.TEXT for column in table.columns.values()):
        yield "      # All columns are text, as in every CSV file. Give numbers and dates a type, for instance"
        yield "      # age: {type: integer, lower: 0, upper: 120}   or   day: {type: date}"


def _unit(table: SchemaTable, unit: str, max_rows: int | None, *, guessed: bool) -> Iterator[str]:
    reason = (
        "a guess from the names: the person each row is about. Is it?" if guessed else "the person each row is about"
    )
    yield remark(f"    unit: {quote(unit)}", reason)
    if unit in single_keys(table):
        yield remark("    unit_unique: true", "one row for each unit; the database enforces it")
    else:
        yield from _limits(USUAL_ROWS if guessed and max_rows is None else max_rows)


def _limits(max_rows: int | None) -> Iterator[str]:
    line = f"    # max_rows: {USUAL_ROWS}" if max_rows is None else f"    max_rows: {max_rows}"
    yield remark(line, "rows of one unit that count in full; without it every query must say")
    yield remark(
        "    # max_groups: 3", "groups of an answer that one unit counts in; fewer let smaller groups be shown"
    )


def _columns(columns: list[SchemaColumn], types: Mapping[str, Type]) -> Iterator[str]:
    yield remark("    columns:", "remove the # of those you fill in; {hidden: true} forbids any use of a column")
    for column in columns:
        if (kind := types.get(column.name)) is not None:
            summed = kind in _NUMBERS and not is_key(column.name)
            hint = "add lower and upper to sum or average it" if summed else "to filter and group by"
            yield remark(f"      {quote(column.name)}: {{type: {kind.value}}}", hint)
    columns = [column for column in columns if column.name not in types]
    measured = [column for column in columns if column.type in _NUMBERS and not is_key(column.name)]
    listed = [column for column in columns if column.type is Type.TEXT and not names_person(column.name)]
    for column in measured:
        yield remark(f"      # {quote(column.name)}: {{lower: {FILL_IN}, upper: {FILL_IN}}}", column.type.value)
    for column in listed:
        yield remark(f"      # {quote(column.name)}: {{values: [{FILL_IN}]}}", "only if the list is public knowledge")
    rest = [column for column in columns if column not in measured and column not in listed]
    usable = [quote(column.name) for column in rest if column.type is not Type.OTHER]
    useless = [quote(column.name) for column in rest if column.type is Type.OTHER]
    if usable:
        yield f"      # Private values too, to filter and group by: {', '.join(usable)}"
    if useless:
        yield f"      # Of a type that queries cannot use: {', '.join(useless)}"


_HEADING = """\
# What hedgerow protects, and how much may be learnt about it.
#
# Written from the database's schema; {rows}. Everything is private until you say otherwise.
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
    decisions: Decisions = UNDECIDED,
) -> str:
    """The text of a first catalog for the tables of `schema`, with what the owner decided.

    It loads once each open `???` is replaced, and where the names leave no doubt it loads at once.
    """
    if not schema.tables:
        raise CatalogError(
            "The database has no table, so there is nothing to protect.",
            code=codes.UNKNOWN_TABLE,
            hint="Name a database that has tables.",
        )
    parts = [
        _HEADING.format(rows="of CSV files, values tell the types" if decisions.typed_by_values else "no row was read"),
        remark(f"dataset: {quote(dataset)}", "the ledger is keyed by this name"),
        remark('# version: "1"', "change it with the data: answers are reused within one version"),
        "",
        *_budget(epsilon, delta, pure_epsilon, ledger_id),
        "",
        *_defaults(decisions.price),
        "",
        "tables:",
        *_tables(schema, decisions),
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


def _defaults(price: tuple[float, float] | None) -> Iterator[str]:
    if price is None:
        yield remark("# defaults:", "used when a query does not say; remove the # to set them")
        yield remark("#   epsilon: 0.1", "without it, every query must state its own")
        yield remark("#   delta: 1e-8", "likewise")
    else:
        yield remark("defaults:", "used when a query does not say")
        yield remark(f"  epsilon: {_number(price[0])}", "the price of a query that states none")
        yield remark(f"  delta: {_number(price[1])}", "likewise")
    start = "#   " if price is None else "  # "
    yield remark(f"{start}min_frequency: 10", "no group of fewer people is shown; a query may ask for more")
    yield remark(f"{start}confidence: 0.95", "how often an error bar holds")


def _tables(schema: Schema, decisions: Decisions) -> Iterator[str]:
    seen: set[str] = set()
    for table in schema.tables.values():
        if fold(table.name) in seen:
            yield f"  # {quote(table.name)} is left out: its name differs from another table's only in case."
        else:
            yield from draft_table(table, schema, decisions)
        seen.add(fold(table.name))
