"""Serve a console over a folder with the demo, and say on standard output how to sign in. Ends with its input.

It runs `hedgerow serve` of the environment whose Python runs this file: of an installed wheel, in tests.
"""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from oddities import write_oddities

import hedgerow as hr
from hedgerow.demo import HospitalFiles, build
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Credentials, Identity, Role

ACCOUNTS = (
    Identity("ada"),
    Identity("ben"),
    Identity("eve", datasets=frozenset({"other"})),
    Identity("gil"),
    Identity("olga", Role.OWNER),
    Identity("otto", Role.AUDITOR),
)
ASKED = (
    ("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", None),
    ("SELECT COUNT(*) AS old FROM patients WHERE age > ? AND region <> ?", [64, "it's"]),
)
"""Questions that ada has paid for before the tests begin, with their parameters."""

SETTINGS = """\
[serve]
store = "accounts.access"
[serve.datasets.hospital]
database = "hospital.duckdb"
catalog = "hospital.yaml"
[serve.datasets.oddities]
database = "oddities.duckdb"
catalog = "oddities.yaml"
[serve.datasets.counted]
database = "oddities.duckdb"
catalog = "counted.yaml"
[serve.limits]
approval_epsilon = {hospital = 0.5}
[serve.wire]
enabled = false
[serve.http]
port = 0
[serve.console]
port = 0
[serve.logs]
file = "requests.jsonl"
"""


def prepare(folder: Path) -> dict[str, Credentials]:
    """Write three datasets, settings and accounts into a folder; return the secrets by name."""
    build(HospitalFiles.of(folder))
    write_oddities(folder)
    (folder / "hedgerow.toml").write_text(SETTINGS, encoding="utf-8")
    with hr.connect(folder / "hospital.duckdb", catalog=folder / "hospital.yaml") as database:
        for sql, params in ASKED:
            database.as_analyst("ada").sql(sql, params=params)
    with closing(open_access(folder / "accounts.access")) as access:
        return {account.name: access.add(account) for account in ACCOUNTS}


def main(folder: Path) -> int:
    """Serve until the input ends; return the exit status of the server."""
    secrets = prepare(folder)
    command = [Path(sys.executable).with_name("hedgerow"), "serve", "--json", "--config", folder / "hedgerow.toml"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own words
        said = json.loads(server.stdout.readline())
        started = {
            "address": f"http://{said['console']}",
            "passwords": {name: credentials.password for name, credentials in secrets.items()},
            "tokens": {name: credentials.token for name, credentials in secrets.items()},
            "folder": str(folder),
            "package": str(Path(hr.__file__).parent),
        }
        print(json.dumps(started), flush=True)  # noqa: T201
        sys.stdin.read()
        server.terminate()
    return server.returncode


sys.exit(main(Path(sys.argv[1])))
