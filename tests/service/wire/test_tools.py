"""JupySQL, dbt and Superset, each from the package index in an environment of its own, against the service."""

import socket
import subprocess

import pytest
from tests.service.tool_environments import environment
from tests.service.wire.conftest import QUESTION, port_of
from tests.service.wire.superset_client import Superset, chart, metric

REGIONS = ["east", "islands", "north", "south", "west"]
pytestmark = pytest.mark.slow


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, **options)  # noqa: S603 - our own words
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def superset(tmp_path_factory):
    running = Superset(environment("superset"), tmp_path_factory.mktemp("superset"), free_port())
    yield running
    running.close()


@pytest.fixture(scope="module")
def database(superset, server):
    """The number of the service's database in Superset."""
    url = server.tls_url.replace("postgresql://", "postgresql+psycopg2://")
    extra = '{"cost_estimate_enabled": true}'
    body = {"database_name": "hospital", "sqlalchemy_uri": url, "expose_in_sqllab": True, "extra": extra}
    return superset.post("database/", body)["id"]


def test_superset_charts_on_a_dashboard_cost_nothing_to_refresh(superset, database, server):
    tables = {row["value"] for row in superset.get(f"database/{database}/tables/?q=(schema_name:public)")["result"]}
    assert tables >= {"patients", "visits", "wards", "regions"}
    datasets = {}
    for table in ("patients", "visits"):
        body = {"database": database, "schema": "public", "table_name": table}
        datasets[table] = superset.post("dataset/", body)["id"]
    columns = superset.get(f"dataset/{datasets['visits']}")["result"]["columns"]
    assert {column["column_name"] for column in columns} >= {"ward", "admitted", "nights", "cost"}
    assert next(column for column in columns if column["column_name"] == "admitted")["is_dttm"]
    charts = [superset.post("chart/", body)["id"] for body in tiles(datasets)]
    board = superset.post("dashboard/", {"dashboard_title": "hospital", "published": True})["id"]
    for number in charts:
        superset.call("PUT", f"chart/{number}", {"dashboards": [board]})
    assert len(superset.get(f"dashboard/{board}/charts")["result"]) == 10

    def refresh():
        return [superset.get(f"chart/{number}/data/?force=true")["result"][0] for number in charts]

    first = refresh()
    assert all(tile["error"] is None for tile in first)
    assert sorted(row["region"] for row in first[0]["data"]) == REGIONS
    spent = server.db.budget
    for _ in range(9):
        again = refresh()
        assert [tile["data"] for tile in again] == [tile["data"] for tile in first]
        assert not any(tile["is_cached"] for tile in again), "Superset's own cache answered"
    assert (server.db.budget.queries, server.db.budget.spent) == (spent.queries, spent.spent)


def tiles(datasets):
    """Ten charts of four kinds."""
    patients, visits = datasets["patients"], datasets["visits"]
    people, age = metric("COUNT"), metric("AVG", "age")
    monthly = {"granularity": "admitted", "is_timeseries": True, "time_range": "No filter"}
    older = [{"col": "age", "op": ">=", "val": 65}]
    month = {"columnType": "BASE_AXIS", "sqlExpression": "admitted", "label": "admitted", "expressionType": "SQL"}
    axis = {"columns": [{**month, "timeGrain": "P1M"}], "extras": {"time_grain_sqla": "P1M"}}
    return [
        chart(patients, "table", "by region", columns=["region"], metrics=[people, age]),
        chart(patients, "table", "by sex", columns=["sex"], metrics=[people]),
        chart(patients, "pie", "cover", columns=["cover"], metrics=[people], orderby=[[people, False]]),
        chart(patients, "pie", "smokers", columns=["smoker"], metrics=[people]),
        chart(patients, "big_number_total", "people", metrics=[people]),
        chart(patients, "big_number_total", "older", metrics=[people], filters=older),
        chart(visits, "big_number_total", "stay", metrics=[metric("AVG", "nights")]),
        chart(visits, "echarts_timeseries_bar", "admitted", metrics=[people], **monthly, **axis),
        chart(visits, "echarts_timeseries_bar", "nights", metrics=[metric("SUM", "nights")], **monthly, **axis),
        chart(visits, "table", "wards", columns=["ward"], metrics=[metric("AVG", "nights")]),
    ]


