"""The patients: age, sex, smoking and cover, which depend on where they live and on each other.

The generator is public and seeded: the data is made up, and the same on every machine.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

REGIONS = ("north", "south", "east", "west", "islands")
POPULATIONS = (412_000, 655_000, 503_000, 588_000, 24_000)
SHARES = (0.19, 0.30, 0.23, 0.265, 0.015)
OLDER = (2.0, 0.0, -2.0, 0.0, 7.0)
SMOKING = (0.27, 0.19, 0.24, 0.17, 0.12)
OLDEST = 104

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def patients(count: int, rng: np.random.Generator) -> pa.Table:
    """`count` patients, one row each."""
    region = rng.choice(len(REGIONS), size=count, p=SHARES)
    age = _ages(region, rng)
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
    """How common smoking is at an age, against the region's usual: never in children, less and less in the old."""
    return np.interp(age, [15, 16, 25, 50, 90], [0.0, 0.6, 1.2, 1.1, 0.3])


def _ages(region: Integers, rng: np.random.Generator) -> Integers:
    """Children, adults and the old: people who see a hospital are older than people in the street."""
    kind = rng.choice(3, size=len(region), p=(0.14, 0.46, 0.40))
    centre, spread = np.array([7.0, 41.0, 70.0])[kind], np.array([5.0, 12.0, 11.0])[kind]
    years = rng.normal(centre + np.asarray(OLDER)[region] * (kind > 0), spread)
    return np.clip(np.rint(years), 0, OLDEST).astype(np.int64)
