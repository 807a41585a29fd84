"""The schema of a database: names, types and enforced constraints of its tables. Never values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hedgerow.expressions.table_names import full_name
from hedgerow.expressions.types import Type


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """One column as the database declares it.

    `native` is the database's own name of the type, for messages and casts; `nullable` is False only
    where the database enforces NOT NULL; `collated` is False only where comparison is guaranteed bytewise. `loose` says
    that stored values do not have the type yet (a UUID called text), so they are read through a cast to it.
    `instant` says that values are points in time (TIMESTAMP WITH TIME ZONE), which are read in the catalog's time zone.
    """

    name: str
    type: Type
    native: str = ""
    nullable: bool = True
    collated: bool = True
    loose: bool = False
    instant: bool = False


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """One table or view. `unique` holds each set of columns that the database enforces to be unique."""

    name: str
    columns: Mapping[str, SchemaColumn]
    unique: frozenset[frozenset[str]] = field(default_factory=frozenset)

    def is_unique(self, columns: frozenset[str]) -> bool:
        """True if the database enforces that no two rows agree on all of `columns`."""
        return any(key <= columns for key in self.unique)


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables of a database, by name (in the database's own spelling).

    `namespace` is the current database and schema, outermost first. A table in it has a plain name. The name of another
    table begins with its schema, and with its database if that is another one: see `expressions.table_names`.
    """

    tables: Mapping[str, SchemaTable]
    namespace: tuple[str, ...] = ()

    def full_name(self, name: str) -> tuple[str, ...]:
        """Return all parts of the name of a table."""
        return full_name(name, self.namespace)
