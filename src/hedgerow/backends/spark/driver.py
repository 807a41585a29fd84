"""PySpark, imported on demand and kept from printing errors; and scripts of several steps.

Privacy: PySpark's own logger prints errors of statements, including values, to standard error. While a statement of
ours runs in a thread, that logger is silenced there; the cause goes to the owner's log.
"""

import importlib
import logging
import re
import secrets
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from hedgerow.compiled import Query
from hedgerow.dialects.spark import SCRIPT, is_script
from hedgerow.dialects.statement import Computed
from hedgerow.errors import BackendError

Session = Any
"""`pyspark.sql.SparkSession` or that of Spark Connect; PySpark is imported only when needed."""

Frame = Any
"""A DataFrame of either kind."""

WORD = re.compile(r"'[^']*'|`[^`]*`|\b[a-z_]\w*\b")
"""A text, a quoted name, or a word of ours. Texts contain no quotes: those that would are in hexadecimal."""


@contextmanager
def script(
    session: Session, query: Query, known: Mapping[str, str], fetch: Callable[[Frame], object]
) -> Iterator[Frame]:
    """Yield the result of a query, to be fetched while its steps exist.

    A step that is computed at once is counted by `fetch`, which fills its cache; nothing reads the count.

    Every step is a view with a unique name, because other statements run in the same session; `known` maps names to
    existing views. Steps are not a WITH: Spark does not recognise a cached plan inside one.

    If no step is cached, the statement is a WITH. Its steps get unique names, too: the owner's temporary views have
    plain names, and a step of the same name would hide them.
    """
    statement, names = query.parts, dict(known)
    if not is_script(statement):
        names |= {step.name: _fresh(step.name) for step in statement.steps}
        yield session.sql(_renamed(query.sql, names))
        return
    with ExitStack() as views:
        for step in statement.steps:
            view, cached = _fresh(step.name), step.computed in SCRIPT
            frame = views.enter_context(_view(session, view, _renamed(step.query, names), cached=cached))
            if step.computed is Computed.FIRST:
                fetch(frame.groupBy().count())
            names[step.name] = view
        yield session.sql(_renamed(statement.query, names))


def _fresh(name: str) -> str:
    """Return a unique name that begins with `name`."""
    return f"{name}_{secrets.token_hex(8)}"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


@contextmanager
def _view(session: Session, name: str, query: str, *, cached: bool) -> Iterator[Frame]:
    """Create a view. A cached one has its name in its plan, because Spark shares the cache of equal plans."""
    frame = session.sql(f"SELECT * FROM ({query}) WHERE '{name}' IS NOT NULL" if cached else query)
    if cached:
        frame.persist()
    frame.createTempView(name)
    try:
        yield frame
    finally:
        session.catalog.dropTempView(name)
        if cached:
            frame.unpersist()


OLDEST = (4, 3)
"""Oldest supported version."""

LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
MODULES = ("pyspark.sql", "pyspark.logger", "pyspark.sql.types", "pyspark.sql.functions")

EAGER = ("pyspark.sql.classic.dataframe", "pyspark.sql.pandas.conversion", "pyspark.testing.utils")
"""Modules that would otherwise be imported later with a warning; a missing one is ignored."""

_ours = threading.local()
_lock = threading.Lock()
_active_lock = threading.Lock()


class _Silence(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - it depends on the thread only
        return not getattr(_ours, "running", False)


_silence = _Silence()


def pyspark() -> ModuleType:
    """Import PySpark, without its warnings about other libraries."""
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
    """Import the class of Spark Connect's sessions, which needs more libraries."""
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
    """Silence PySpark's logger in this thread."""
    before = getattr(_ours, "running", False)
    _ours.running = True
    try:
        yield
    finally:
        _ours.running = before


def is_session(source: object) -> bool:
    """Return True if a source is a SparkSession, classic or of Spark Connect. It imports nothing."""
    kinds = type(source).__mro__
    return any(kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql") for kind in kinds)


def checked(session: Any) -> Any:  # noqa: ANN401 - PySpark has two classes of sessions
    """Return the session if its Spark is new enough."""
    with quiet():
        version = str(session.version)
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        raise BackendError(
            f"Spark {version} is too old; {'.'.join(map(str, OLDEST))} or newer is required.",
            code="engine-too-old",
            hint="Use a newer Spark.",
        )
    return session


@dataclass(frozen=True)
class Tagging:
    """Functions that tag jobs of the current thread, and that cancel tagged jobs from any thread."""

    add: Callable[[str], None]
    remove: Callable[[str], None]
    stop: Callable[[str], object]


def tagging(session: Any) -> Tagging:  # noqa: ANN401 - see above
    """Return the tag functions. In classic Spark they are those of the context: session tags are per thread."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return Tagging(session.addTag, session.removeTag, session.interruptTag)
    context = session.sparkContext
    return Tagging(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


@contextmanager
def staying_active() -> Iterator[None]:
    """Keep the active session: PySpark activates whichever session last created a frame from rows."""
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
