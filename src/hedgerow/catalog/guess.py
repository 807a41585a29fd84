"""Guesses for a first catalog, from names and enforced keys alone. No row is read, and nothing is guessed from data.

A wrong guess that loads would protect the wrong thing (an order in place of the person who placed it), so a unit is
guessed only where the names speak of people. Everywhere else the owner is asked.
"""

import re
from dataclasses import dataclass

from hedgerow.catalog.names import fold
from hedgerow.schema import Schema, SchemaTable

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
    """A column that, by its name, holds the unique key of another table."""

    column: str
    table: str
    key: str


def words(name: str) -> tuple[str, ...]:
    """The words of a name, folded.

    >>> words("CustomerID"), words("order_lines"), words("userid")
    (('customer', 'id'), ('order', 'lines'), ('user', 'id'))
    """
    found = tuple(fold(word) for word in _WORD.findall(name))
    joined = found[-1].removesuffix("id") if found else ""
    return (*found[:-1], joined, "id") if joined in _PEOPLE and joined != found[-1] else found


def singular(word: str) -> str:
    """One of several, for the plurals that tables are named with.

    >>> singular("customers"), singular("people"), singular("companies"), singular("address")
    ('customer', 'person', 'company', 'address')
    """
    if word == "people":
        return "person"
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def names_person(column: str) -> bool:
    """Whether a column, by its name, says which person a row is about: `customer_id`, `PatientNo`, `user`."""
    found = words(column)
    if len(found) == 1:
        return found[0] in _PEOPLE
    return len(found) > 1 and found[-1] in _KEY_WORDS and found[-2] in _PEOPLE


def is_key(column: str) -> bool:
    """Whether a column, by its name, identifies something and measures nothing."""
    found = words(column)
    return bool(found) and found[-1] in _KEY_WORDS - {"number", "num", "no", "nr"}


def lists_people(table: str) -> bool:
    """Whether a table, by its name, has a row for each person: `customers`, `dim_patient`."""
    return _subject(table)[-1:] != () and _subject(table)[-1] in _PEOPLE


def _subject(table: str) -> tuple[str, ...]:
    found = tuple(word for word in words(table) if word not in _TABLE_WORDS)
    return (*found[:-1], singular(found[-1])) if found else ()


def single_keys(table: SchemaTable) -> list[str]:
    """The columns that the database enforces to be unique on their own, in the order of the table."""
    return [name for name in table.columns if frozenset({name}) in table.unique]


def unit_candidates(table: SchemaTable) -> list[str]:
    """The columns that may name the person; exactly one is a guess, none or several are a question."""
    named = [name for name in table.columns if names_person(name)]
    return _own_keys(table) or named if lists_people(table.name) else named


def _own_keys(table: SchemaTable) -> list[str]:
    own = (_subject(table.name)[-1], "id")
    plain = [name for name in table.columns if words(name) in {("id",), own}]
    enforced = single_keys(table)
    return [name for name in plain if name in enforced][:1] or enforced or plain


def references(table: SchemaTable, schema: Schema) -> list[Reference]:
    """The columns that obviously lead into another table: by their name, and by the unique key there."""
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
