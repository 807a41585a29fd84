"""What an engine must offer: a schema, and a snapshot in which compiled queries run.

A backend runs SQL that `compile` wrote and returns keys and integers. It does not bound, clip,
threshold, order or draw noise.
"""

import logging
import secrets
from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa

from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.errors import BackendError
from hedgerow.exact import ExactTable
from hedgerow.schema import Schema, SchemaTable

owners_log = logging.getLogger("hedgerow.owner")
"""Causes of failures, which may quote private values. It goes nowhere unless the owner attaches a handler."""

owners_log.addHandler(logging.NullHandler())
owners_log.propagate = False


class Snapshot(Protocol):
    """One consistent state of the data; everything a statement reads, it reads here."""

    def table(self, name: str) -> SchemaTable | None:
        """What the database declares of one table now."""

    def load(self, name: str, table: pa.Table) -> None:
        """Hand a table of released values to the engine, under `name`."""

    def run(self, query: Query) -> ExactTable:
        """Keys and integers, sealed."""


class Backend(Protocol):
    """A place where rows live."""

    dialect: Dialect
    handed_in: bool

    def schema(self) -> Schema:
        """Tables, columns, types and constraints; never values."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A consistent state to read from."""

    def public(self, sql: str) -> pa.Table:
        """The result of a query over public tables."""

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Whether no two rows agree on `columns` now. The owner's question: it looks at the data."""

    def close(self) -> None:
        """Let go of the engine."""


def failure(error: BaseException) -> BackendError:
    """The one sentence an analyst sees when the engine fails, with a number for the owner.

    Privacy: an engine's message can quote values. It goes to the owner's log alone, and the exception
    must be raised `from None`.
    """
    incident = secrets.token_hex(4)
    owners_log.error("incident %s: %s: %s", incident, type(error).__name__, error)
    return BackendError(
        f"The database could not run the query (incident {incident}).",
        code="engine-failed",
        hint="The owner's log has the cause under that number.",
        incident=incident,
    )
