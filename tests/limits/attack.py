"""Ask hostile statements of one engine, in a process of its own, and say how each ended and how much memory it took.

python -m tests.limits.attack ENGINE SECONDS STEP
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import hedgerow as hr

from .conftest import Shop, opened
from .resident import megabytes, read_all_code

HERE = Path(__file__).parent
MEMORY = 200
LIMITS = {"memory": f"{MEMORY}MB", "rows": 5000, "joined_rows": 10**9, "rows_per_person": 100_000}


def statements():
    """The corpus."""
    lines = (HERE / "hostile.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def ended(db, query):
    """`answered`, or the code of the error, and the seconds that it took."""
    start = time.monotonic()
    try:
        db.sql(query, max_rows=1, reuse=False)
    except hr.HedgerowError as error:
        return error.code, time.monotonic() - start
    return "answered", time.monotonic() - start


def peak_of_java():
    """The most megabytes that the Java of a Spark in this process has had."""
    from pyspark import SparkContext  # noqa: PLC0415 - it may be missing

    lines = Path(f"/proc/{SparkContext._gateway.proc.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main(engine, seconds, step):
    """Print one line of JSON."""
    with opened(engine) as source, tempfile.TemporaryDirectory() as folder:
        shop, next_one = Shop(engine, source), "SELECT COUNT(*) AS c FROM nations"
        with shop.connected(Path(folder)) as db:  # the first statements load what all of them need, and start Spark
            db.sql("SELECT region, COUNT(*) AS n FROM customers GROUP BY region ORDER BY n")
        with shop.connected(Path(folder), seconds=seconds, **LIMITS) as db:
            assert db.sql(next_one)["c"] == [25]
            read_all_code()
            before = megabytes("VmRSS")
            actual = []
            for query in statements()[::step]:
                code, taken = ended(db, query)
                actual.append({"query": query, "code": code, "seconds": taken, "next": db.sql(next_one)["c"]})
            grown = megabytes("VmHWM") - before
        java = peak_of_java() if engine == "spark" else 0
        sys.stdout.write(json.dumps({"statements": actual, "megabytes": grown, "java": java}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
