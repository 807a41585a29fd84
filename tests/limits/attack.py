"""Ask hostile statements of one engine, in a process of its own, and say how each ended and how much memory it took.

python -m tests.limits.attack ENGINE SECONDS STEP
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import hedgerow as hr

from .conftest import Shop, opened

HERE = Path(__file__).parent
LIMITS = {"memory": "200MB", "rows": 5000, "joined_rows": 10**9, "rows_per_person": 100_000}


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


def main(engine, seconds, step):
    """Print one line of JSON."""
    with opened(engine) as source, tempfile.TemporaryDirectory() as folder:
        with Shop(engine, source).connected(Path(folder), seconds=seconds, **LIMITS) as db:
            next_one = "SELECT COUNT(*) AS c FROM nations"
            assert db.sql(next_one)["c"] == [25]
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            found = []
            for query in statements()[::step]:
                code, taken = ended(db, query)
                found.append({"query": query, "code": code, "seconds": taken, "next": db.sql(next_one)["c"]})
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sys.stdout.write(json.dumps({"statements": found, "megabytes": (after - before) / 1024}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
