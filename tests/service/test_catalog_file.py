"""Catalogs that owners save in a running service: as a whole or not at all, with a copy, never with less protection."""

import asyncio

import pytest
from tests.internals import session_of

from hedgerow.errors import CatalogError
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.catalog_file import CatalogFiles
from hedgerow.service.errors import AccessError
from hedgerow.service.gateway import Gateway
from hedgerow.service.statement_queue import ServiceLimits

STATEMENTS = ["CREATE TABLE people AS SELECT i AS id, i % 7 AS x FROM range(900) r(i)"]
TABLES = "people: {unit: id, unit_unique: true, columns: {x: {lower: 0, upper: 7}}}  # people"
OWNER, ANALYST = Identity("olga", Role.OWNER), Identity("ada")
ELSEWHERE = Identity("otto", Role.OWNER, frozenset({"other"}))


@pytest.fixture
def db(build):
    return build(STATEMENTS, TABLES, min_frequency=5, defaults="epsilon: 0.3, delta: 1e-8")


def saved(db, change, *, who=OWNER, begun=None, reload=None):
    """Save a change of the catalog; return the file and its copies."""
    path = session_of(db).catalog.path

    async def nothing():
        pass

    async def run():
        access = open_access(path.with_name("shop.access"))
        access.observe_change = lambda *change: changes.append(change)
        gateway = Gateway({"people": db}, access, ServiceLimits())
        files = CatalogFiles(gateway, reload or nothing)
        try:
            text = files.text(OWNER, "people")
            await files.save(who, "people", text.replace(*change), expected=begun or text)
        finally:
            await gateway.admission.drain(1)
            access.close()

    changes = []
    asyncio.run(run())
    assert changes == [("olga", "save-catalog", "people")]
    return path.read_bytes(), [copy.read_bytes() for copy in sorted(path.parent.glob(f"{path.name}.*"))]


def test_a_catalog_is_replaced_and_keeps_its_comments_its_line_ends_and_numbered_copies(db):
    path = session_of(db).catalog.path
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    first = path.read_bytes()
    second, copies = saved(db, ("upper: 7", "upper: 8"))
    assert second == first.replace(b"upper: 7", b"upper: 8")
    assert b"# people\r\n" in second
    assert copies == [first]
    third, copies = saved(db, ("upper: 8", "upper: 9"))
    assert b"upper: 9" in third
    assert copies == [first, second]


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        (("upper: 7", "upper: 8"), {"begun": "another text"}, "catalog-changed"),
        (("upper: 7", "upper: -8"), {}, "catalog-bounds"),
        (("unit: id, unit_unique: true", "public: true"), {}, "catalog-loosened"),
        (("epsilon: 0.3", "epsilon: 0.3, min_frequency: 1"), {}, "catalog-duplicate"),
    ],
)
def test_what_may_not_be_saved_changes_nothing(db, change, options, code):
    path = session_of(db).catalog.path
    before = path.read_bytes()
    with pytest.raises(CatalogError) as refused:
        saved(db, change, **options)
    assert refused.value.code == code
    assert path.read_bytes() == before
    assert list(path.parent.glob(f"{path.name}.*")) == []


def test_a_catalog_that_cannot_be_used_is_put_back(db):
    async def fail():
        raise CatalogError("no", code="catalog-file")

    path = session_of(db).catalog.path
    before = path.read_bytes()
    with pytest.raises(CatalogError, match="no"):
        saved(db, ("upper: 7", "upper: 8"), reload=fail)
    assert path.read_bytes() == before


@pytest.mark.parametrize("who", [ANALYST, ELSEWHERE, Identity("ida", Role.AUDITOR)])
def test_only_an_owner_of_the_dataset_reads_or_writes_its_catalog(db, who):
    with pytest.raises(AccessError):
        saved(db, ("upper: 7", "upper: 8"), who=who)

    async def run():
        gateway = Gateway({"people": db}, None, ServiceLimits())
        files = CatalogFiles(gateway, None)
        with pytest.raises(AccessError):
            files.text(who, "people")
        with pytest.raises(AccessError):
            await files.set_cap(who, "people", "ada", 1.0)
        with pytest.raises(AccessError):
            await gateway.as_owner(who, "people", "catalog", lambda database: database.budget, interface="console")

    asyncio.run(run())
