"""A dataset whose names, keys and comments are HTML, with a table of a thousand groups and a view without an end."""

import json

import duckdb

SCRIPT = "<img src=x onerror=document.title='hacked'>{{7 * 191}}"
"""Text that would change the title of a page if it were taken for HTML, and change itself if for a template of Vue."""

GROUPS = 1_000
CATALOG = {
    "dataset": "oddities",
    "budget": {"epsilon": 50, "delta": 1e-6, "per_query": {"epsilon": 2}},
    "defaults": {"epsilon": 0.5, "delta": 1e-8, "min_frequency": 5},
    "tables": {
        SCRIPT: {
            "unit": "id",
            "unit_unique": True,
            "comment": SCRIPT,
            "columns": {
                SCRIPT: {"values": [SCRIPT, "</textarea><script>document.title='hacked'</script>"], "comment": SCRIPT},
                "x": {"lower": 0, "upper": 7, "comment": "seven and less"},
            },
        },
        "many": {"unit": "id", "max_rows": 1, "columns": {"g": {"values": list(range(GROUPS))}}},
        "endless": {"unit": "id", "max_rows": 1, "columns": {"x": {"lower": 0, "upper": 7}}},
    },
}

COUNTED = {
    "dataset": "counted",
    "budget": {"epsilon": 50, "delta": 1e-6, "queries": 100},
    "tables": {"many": CATALOG["tables"]["many"]},
}
"""A catalog that sets the price of each question itself."""


def write_oddities(folder):
    """Write the database and two catalogs of it."""
    name = '"' + SCRIPT.replace('"', '""') + '"'
    with duckdb.connect(str(folder / "oddities.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE {name} AS SELECT i AS id, i % 7 AS x, ? AS {name} FROM range(2000) r(i)", [SCRIPT]
        )
        connection.execute(f"CREATE TABLE many AS SELECT i AS id, i % {GROUPS} AS g FROM range(200000) r(i)")
        connection.execute("CREATE VIEW endless AS SELECT i AS id, i % 7 AS x FROM range(1000000000000) r(i)")
    for catalog in (CATALOG, COUNTED):
        (folder / f"{catalog['dataset']}.yaml").write_text(json.dumps(catalog), encoding="utf-8")
