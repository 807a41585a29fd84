"""PySpark, loaded when it is needed, and kept from saying aloud what goes wrong.

Privacy: PySpark writes the errors of statements, values included, to standard error by a logger of its own. While a
statement of ours runs in a thread, that logger is silent there; the cause goes to the owner's log.
"""

import importlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from hedgerow.errors import BackendError

OLDEST = (4, 3)
"""Version that every spelling was tried on."""

LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
MODULES = ("pyspark.sql", "pyspark.logger", "pyspark.sql.types", "pyspark.sql.functions")

EAGER = ("pyspark.sql.classic.dataframe", "pyspark.sql.pandas.conversion", "pyspark.testing.utils")
"""Modules that would be loaded later, with a warning; a missing one warns nobody."""

_ours = threading.local()
_lock = threading.Lock()
_active_lock = threading.Lock()


class _Silence(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - none of ours is shown
        return not getattr(_ours, "running", False)


_silence = _Silence()


def pyspark() -> ModuleType:
    """The driver. Its warnings about other libraries are for those who call it themselves."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            loaded = [importlib.import_module(name) for name in MODULES]
        except ImportError:
            raise BackendError(
                "PySpark is not installed.", code="driver-missing", hint="pip install 'hedgerow[spark]'"
            ) from None
        for name in EAGER:
            with suppress(Exception):
                importlib.import_module(name)
        for name in LOUD:
            loaded[1].PySparkLogger.getLogger(name).addFilter(_silence)
    return loaded[0]


def remote_sessions() -> Any:  # noqa: ANN401 - a class of PySpark
    """The class of sessions of Spark Connect, which needs libraries of its own."""
    pyspark()
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("pyspark.sql.connect.session").SparkSession
        except ImportError:
            raise BackendError(
                "The client of Spark Connect is not installed.",
                code="driver-missing",
                hint="pip install 'hedgerow[spark]'",
            ) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that PySpark logs in this thread is shown."""
    before = getattr(_ours, "running", False)
    _ours.running = True
    try:
        yield
    finally:
        _ours.running = before


def is_session(source: object) -> bool:
    """Return True if something is a SparkSession, of either kind. It loads nothing."""
    kinds = type(source).__mro__
    return any(kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql") for kind in kinds)


def checked(session: Any) -> Any:  # noqa: ANN401 - PySpark has two classes of sessions
    """The session, if its Spark is new enough."""
    with quiet():
        version = str(session.version)
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if found < OLDEST:
        raise BackendError(
            f"Spark {version} is too old: what is asked of it was tried on {'.'.join(map(str, OLDEST))}.",
            code="engine-too-old",
            hint="Use a newer Spark.",
        )
    return session


@dataclass(frozen=True)
class Tagging:
    """How jobs of this thread are marked, and how those with a mark are stopped from any thread."""

    add: Callable[[str], None]
    remove: Callable[[str], None]
    stop: Callable[[str], object]


def tagging(session: Any) -> Tagging:  # noqa: ANN401 - see above
    """Tags of a classic session are known only to the thread that sets them; those of its context to all."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return Tagging(session.addTag, session.removeTag, session.interruptTag)
    context = session.sparkContext
    return Tagging(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


@contextmanager
def staying_active() -> Iterator[None]:
    """The active session stays the one that it is: PySpark takes whichever last made a frame from rows."""
    sessions = pyspark().SparkSession
    with _active_lock:
        before = sessions._activeSession  # noqa: SLF001 - PySpark has no other way to say it
        try:
            yield
        finally:
            if before is not None:
                sessions._activeSession = before  # noqa: SLF001 - see above
                _class_of(before).setActiveSession(before._jsparkSession)  # noqa: SLF001 - see above


def _class_of(session: Any) -> Any:  # noqa: ANN401 - a class of Java
    return session._get_j_spark_session_class(session._jvm)  # noqa: SLF001 - see above
