"""Environments of tools that are clients of the service, each from the package index, kept in `.cache`."""

from tests.installed.environments import ROOT, empty_environment, install

TOOLS = ROOT / ".cache" / "tools"
NEEDS = {
    "jupysql": ("jupysql>=0.10,<0.12", "psycopg[binary]>=3.2", "ipykernel", "pandas", "matplotlib"),
    "dbt": ("dbt-core>=1.9,<1.11", "dbt-postgres>=1.9,<1.11"),
    "superset": ("apache-superset>=6,<7", "psycopg2-binary", "rich", "cachetools", "flask-caching>=2.3,<2.4"),
}


def environment(name):
    """The environment of a tool, which is kept in `.cache`."""
    folder = TOOLS / name
    if not (folder / "complete").exists():
        empty_environment(folder, [])
        install(folder, *NEEDS[name])
        (folder / "complete").touch()
    return folder
