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

ACCOUNTS = {"ada": Role.ANALYST, "olga": Role.OWNER, "otto": Role.AUDITOR}


async def main(folder: Path) -> None:
    access = open_access(folder / "access.db")
    passwords = {name: access.add(Identity(name, role)).password for name, role in ACCOUNTS.items()}
    odd, catalog = write_oddities(folder)
    with (
        hr.connect(folder / "hospital.duckdb", catalog=folder / "hospital.yaml") as database,
        hr.connect(odd, catalog=catalog) as oddities,
    ):
        databases = {"hospital": database, "oddities": oddities}
        gateway = Gateway(databases, access, ServiceLimits(approval_epsilon={"hospital": 0.5}))
        listener = ConsoleListener(gateway, access, port=0, api="http://127.0.0.1:8439")
        await listener.start()
        print(json.dumps({"address": f"http://{listener.address}", "passwords": passwords}), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)
        await listener.stop(1)
        await gateway.drain(1)
    access.close()


asyncio.run(main(Path(sys.argv[1])))
