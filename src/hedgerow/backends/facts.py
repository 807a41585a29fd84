"""Facts about rows that cannot change, kept with a connection: small tables, each under the SQL text that computes it.

The owner may also keep them in a file beside the data (`hedgerow prepare`), for connections to come.

Privacy: a fact is never released, shown or logged. It only decides which of several statements with the same result
runs (`compile.facts`). It holds for one state of the data, as a backend identifies it (`state`). A false fact would
void the limits, so a file is read only if nobody but the user of this process (or root) could have written it.
"""

import contextlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from stat import S_IWGRP, S_IWOTH
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.compiled import BEYOND, HEAVY, OwnerColumn, Query
from hedgerow.errors import InternalError
from hedgerow.exact import ExactTable

MOST_FACTS = 200
"""Maximum number of facts of a connection; those that were not read for the longest time are dropped."""

SETTLED_NS = 2_000_000_000
"""Nanoseconds after which another change of a file is sure to change its times."""


class KeptFacts:
    """The facts of one connection, for all its threads."""

    def __init__(self, prepared: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._path = prepared
        self._prepared: Mapping[tuple[str, str], bytes] | None = None
        self._tables: OrderedDict[Hashable, pa.Table | None] = OrderedDict()
        self._asked: OrderedDict[Hashable, pa.Table | None] = OrderedDict()
        self._vain: OrderedDict[Hashable, pa.Table | None] = OrderedDict()

    @property
    def has_file(self) -> bool:
        """True if facts can be kept beside the data."""
        return self._path is not None

    def __repr__(self) -> str:
        return "KeptFacts(sealed)"

    def __reduce__(self) -> str:
        raise TypeError("Facts about rows do not leave the process.")

    def table(self, name: Hashable, compute: Callable[[], pa.Table], *, at_once: bool) -> pa.Table | None:
        """Return a fact, computing it when it is first needed, or when it is needed again unless `at_once`.

        None while another thread computes it, and forever if that failed: the statement then runs without facts.
        """
        with self._lock:
            if name in self._tables:
                self._tables.move_to_end(name)
                return self._tables[name]
            if (prepared := self._prepared_table(name)) is not None:
                _put(self._tables, name, prepared)
                return prepared
            if not at_once and name not in self._asked:
                _put(self._asked, name, None)
                return None
            _put(self._tables, name, None)
        table = compute()
        with self._lock:
            _put(self._tables, name, table)
        return table

    def _prepared_table(self, name: Hashable) -> pa.Table | None:
        """Return a fact that the owner prepared for this state of the data."""
        if self._path is None or not isinstance(name, tuple):
            return None
        if self._prepared is None:
            self._prepared = _read_prepared(self._path)
        state, sql = name
        stored = self._prepared.get((json.dumps(state), sql))
        return None if stored is None else pa.ipc.open_stream(stored).read_all()

    def forget(self, state: Hashable) -> None:
        """Drop what was computed for a state that did not last: it may be about other rows."""
        with self._lock:
            for name in [name for name in self._tables if isinstance(name, tuple) and name[0] == state]:
                del self._tables[name]

    def is_vain(self, sql: str) -> bool:
        """Return True if a short statement once failed to prove its result: it is not tried again."""
        return sql in self._vain

    def note_vain(self, sql: str) -> None:
        """Do without a short statement from now on."""
        with self._lock:
            _put(self._vain, sql, None)

    def save(self) -> int:
        """Write all facts that are known to the file beside the data, and return their number."""
        if self._path is None:
            raise InternalError("Facts have no file beside the data.")
        with self._lock:
            known = {name: table for name, table in self._tables.items() if table is not None}
        names = [name for name in known if isinstance(name, tuple)]
        columns = {
            "state": pa.array([json.dumps(state) for state, _ in names], pa.string()),
            "query": pa.array([sql for _, sql in names], pa.string()),
            "fact": pa.array([_dumped(known[name]) for name in names], pa.binary()),
        }
        unfinished = self._path.with_name(f"{self._path.name}.part")
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_dumped(pa.table(columns).replace_schema_metadata({b"hedgerow": FORMAT})))
        unfinished.replace(self._path)
        return len(names)


