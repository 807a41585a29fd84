"""Ask for each aggregate that hedgerow registers, as the SQL page spells it. It runs where the wheel is installed.

Its argument is a file of JSON: the spellings of each aggregate by name. It prints the names of those that were
answered, and fails if an aggregate has no spelling or an answer has no number.
"""

import json
import sys
from pathlib import Path

import duckdb

import hedgerow as hr
from hedgerow.aggregates import names

CATALOG = """\
dataset: smoke
budget: {epsilon: 100000, delta: 0.01}
defaults: {epsilon: 10, delta: 1e-8, min_frequency: 5}
tables:
  numbers:
    unit: unit
    unit_unique: true
    columns:
      k: {values: [one, two]}
      x: {lower: 0, upper: 100}
      y: {lower: 0, upper: 10}
      a: {lower: 0, upper: 10}
      b: {lower: 1, upper: 10}
  words:
    unit: unit
    unit_unique: true
    columns:
      k: {values: [one, two]}
      x: {values: [a, b]}
"""
TABLES = """
CREATE TABLE numbers AS SELECT i AS unit, if(i % 2 = 0, 'one', 'two') AS k, i % 100 AS x, i % 10 + 0.5 AS y,
    i % 7 + 1 AS a, i % 5 + 1 AS b, i % 3 = 0 AS outcome, i % 4 < 2 AS exposed,
    i % 4 < 2 AS treated FROM range(4000) AS t(i);
CREATE TABLE words AS SELECT unit, k, if(unit % 3 = 0, 'a', 'b') AS x FROM numbers
"""
OF_TEXT = {"MODE", "VALUE_BIN"}


def main() -> None:
    """Ask each of them twice: by declared groups, and of all rows."""
    spellings: dict[str, list[str]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    missing = set(names()) - set(spellings)
    if missing:
        raise SystemExit(f"no example on the SQL page: {sorted(missing)}")
    with duckdb.connect("smoke.duckdb") as connection:
        connection.execute(TABLES)
    Path("smoke.yaml").write_text(CATALOG, encoding="utf-8")
    with hr.connect("smoke.duckdb", catalog="smoke.yaml") as db:
        for name, examples in spellings.items():
            table = "words" if name in OF_TEXT else "numbers"
            for text in examples:
                _numbers(db.sql(f"SELECT k, {text} FROM {table} GROUP BY k"), text, rows=2)
                _numbers(db.sql(f"SELECT {text} FROM {table}"), text, rows=1)
            print(name)  # noqa: T201 - the test reads it


def _numbers(answer: hr.Answer, text: str, *, rows: int) -> None:
    """Insist on a number, with an error bar that can be looked at, in every row."""
    value = answer.columns[-1]
    if len(answer) != rows or any(cell is None for cell in answer[value]) or len(answer.intervals) != rows:
        raise SystemExit(f"{text} was not answered: {answer}")


main()
