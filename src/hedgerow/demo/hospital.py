"""The hospital's files: a DuckDB database with real constraints, its catalog and its ledger."""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from hedgerow.catalog import BudgetPolicy, load_catalog
from hedgerow.demo.catalog import DELTA, EPSILON, catalog_text
from hedgerow.demo.people import POPULATIONS, REGIONS, patients
from hedgerow.demo.visits import visits
from hedgerow.ledger import create_ledger

PATIENTS = 60_000
SEED = 20_260_101
"""The seed of the made-up data, which is public. Noise is never seeded."""

TABLES = """
CREATE TABLE regions (name VARCHAR PRIMARY KEY, population INTEGER NOT NULL);
CREATE TABLE wards (name VARCHAR PRIMARY KEY, floor INTEGER NOT NULL, beds INTEGER NOT NULL);
CREATE TABLE patients (
    id BIGINT PRIMARY KEY, region VARCHAR NOT NULL REFERENCES regions (name), age INTEGER NOT NULL,
    sex VARCHAR NOT NULL, smoker BOOLEAN NOT NULL, cover VARCHAR NOT NULL);
CREATE TABLE visits (
    id BIGINT PRIMARY KEY, patient_id BIGINT NOT NULL REFERENCES patients (id), admitted DATE NOT NULL,
    ward VARCHAR NOT NULL REFERENCES wards (name), diagnosis VARCHAR NOT NULL, nights INTEGER NOT NULL,
    cost DECIMAL(10, 2) NOT NULL);
"""
WARDS = {
    "name": ["cardiology", "internal", "neurology", "obstetrics", "orthopaedics", "surgery"],
    "floor": [3, 2, 3, 1, 2, 1],
    "beds": [48, 96, 40, 32, 54, 60],
}


@dataclass(frozen=True, slots=True)
class HospitalFiles:
    """Where the hospital's files are."""

    database: Path
    catalog: Path
    ledger: Path

    @classmethod
    def of(cls, folder: Path) -> "HospitalFiles":
        """The files in `folder`."""
        return cls(folder / "hospital.duckdb", folder / "hospital.yaml", folder / "hospital.ledger")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows were made up."""

    patients: int
    visits: int


def existing(files: HospitalFiles) -> list[Path]:
    """Those of the files that are there already."""
    return [path for path in (files.database, files.catalog, files.ledger) if path.exists()]


def build(files: HospitalFiles, *, people: int = PATIENTS) -> Sizes:
    """Write all three files, in place of those that are there."""
    files.database.parent.mkdir(parents=True, exist_ok=True)
    for path in (*existing(files), files.database.with_name(files.database.name + ".wal")):
        path.unlink(missing_ok=True)
    sizes = _fill(files.database, people)
    policy = BudgetPolicy(EPSILON, DELTA)
    identity = create_ledger(files.ledger, dataset="hospital", policy=policy)
    files.catalog.write_text(catalog_text(identity), encoding="utf-8")
    load_catalog(files.catalog)
    return sizes


def _fill(database: Path, people: int) -> Sizes:
    rng = np.random.default_rng(SEED)
    persons = patients(people, rng)
    stays = visits(persons["age"].to_numpy(), persons["smoker"].to_numpy(), rng)
    tables = {
        "regions": pa.table({"name": REGIONS, "population": POPULATIONS}),
        "wards": pa.table(WARDS),
        "patients": persons,
        "visits": stays,
    }
    with duckdb.connect(str(database)) as connection:
        connection.execute(TABLES)
        for name, table in tables.items():
            connection.register("made_up", table)
            connection.execute(f"INSERT INTO {name} SELECT * FROM made_up")
    return Sizes(persons.num_rows, stays.num_rows)
