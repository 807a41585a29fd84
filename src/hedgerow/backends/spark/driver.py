"""PySpark, loaded when it is needed, and kept from saying aloud what goes wrong.

Privacy: PySpark writes the errors of statements, values included, to standard error by a logger of its own. While a
statement of ours runs in a thread, that logger is silent there; the cause goes to the owner's log.
"""

import importlib
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from hedgerow.errors import BackendError

OLDEST = (4, 3)
"""What every spelling was tried on."""

LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
MODULES = ("pyspark.sql", "pyspark.logger", "pyspark.sql.types", "pyspark.sql.functions")

EAGER = ("pyspark.sql.classic.dataframe", "pyspark.sql.pandas.conversion", "pyspark.testing.utils")
"""What would be loaded later, with a warning, is loaded now; what is not there warns nobody."""

_ours = threading.local()
_lock = threading.Lock()


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
    """Whether something is a SparkSession, of either kind. It loads nothing."""
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
