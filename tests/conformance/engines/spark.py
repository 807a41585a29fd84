"""Spark SQL: the tables as Parquet files, read by a session that we start.

It interprets what it would otherwise compile: to compile takes a second for each statement, and one that is slow to
compile is quick to interpret over so few rows. `tests/backends/spark` has questions that are compiled.
"""

import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from hedgerow.backends.spark import open_spark

from ..tables import reference

STORED = {"TIME": "VARCHAR", "UUID": "VARCHAR"}
"""Values that Spark has no type for are text."""

INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
}


def why_not():
    if find_spec("pyspark") is None:
        return "PySpark is not installed"
    return None if shutil.which("java") else "there is no Java; Spark 4 needs Java 17"


@contextmanager
def compiling():
    """Spark lists tables by the settings of the session that is active, and cannot without compiling."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - it may be missing

    active, setting = SparkSession.getActiveSession(), "spark.sql.codegen.factoryMode"
    if active is None:
        yield
        return
    before = active.conf.get(setting)
    active.conf.set(setting, "FALLBACK")
    try:
        yield
    finally:
        active.conf.set(setting, before)


@contextmanager
def opened(tables, views=None):
    """A session over Parquet files; `views` are more tables, with the rows of the first and columns of other names."""
    with folder_of(tables) as folder:
        with compiling():
            backend = open_spark(f"spark://{folder}?cores=2&memory=2g")
            rows = backend._session.table(next(iter(tables)))
            for name, table in (views or {}).items():
                rows.toDF(*table.columns).createTempView(f"`{name}`")
            known = backend.schema()
        backend.schema = lambda: known
        for name, value in INTERPRETED.items():
            backend._session.conf.set(name, value)
        try:
            yield backend
        finally:
            backend.close()


@contextmanager
def opened_alike(tables):
    """Tables with the same rows as views of one file: to open a file takes Spark a third of a second."""
    name, *others = tables
    with opened({name: tables[name]}, {other: tables[other] for other in others}) as backend:
        yield backend


@contextmanager
def folder_of(tables):
    """The tables as Parquet files."""
    with TemporaryDirectory() as folder:
        with reference(tables) as connection:
            for name, table in tables.items():
                shown = ", ".join(
                    f'CAST("{c}" AS {STORED.get(kind, kind)}) AS "{c}"' for c, kind in table.columns.items()
                )
                connection.execute(
                    f"COPY (SELECT {shown} FROM \"{name}\") TO '{Path(folder) / name}.parquet' (FORMAT parquet)"
                )
        yield folder