def test_superset_shows_the_hint_of_a_refusal_and_the_price_of_a_question(superset, database):
    parameters = {"database_id": database, "schema": "public", "runAsync": False, "queryLimit": 100}
    rows = superset.post("sqllab/execute/", {**parameters, "sql": QUESTION})["data"]
    assert [row["region"] for row in rows] == REGIONS
    with pytest.raises(AssertionError, match="choose a chart or a query with a metric"):
        superset.post("sqllab/execute/", {**parameters, "sql": "SELECT * FROM patients LIMIT 100"})
    estimate = superset.post("sqllab/estimate/", {"database_id": database, "sql": UNASKED, "schema": "public"})
    assert "0.2" in str(estimate["result"])


UNASKED = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 18 AND 25"
PROJECT = """\
name: hospital
version: "1.0.0"
profile: hospital
model-paths: [models]
"""
MODEL = "SELECT region, COUNT(*) AS n FROM {{ source('hospital', 'patients') }} GROUP BY region ORDER BY region"
SOURCES = "sources: [{name: hospital, schema: public, tables: [{name: patients}]}]\n"


def test_dbt_connects_lists_compiles_and_shows(server, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "models" / "regions_of_patients.sql").write_text(MODEL)
    (tmp_path / "models" / "sources.yml").write_text(SOURCES)
    place = {"type": "postgres", "host": "localhost", "port": port_of(server.encrypted), "user": "ana"}
    login = {"password": server.password, "dbname": "hospital", "schema": "public", "threads": 1}
    tls = {"sslmode": "verify-full", "sslrootcert": str(server.certificate)}
    output = "".join(f"      {name}: {value}\n" for name, value in {**place, **login, **tls}.items())
    (tmp_path / "profiles.yml").write_text(f"hospital:\n  target: here\n  outputs:\n    here:\n{output}")

    def dbt(*words):
        program = environment("dbt") / "bin" / "dbt"
        variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        return run(program, *words, "--profiles-dir", ".", "--no-use-colors", cwd=tmp_path, env=variables)

    code, said = dbt("debug")
    assert code == 0, said
    assert "Connection test: [OK connection ok]" in said
    code, said = dbt("show", "--select", "regions_of_patients", "--output", "json")
    assert code == 0, said
    assert all(region in said for region in REGIONS)
    code, said = dbt("show", "--inline", "SELECT nonsense FROM patients")
    assert code != 0
    assert "There is no column 'nonsense'" in said
    code, said = dbt("run")
    assert code != 0, "it would write"
    assert "Only SELECT is allowed" in said or "permission denied" in said, said


NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("config", "SqlMagic.displaycon = False")
shell.run_line_magic("config", "SqlMagic.named_parameters = 'enabled'")
shell.run_line_magic("sql", sys.argv[1])
print(shell.run_line_magic("sqlcmd", "tables"))
print(shell.run_line_magic("sqlcmd", "columns --table patients"))
frame = shell.run_cell_magic("sql", "", sys.argv[2]).DataFrame()
assert frame.equals(shell.run_cell_magic("sql", "", sys.argv[2]).DataFrame())
print(list(frame["region"]))
shell.user_ns["least"] = 30
print("older:", len(shell.run_cell_magic("sql", "", "SELECT COUNT(*) FROM patients WHERE age > :least")))
shell.run_cell_magic("sql", "", "SELECT nonsense FROM patients")
"""


def test_jupysql_lists_describes_and_asks(server):
    url = server.tls_url.replace("postgresql://", "postgresql+psycopg://")
    code, said = run(environment("jupysql") / "bin" / "python", "-c", NOTEBOOK, url, QUESTION)
    assert "patients" in said
    assert "smoker" in said
    assert str(REGIONS) in said, said
    assert "older: 1" in said
    assert "There is no column 'nonsense'" in said
    assert "^" in said, "the caret"
    assert code in {0, 1}
