"""The hospital's files: a DuckDB database with real constraints, its catalog and its ledger.

The generator of the rows is public and seeded: the data is the same on every machine.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hedgerow.catalog import BudgetPolicy, load_catalog
from hedgerow.ledger import create_ledger

REGIONS = ("north", "south", "east", "west", "islands")
POPULATIONS = (412_000, 655_000, 503_000, 588_000, 24_000)
SHARES = (0.19, 0.30, 0.23, 0.265, 0.015)
OLDER = (2.0, 0.0, -2.0, 0.0, 7.0)
SMOKING = (0.27, 0.19, 0.24, 0.17, 0.12)
OLDEST = 104

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def patients(count: int, rng: np.random.Generator) -> pa.Table:
    """`count` patients, one row each."""
    region = rng.choice(len(REGIONS), size=count, p=SHARES)
    # Ages of children, adults and the old: patients are older than the population.
    kind = rng.choice(3, size=len(region), p=(0.14, 0.46, 0.40))
    centre, stddev = np.array([7.0, 41.0, 70.0])[kind], np.array([5.0, 12.0, 11.0])[kind]
    years = rng.normal(centre + np.asarray(OLDER)[region] * (kind > 0), stddev)
    age = np.clip(np.rint(years), 0, OLDEST).astype(np.int64)
    smoker = rng.random(count) < np.asarray(SMOKING)[region] * _habit(age)
    return pa.table(
        {
            "id": np.arange(1, count + 1),
            "region": np.asarray(REGIONS)[region],
            "age": age,
            "sex": np.where(rng.random(count) < 0.52, "female", "male"),
            "smoker": smoker,
            "cover": np.where(rng.random(count) < 0.06 + 0.10 * (age > 45), "private", "statutory"),
        }
    )


def _habit(age: Integers) -> Floats:
    """Return the frequency of smoking at an age, relative to the region's: zero in children, falling in old age."""
    return np.interp(age, [15, 16, 25, 50, 90], [0.0, 0.6, 1.2, 1.1, 0.3])


FIRST_DAY = np.datetime64("2024-01-01")
DAYS = 731


@dataclass(frozen=True, slots=True)
class Illness:
    """One diagnosis: its frequency in youth and in old age, its ward, its duration and its cost.

    `smokers` is the factor on its frequency in smokers, `winter` the strength of its season.
    """

    name: str
    ward: str
    young: float
    old: float
    nights: float
    cost: float
    smokers: float = 1.0
    winter: float = 0.0


ILLNESSES = (
    Illness("asthma", "internal", 9, 4, 1.2, 330, smokers=1.8, winter=0.3),
    Illness("back pain", "orthopaedics", 6, 13, 0.4, 210),
    Illness("bronchitis", "internal", 8, 10, 1.6, 360, smokers=2.6, winter=0.7),
    Illness("cataract", "surgery", 0.2, 12, 0.3, 1150),
    Illness("diabetes", "internal", 2, 14, 1.9, 520),
    Illness("fracture", "orthopaedics", 12, 9, 2.6, 1600),
    Illness("heart failure", "cardiology", 0.3, 12, 5.2, 2100, smokers=1.7),
    Illness("hypertension", "cardiology", 1.5, 17, 0.6, 240, smokers=1.2),
    Illness("influenza", "internal", 10, 6, 1.1, 230, winter=0.95),
    Illness("migraine", "neurology", 7, 3, 0.3, 190),
    Illness("pregnancy", "obstetrics", 8, 0, 2.1, 1300),
    Illness("stroke", "neurology", 0.2, 5, 8.1, 3300, smokers=1.5),
    Illness("leprosy", "internal", 0.0006, 0.0006, 6.0, 2400),
)


def visits(age: Integers, smoker: Integers, rng: np.random.Generator) -> pa.Table:
    """Return the visits of all patients, whose ids count from 1."""
    owner = np.repeat(np.arange(len(age)), _how_often(age, smoker, rng))
    rng.shuffle(owner)
    # Diagnoses: everybody has one recurring illness, the reason for about half of the visits.
    chronic = _draw(age, smoker, rng)
    other = _draw(age[owner], smoker[owner], rng)
    illness = np.where(rng.random(len(owner)) < 0.5, chronic[owner], other)
    nights = rng.poisson(_of("nights")[illness] * (0.7 + age[owner] / 110))
    return pa.table(
        {
            "id": np.arange(1, len(owner) + 1),
            "patient_id": owner + 1,
            "admitted": _days(illness, rng),
            "ward": np.array([known.ward for known in ILLNESSES])[illness],
            "diagnosis": np.array([illness_kind.name for illness_kind in ILLNESSES])[illness],
            "nights": nights,
            "cost": _costs(illness, nights, rng),
        }
    )


def _of(field: str) -> Floats:
    return np.array([getattr(illness, field) for illness in ILLNESSES], dtype=float)


def _how_often(age: Integers, smoker: Integers, rng: np.random.Generator) -> Integers:
    """Return the number of visits: a Poisson count whose rate differs from person to person."""
    rate = rng.gamma(2.5, (2.0 + age / 20 + 0.9 * smoker) / 2.5)
    return 1 + rng.poisson(rate)


def _draw(age: Integers, smoker: Integers, rng: np.random.Generator) -> Integers:
    """An illness for each person, by age and smoking."""
    part = np.clip((age - 15) / 60, 0, 1)[:, None]
    weight = _of("young") * (1 - part) + _of("old") * part
    weight *= np.where(smoker[:, None] > 0, _of("smokers"), 1.0)
    steps = np.cumsum(weight, axis=1)
    passed = rng.random(len(age))[:, None] * steps[:, -1:] > steps
    return np.asarray(passed.sum(axis=1), dtype=np.int64)


def _days(illness: Integers, rng: np.random.Generator) -> np.ndarray:
    """Return a day of admission; seasonal illnesses are moved towards January."""
    day = rng.integers(0, DAYS, len(illness))
    january = np.where(rng.random(len(illness)) < 0.5, 0, 366) + np.rint(rng.normal(20, 28, len(illness)))
    seasonal = rng.random(len(illness)) < _of("winter")[illness]
    chosen = np.where(seasonal, np.mod(january, DAYS), day).astype(np.int64)
    return FIRST_DAY + chosen.astype("timedelta64[D]")


def _costs(illness: Integers, nights: Integers, rng: np.random.Generator) -> Floats:
    """Return the cost: a treatment with a long tail, and a price for each night."""
    treatment = _of("cost")[illness] * rng.lognormal(-0.18, 0.6, len(illness))
    return np.asarray(np.round(treatment + 190.0 * nights, 2), dtype=np.float64)


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
    public: true           # not about people: exact and free
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
    """Return the files that exist already."""
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
