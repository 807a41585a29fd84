"""Facts about rows that cannot change, kept with a connection: small tables, each under the SQL text that computes it.

Privacy: a fact is never released, shown or logged. It only decides which of several statements with the same result
runs (`compile.facts`). It holds for one state of the data, as a backend identifies it (`state`).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path

import pyarrow as pa

MOST_FACTS = 200
"""Maximum number of facts of a connection; those that were not read for the longest time are dropped."""

SETTLED_NS = 2_000_000_000
"""Nanoseconds after which another change of a file is sure to change its times."""


class KeptFacts:
    """The facts of one connection, for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
            if not at_once and name not in self._asked:
                _put(self._asked, name, None)
                return None
            _put(self._tables, name, None)
        table = compute()
        with self._lock:
            _put(self._tables, name, table)
        return table


def _put(kept: OrderedDict[Hashable, pa.Table | None], name: Hashable, value: pa.Table | None) -> None:
    kept[name] = value
    while len(kept) > MOST_FACTS:
        kept.popitem(last=False)


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
