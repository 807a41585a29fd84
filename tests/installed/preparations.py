"""Preconditions of a page: a server, a folder of files. It is made here, and ends with the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ..conformance.engines import postgres, spark
from .pages import ROOT, blocks

SHOP = """\
dataset: shop
budget: {epsilon: 10, delta: 1e-6}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 5}
tables:
  customers: {unit: id, max_rows: 1}
  orders: {unit: customer_id, max_rows: 3}
"""


@contextmanager
def postgres_server(page: Path, folder: Path) -> Iterator[dict[str, str]]:
    """A server with a shop, for which the owner ran the SQL of the page."""
    if reason := postgres.why_not():
        pytest.skip(reason)
    import psycopg  # noqa: PLC0415 - it may be missing

    (folder / "shop.yaml").write_text(SHOP, encoding="utf-8")
    with postgres.running() as url:
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("CREATE TABLE customers AS SELECT id FROM generate_series(1, 500) AS t(id)")
            owner.execute(
                "CREATE TABLE orders AS SELECT id, id % 500 AS customer_id, 'region ' || id % 2 AS region "
                "FROM generate_series(1, 1000) AS t(id)"
            )
            for block in blocks(page, "sql"):
                owner.execute(block.text)
        yield {
            "postgresql://hedgerow_reader@db.example.org/shop?": url.replace("postgres:@", "hedgerow_reader@", 1) + "&"
        }


@contextmanager
def spark_folder(_page: Path, folder: Path) -> Iterator[dict[str, str]]:
    """A folder with a shop in Parquet."""
    if reason := spark.why_not():
        pytest.skip(reason)
    (folder / "shop.yaml").write_text(SHOP, encoding="utf-8")
    (folder / "shop").mkdir()
    segments = ["private" if number % 3 else "trade" for number in range(600)]
    pq.write_table(pa.table({"id": range(600), "segment": segments}), folder / "shop" / "customers.parquet")
    pq.write_table(pa.table({"customer_id": range(600)}), folder / "shop" / "orders.parquet")
    yield {"spark:///data/shop": f"spark://{folder}/shop"}


PREPARATIONS = {
    "docs/how-to/connect-postgres.md": postgres_server,
    "docs/how-to/connect-spark.md": spark_folder,
}


@contextmanager
def prepared(page: Path, folder: Path) -> Iterator[dict[str, str]]:
    """Prepare what a page presumes; give the addresses on the page, each with the one that stands for it here."""
    prepare = PREPARATIONS.get(str(page.relative_to(ROOT)))
    if prepare is None:
        yield {}
    else:
        with prepare(page, folder) as addresses:
            yield addresses
