import re

import duckdb
import pytest

import hedgerow as hr

CATALOG = """\
dataset: town
version: {version}
budget: {{epsilon: 50, delta: 1e-5, pure_epsilon: {pure}}}
defaults: {{epsilon: 1, delta: 1e-7, min_frequency: 5}}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      income: {{lower: 0, upper: 1000}}
      region: {{values: [north, south]}}
  visits:
    unit: person
    max_rows: 10
    max_groups: 3
    columns:
      cost: {{lower: 0, upper: 100}}
"""


@pytest.fixture(scope="session")
def town_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("town") / "town.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE, region VARCHAR)")
        connection.execute(
            "INSERT INTO people SELECT i, i % 1000, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END "
            "FROM range(6000) t(i)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT i % 3000 AS person, 'w' || (i % 4) AS ward, i % 100 AS cost "
            "FROM range(12000) t(i)"
        )
    return path


@pytest.fixture
def town(town_file, tmp_path, capsys):
    """A function that connects to the town, with changes to its budget line or version."""
    opened = []

    def connect(*, budget=None, version="v1", pure=0, analyst=None, defaults=None):
        text = CATALOG.format(version=version, pure=pure)
        if budget is not None:
            text = re.sub(r"budget: .*", f"budget: {budget}", text)
        if defaults is not None:
            text = re.sub(r"defaults: .*", f"defaults: {defaults}", text)
        catalog = tmp_path / "town.yaml"
        catalog.write_text(text)
        opened.append(hr.connect(town_file, catalog=catalog, analyst=analyst))
        return opened[-1]

    yield connect
    for db in opened:
        db.close()
