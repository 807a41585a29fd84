"""A service over the demo's hospital: in this process, in a thread with its own event loop, at a free port."""

import asyncio
import http.client
import json
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML

import hedgerow as hr
from hedgerow.demo import HospitalFiles, build
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.app import HttpListener
from hedgerow.service.statement_queue import ServiceLimits

PEOPLE = 1500
ACCOUNTS = [
    Identity("olive", Role.OWNER),
    Identity("ada"),
    Identity("bob", datasets=frozenset({"hospital"})),
    Identity("eve", datasets=frozenset({"elsewhere"})),
    Identity("audrey", Role.AUDITOR),
    Identity("robot"),
    Identity("oscar", Role.OWNER, frozenset({"elsewhere"})),
]


class Service:
    """One running service, and a plain client for it."""

    def __init__(self, databases, store, limits=None, **options):
        self.databases = databases
        self.access = open_access(store)
        self.tokens = {identity.name: self.access.add(identity).token for identity in ACCOUNTS}
        self._limits, self._options = limits or ServiceLimits(), options
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        try:
            self.run(self._start())
        except BaseException:
            self._end()
            raise

    async def _start(self):
        self.gateway = Gateway(self.databases, self.access, self._limits)
        self.listener = HttpListener(self.gateway, self.access, **{"port": 0, **self._options})
        await self.listener.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @property
    def url(self):
        return f"http://{self.listener.address}"

    @property
    def port(self):
        return int(self.listener.address.rpartition(":")[2])

    def connect(self, name="ada", dataset="hospital", **options):
        return hr.connect(f"{self.url}/{dataset}", token=self.tokens[name], **options)

    def call(self, method, path, body=None, *, by="ada", token=None, headers=None):
        """Status, headers and content of a response; JSON is read."""
        token = self.tokens[by] if token is None and by is not None else token
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.headers.get_content_type().endswith(("/json", "+json")):
            content = json.loads(content, parse_constant=pytest.fail)
        return SimpleNamespace(status=response.status, headers=response.headers, content=content)

    def ask(self, sql, *, by="ada", dataset="hospital", route="query", headers=None, **fields):
        return self.call("POST", f"/v1/datasets/{dataset}/{route}", {"sql": sql, **fields}, by=by, headers=headers)

    def close(self):
        self.run(self.gateway.admission.drain(5))
        self.run(self.listener.stop(5))
        self._end()

    def _end(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.access.close()


@pytest.fixture(scope="session")
def hospital_files(tmp_path_factory):
    files = HospitalFiles.of(tmp_path_factory.mktemp("hospital"))
    build(files, people=PEOPLE)
    declared = YAML(typ="safe").load(files.catalog)
    declared["budget"] = {
        "epsilon": 1000,
        "delta": 1e-3,
        "analysts": {"ada": {"epsilon": 200}, "robot": {"epsilon": 1}},
    }
    files.catalog.write_text(json.dumps(declared))  # JSON is YAML
    return files


@pytest.fixture(scope="session")
def open_service(tmp_path_factory, hospital_files):
    """Start a service over one or several datasets, as a context."""

    @contextmanager
    def opened(*names, limits=None, **options):
        folder = tmp_path_factory.mktemp("service")
        databases = {
            name: hr.connect(hospital_files.database, catalog=hospital_files.catalog, ledger=folder / f"{name}.ledger")
            for name in names or ("hospital",)
        }
        service = Service(databases, folder / "accounts.access", limits, **options)
        try:
            yield service
        finally:
            service.close()
            for database in databases.values():
                database.close()

    return opened


@pytest.fixture(scope="module")
def service(open_service):
    with open_service() as running:
        yield running
