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

import pyarrow as pa

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

    def save(self) -> int:
        """Write all facts that are known to the file beside the data, and return their number."""
        if self._path is None:
            return 0
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
    """Return whether files were left alone for so long that another change would change their times."""
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
