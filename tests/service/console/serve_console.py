"""Serve a console over a folder with the demo, and say on standard output how to sign in. Ends with its input."""

import asyncio
import json
import sys
from pathlib import Path

from oddities import write_oddities

import hedgerow as hr
from hedgerow.service.access.connect import open_access
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.console.listener import ConsoleListener
from hedgerow.service.gateway import Gateway, ServiceLimits

ACCOUNTS = {
    "ada": Identity("ada"),
    "ben": Identity("ben"),
    "eve": Identity("eve", datasets=frozenset({"other"})),
    "gil": Identity("gil"),
    "olga": Identity("olga", Role.OWNER),
    "otto": Identity("otto", Role.AUDITOR),
}
ASKED = (
    "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS old FROM patients WHERE age > 64",
)
"""Questions that ada has paid for before the tests begin."""


async def main(folder: Path) -> None:
    access = open_access(folder / "access.db")
    passwords = {name: access.add(identity).password for name, identity in ACCOUNTS.items()}
    odd, odd_catalog = write_oddities(folder)
    oddities = hr.connect(odd, catalog=odd_catalog)

    def databases() -> dict[str, hr.Database]:
        hospital = hr.connect(folder / "hospital.duckdb", catalog=folder / "hospital.yaml")
        return {"hospital": hospital, "oddities": oddities}

    async def reload() -> None:
        await gateway.replace(await asyncio.to_thread(databases))

    gateway = Gateway(databases(), access, ServiceLimits(approval_epsilon={"hospital": 0.5}))
    for sql in ASKED:
        await gateway.submit(ACCOUNTS["ada"], "hospital", sql, door="console").answer()
    listener = ConsoleListener(gateway, access, port=0, api="http://127.0.0.1:8439", reload=reload)
    await listener.start()
    started = {"address": f"http://{listener.address}", "passwords": passwords, "folder": str(folder)}
    print(json.dumps(started), flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    await listener.stop(1)
    await gateway.drain(1)
    await gateway.replace({})
    access.close()


asyncio.run(main(Path(sys.argv[1])))
