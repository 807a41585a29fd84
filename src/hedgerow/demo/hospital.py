"""The hospital's files: a DuckDB database with real constraints, its catalog and its ledger."""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from hedgerow.catalog import BudgetPolicy, load_catalog
from hedgerow.demo.data import POPULATIONS, REGIONS, patients, visits
from hedgerow.ledger import create_ledger

EPSILON = 3.0
DELTA = 1e-6

CATALOG = """\
# What hedgerow protects in this hospital, and how much may be learnt about it.
# The bounds below are common knowledge about hospitals; nobody looked at the data to find them.
dataset: hospital
budget:
  epsilon: {epsilon:g}               # how much all answers together may reveal about any one patient
  delta: {delta:g}             # the probability that they reveal more
  pure_epsilon: 0          # nothing kept for Laplace noise: this data will be asked many questions
  ledger: "{ledger}"  # the ledger's id: without that ledger nothing is answered
defaults:                  # used when a query does not say
  epsilon: 0.2
  delta: 1e-8
  min_frequency: 10        # no group of fewer than ten patients is ever shown
tables:
  patients:
    unit: id               # whom we protect: one patient, with everything that is known about them
    unit_unique: true      # one row each; the database enforces it (PRIMARY KEY)
    columns:
      age: {{lower: 0, upper: 105}}
      region: {{values: [north, south, east, west, islands]}}  # public: these groups always appear
  visits:
    unit: patient_id       # a visit belongs to the patient, not to itself
    max_rows: 20           # a patient counts like at most twenty visits in all,
    max_rows_per_group: 12 # twelve in one group of an answer,
    max_groups: 6          # and helps to show at most six groups
    columns:
      nights: {{lower: 0, upper: 30}}
      cost: {{lower: 0, upper: 10000}}  # a dearer visit counts as 10 000
  wards:
    public: true           # about nobody: exact and free
  regions:
    public: true
"""


def catalog_text(ledger: str) -> str:
    """The catalog, naming the ledger that belongs to it."""
    return CATALOG.format(epsilon=EPSILON, delta=DELTA, ledger=ledger)


PATIENTS = 60_000
SEED = 20_260_101
"""The seed of the generated data, which is public. Noise is never seeded."""

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
    """Paths of the hospital's files."""

    database: Path
    catalog: Path
    ledger: Path

    @classmethod
    def of(cls, folder: Path) -> "HospitalFiles":
        """The files in `folder`."""
        return cls(folder / "hospital.duckdb", folder / "hospital.yaml", folder / "hospital.ledger")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of rows that were generated."""

    patients: int
    visits: int


def existing(files: HospitalFiles) -> list[Path]:
    """Those of the files that are there already."""
    return [path for path in (files.database, files.catalog, files.ledger) if path.exists()]


def build(files: HospitalFiles, *, people: int = PATIENTS) -> Sizes:
    """Write all three files, replacing existing ones."""
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
