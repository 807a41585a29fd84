"""Ask private questions through JupySQL or Superset, in process, where one of them is installed beside hedgerow.

Example:
    python scripts/check_tools.py jupysql
    python scripts/check_tools.py superset
"""

import os
import sys
import tempfile
from pathlib import Path

import duckdb
from sqlalchemy.dialects import registry

CATALOG = """\
dataset: clinic
budget: {epsilon: 10, delta: 1e-6}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 5}
tables:
  people: {unit: id, unit_unique: true, columns: {region: {values: [north, south]}}}
"""
QUESTION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY region"
registry.register("hedgerow", "hedgerow.sqlalchemy_dialect", "HedgerowDialect")  # also where hedgerow is not installed


def write_project(folder: Path) -> str:
    """Write a database, a catalog and a project file; return the URL of the project."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as owner:
        owner.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR)")
        owner.execute("INSERT INTO people SELECT j, ['north', 'south'][1 + j % 2] FROM range(4000) r(j)")
    (folder / "clinic.yaml").write_text(CATALOG)
    (folder / "hedgerow.toml").write_text('[project]\ndatabase = "clinic.duckdb"\ncatalog = "clinic.yaml"\n')
    return f"hedgerow:///{folder / 'hedgerow.toml'}"


def ask_jupysql(url: str) -> list[tuple[object, ...]]:
    """Ask in a cell of IPython, with the magic %sql."""
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415 - of this tool alone

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "sql")
    shell.run_line_magic("config", "SqlMagic.displaycon = False")
    shell.run_line_magic("sql", url)
    result = shell.run_cell_magic("sql", "", QUESTION)
    return list(result.DataFrame().itertuples(index=False, name=None))


def ask_superset(url: str) -> list[tuple[object, ...]]:
    """Register the database in Superset, and ask as a chart does."""
    folder = Path(tempfile.mkdtemp())
    settings = {
        "SECRET_KEY": "only for this check",
        "SQLALCHEMY_DATABASE_URI": f"sqlite:///{folder / 'superset.db'}",
        "FILTER_STATE_CACHE_CONFIG": {"CACHE_TYPE": "SimpleCache"},
        "EXPLORE_FORM_DATA_CACHE_CONFIG": {"CACHE_TYPE": "SimpleCache"},
    }
    lines = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
    (folder / "superset_config.py").write_text(lines)
    os.environ["SUPERSET_CONFIG_PATH"] = str(folder / "superset_config.py")
    from superset.app import create_app  # noqa: PLC0415 - of this tool alone

    app = create_app()
    with app.app_context():
        from superset import db  # noqa: PLC0415
        from superset.models.core import Database  # noqa: PLC0415

        Database.metadata.create_all(db.session.get_bind())
        database = Database(database_name="clinic", sqlalchemy_uri=url)
        db.session.add(database)
        db.session.commit()
        print("tables:", database.get_all_table_names_in_schema(None, None))
        return list(database.get_df(QUESTION).itertuples(index=False, name=None))


def main() -> None:
    """Ask through the tool that the first argument names."""
    with tempfile.TemporaryDirectory() as folder:
        rows = {"jupysql": ask_jupysql, "superset": ask_superset}[sys.argv[1]](write_project(Path(folder)))
    print(rows)
    assert [row[0] for row in rows] == ["north", "south"]  # noqa: S101 - a check
    assert all(abs(int(row[1]) - 2000) < 200 for row in rows)  # noqa: S101 - a check


if __name__ == "__main__":
    main()
