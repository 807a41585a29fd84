"""Finding and making ledgers in a PostgreSQL database."""

from typing import TYPE_CHECKING

from hedgerow.ledger import postgres_faults as faults
from hedgerow.ledger.entries import FORMAT, Entry
from hedgerow.ledger.postgres import PostgresStore
from hedgerow.ledger.postgres_address import Address
from hedgerow.ledger.postgres_rows import Tables
from hedgerow.ledger.postgres_tables import TABLES, definition
from hedgerow.ledger.postgres_transaction import begin_writing, finishing, together, translating

if TYPE_CHECKING:
    from psycopg import Connection


def find(address: Address, dataset: str, ledger: str | None, patience: float) -> PostgresStore | None:
    """The ledger of a dataset; None if it has none, a `LedgerError` if the one that the catalog names is not there."""
    place = name(address, dataset)
    connection = address.connect(patience)
    try:
        with translating(place, writing=False):
            identity = _identity(connection, address, dataset, ledger, place)
        if identity is not None:
            return PostgresStore(address, identity, connection, place=place, patience=patience)
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def name(address: Address, dataset: str) -> str:
    """What a ledger is called in messages."""
    return f"of {dataset} in {address}"


def _identity(connection: "Connection", address: Address, dataset: str, ledger: str | None, place: str) -> str | None:
    """The id of the ledger that is meant, if there is one."""
    ids = dict(_ledgers(connection, address, dataset, ledger)) if _has_tables(connection, address) else {}
    if ledger is None:
        return next(iter(ids), None)
    if ledger not in ids:
        raise faults.other_id(place) if ids else faults.missing(place)
    if ids[ledger] != dataset:
        raise faults.other_dataset(place)
    return ledger


def _ledgers(connection: "Connection", address: Address, dataset: str, ledger: str | None) -> list[tuple[str, str]]:
    """The ledger of the dataset and the ledger of the id, with their datasets."""
    return connection.execute(
        f"SELECT ledger, dataset FROM {address.schema}.ledgers WHERE dataset = %s OR ledger = %s::text",
        (dataset, ledger),
    ).fetchall()


def _has_tables(connection: "Connection", address: Address) -> bool:
    """Whether there are ledgers in the schema; somebody else's tables are refused."""
    names = ", ".join(f"to_regclass('{address.schema}.{table}') IS NOT NULL" for table in TABLES)
    found = connection.execute(f"SELECT {names}").fetchone() or ()
    if any(found) and not all(found):
        raise faults.foreign(address)
    return all(found)


def write_new(address: Address, opening: Entry, patience: float) -> None:
    """Make a ledger, whole or not at all, and the tables if it is the first."""
    dataset, ledger = opening.body["dataset"], opening.body["ledger"]
    place = name(address, dataset)
    connection = address.connect(patience)
    try:
        with translating(place, writing=True):
            together(connection, begin_writing(patience, address.schema))
            with finishing(connection, place) as put_off:
                if not _has_tables(connection, address):
                    connection.execute(definition(address.schema))
                elif any(known == dataset for _, known in _ledgers(connection, address, dataset, None)):
                    raise faults.exists(place)
                put_off.append((f"INSERT INTO {address.schema}.ledgers VALUES (%s, %s, %s)", (ledger, dataset, FORMAT)))
                put_off.extend(Tables(address.schema, ledger, place).additions(opening))
    finally:
        connection.close()


def caution(address: Address, patience: float) -> str | None:
    """What the owner should know about the server, if anything."""
    connection = address.connect(patience)
    try:
        with translating(address, writing=False):
            row = connection.execute("SELECT current_setting('fsync')").fetchone()
    finally:
        connection.close()
    if row == ("on",):
        return None
    return (
        f"The server of {address} runs with fsync off: unless its storage is durable by itself, it can forget charges."
    )
