"""Spark SQL: the tables as Parquet files, read by a session that we start."""

import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from hedgerow.backends.spark import open_spark

from ..tables import reference

HURRIED = {
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
def opened(tables):
    with TemporaryDirectory() as folder:
        with reference(tables) as connection:
            for name in tables:
                connection.execute(f"COPY {name} TO '{Path(folder) / name}.parquet' (FORMAT parquet)")
        backend = open_spark(f"spark://{folder}?cores=2&memory=2g")
        known = backend.schema()
        backend.schema = lambda: known
        for name, value in HURRIED.items():
            backend._session.conf.set(name, value)
        try:
            yield backend
        finally:
            backend.close()
