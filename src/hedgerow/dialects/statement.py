"""A statement in parts: named steps, and the query that reads them."""

from dataclasses import dataclass
from enum import Enum


class Computed(Enum):
    """Time at which a step is computed."""

    WHERE_READ = "where it is read"
    ONCE = "once, although it is read twice"
    AGAIN = "again wherever it is read"
    FIRST = "before the statement is planned"


@dataclass(frozen=True, slots=True)
class Step:
    """A query with a name, which later steps and the last query read as a table."""

    name: str
    query: str
    computed: Computed = Computed.WHERE_READ


@dataclass(frozen=True, slots=True)
class StatementParts:
    """Steps in order, and the last query."""

    steps: tuple[Step, ...]
    query: str


MATERIALIZED = {Computed.ONCE: "MATERIALIZED ", Computed.FIRST: "MATERIALIZED "}
"""Words of engines that can be told to compute a step once."""