class OwnerColumns:
    """The owner columns of one connection (`compile.paths`), for all its threads, within a limit of bytes.

    They stay in memory: they are not written to the file beside the data.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: dict[str, tuple[Hashable, pa.Table | None]] = {}
        self._asked: dict[str, Hashable] = {}
        self._bytes = 0
        self.max_bytes = 0

    def __repr__(self) -> str:
        return "OwnerColumns(sealed)"

    def __reduce__(self) -> str:
        raise TypeError("Facts about rows do not leave the process.")

    def table(
        self, column: OwnerColumn, state: Hashable, count: Callable[[], int], read: Callable[[], pa.Table]
    ) -> pa.Table | None:
        """Return an owner column, reading it when it is needed for the second time.

        None while another thread reads it, and as long as the state lasts if it cannot be used: if there is no room,
        if reading failed, or if some row leads to two owners. Room is taken before a column is read.
        """
        sql = column.column.sql
        with self._lock:
            kept_state, table = self._columns.get(sql, (None, None))
            if kept_state == state:
                return table
            if self._asked.get(sql) != state:
                self._asked[sql] = state
                return None
            self._bytes -= 0 if table is None else table.nbytes
            self._columns[sql] = (state, None)
        rows = count()
        taken = rows * len(column.column.integers) * BYTES_OF_A_NUMBER
        with self._lock:
            if self._bytes + taken > self.max_bytes:
                return None
            self._bytes += taken
        table = None
        try:
            table = _narrowed(read())
            table = table if table.num_rows == rows else None
        finally:
            with self._lock:
                self._bytes += (0 if table is None else table.nbytes) - taken
                self._columns[sql] = (state, table)
        return table

    def forget(self, column: OwnerColumn, state: Hashable) -> None:
        """Do without a column, as long as the state lasts."""
        with self._lock:
            _, table = self._columns.get(column.column.sql, (None, None))
            self._bytes -= 0 if table is None else table.nbytes
            self._columns[column.column.sql] = (state, None)


BYTES_OF_A_NUMBER = 9
"""Maximum number of bytes of a number in a column, with its share of the bits that mark missing ones."""


def _narrowed(table: pa.Table) -> pa.Table:
    """Return the numbers in 32 bits where all of a column fit, in one piece."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        minimum, maximum = pc.min_max(column).values()
        fits = minimum.is_valid and minimum.as_py() >= -(2**31) and maximum.as_py() < 2**31
        columns[name] = (column.cast(pa.int32()) if fits else column).combine_chunks()
        table = table.drop_columns([name])
    return pa.table(columns)


class ReadsFacts(Protocol):
    """The part of a snapshot that computes facts, keeps them with the connection and loads them into the engine."""

    facts: KeptFacts

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:
        """Return the result of a query as it is; with `state`, over the rows that the state identifies."""

    def load(self, name: str, table: pa.Table) -> None:
        """Pass a table to the engine."""

    def run(self, query: Query) -> ExactTable:
        """Return keys and integers, sealed."""
        return ExactTable(self.read(query), query.keys, query.integers)

    def fact(self, name: str, query: Query, state: Hashable, *, at_once: bool) -> int | None:
        """Make a fact available to statements under `name`, and return its number of rows; None if it is not known."""
        fact = self.facts.table((state, query.sql), lambda: as_words(self.read(query, state), query), at_once=at_once)
        if fact is None or (name == HEAVY and not _is_legible(fact.column(0))):
            return None
        self.load(name, fact)
        return int(fact.num_rows)

    def run_known(self, query: Query, state: Hashable) -> ExactTable:
        """Return keys and integers of a statement that relies on facts, sealed."""
        return ExactTable(self.read(query, state), query.keys, query.integers)

    def run_optimistic(self, query: Query) -> ExactTable | None:
        """Return keys and integers of a short statement, sealed; None if it does not prove its result."""
        if self.facts.is_vain(query.sql):
            return None
        table = self.read(query)
        if table.num_rows and not any(table.column(BEYOND).to_pylist()):
            return ExactTable(table.drop_columns([BEYOND]), query.keys, query.integers)
        self.facts.note_vain(query.sql)
        return None


def as_words(table: pa.Table, query: Query) -> pa.Table:
    """Return a fact with its numbers in 64 bits: they are bits, and numbers of people."""
    for name in query.integers:
        table = table.set_column(table.column_names.index(name), name, table.column(name).cast(pa.int64()))
    return table


UNREADABLE = "\ufffd"
"""The character in place of bytes that are not UTF-8."""


def _is_legible(owners: pa.ChunkedArray) -> bool:
    """Return True if all owners were read as they are stored: no value of another type, no text that is not UTF-8."""
    if owners.null_count or not pa.types.is_string(owners.type):
        return bool(owners.null_count == 0)
    try:
        owners.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not any(UNREADABLE in owner for owner in owners.to_pylist())


FORMAT = b"facts 1"


def _dumped(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _read_prepared(path: Path) -> dict[tuple[str, str], bytes]:
    """Return the facts of a file by state and query; none if it is missing, of another format, or not to be trusted."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid not in {0, os.geteuid()} or status.st_mode & (S_IWGRP | S_IWOTH):
                return {}
            table = pa.ipc.open_stream(file).read_all()
        if (table.schema.metadata or {}).get(b"hedgerow") != FORMAT:
            return {}
        columns = [table.column(name).to_pylist() for name in ("state", "query", "fact")]
    except (OSError, pa.ArrowException, KeyError):
        return {}
    return {(state, query): fact for state, query, fact in zip(*columns, strict=True)}


def _put(kept: OrderedDict[Hashable, pa.Table | None], name: Hashable, value: pa.Table | None) -> None:
    kept[name] = value
    while len(kept) > MOST_FACTS:
        kept.popitem(last=False)


def is_settled(state: Hashable) -> bool:
    """Return True if files were left alone for so long that another change would change their times."""
    times = [max(modified, changed) for *_, modified, changed in state] if isinstance(state, tuple) else []
    return all(time.time_ns() - latest >= SETTLED_NS for latest in times)


def file_state(paths: Iterable[Path], *, locked: bool) -> Hashable | None:
    """Return an identity of the contents of files: name, inode, size, and times of change; None if it is unknown.

    A file that nobody has locked must have been left alone for a while: until then, another change might leave its
    times as they are.
    """
    try:
        stats = [(str(path), path.stat()) for path in paths]
    except OSError:
        return None
    latest = max((max(stat.st_mtime_ns, stat.st_ctime_ns) for _, stat in stats), default=0)
    if not locked and time.time_ns() - latest < SETTLED_NS:
        return None
    return tuple((name, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in stats)
