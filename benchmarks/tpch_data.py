"""TPC-H for the benchmarks: made once by tpchgen-cli, kept in .cache, loaded into DuckDB with its real keys."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "tpch"
TABLES = ("customer", "orders", "lineitem")

CATALOG = """\
dataset: tpch
budget: {{epsilon: 100000, delta: 1e-3, pure_epsilon: {pure}}}
defaults: {{epsilon: 1, delta: 1e-7, min_frequency: {k}}}
tables:
  customer:
    unit: c_custkey
    unit_unique: true
    columns:
      c_acctbal: {{lower: -999.99, upper: 9999.99}}
  orders:
    unit: o_custkey
    max_rows: 41
    columns:
      o_totalprice: {{lower: 0, upper: 555285.16}}
  lineitem:
    unit: {{through: orders, on: {{l_orderkey: o_orderkey}}}}
    max_rows: 178
    columns:
      l_discount: {{lower: 0, upper: 0.1}}
      l_extendedprice: {{lower: 0, upper: 104949.5}}
"""


def database(scale: float) -> Path:
    """The DuckDB file at this scale factor, made if it is not there."""
    path = CACHE / f"sf{scale:g}.duckdb"
    if not path.exists():
        _make(path, scale)
    return path


def catalog(folder: Path, *, k: int = 1, pure: float = 0) -> Path:
    """A catalog with a budget that no benchmark exhausts."""
    path = folder / "tpch.yaml"
    path.write_text(CATALOG.format(k=k, pure=pure))
    return path


def _make(path: Path, scale: float) -> None:
    raw = CACHE / f"raw{scale:g}"
    raw.mkdir(parents=True, exist_ok=True)
    tool = shutil.which("tpchgen-cli") or str(Path(sys.executable).with_name("tpchgen-cli"))
    command = [tool, "parquet", "--scale-factor", f"{scale:g}", "--output-dir", str(raw), "--tables", ",".join(TABLES)]
    print(f"making TPC-H at scale {scale:g} …", file=sys.stderr)
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own arguments
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with duckdb.connect(str(unfinished)) as connection:
        for table in TABLES:
            connection.execute(f"CREATE TABLE {table} AS FROM read_parquet('{raw / table}.parquet')")
        connection.execute("ALTER TABLE customer ADD PRIMARY KEY (c_custkey)")
        connection.execute("ALTER TABLE customer ALTER c_acctbal SET NOT NULL")
    unfinished.rename(path)
    shutil.rmtree(raw)
