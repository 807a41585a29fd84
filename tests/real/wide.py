"""Wide tables with odd names (scikit-learn): spaces, brackets and a slash in names, 30 and 64 columns of numbers."""

import math

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from .dataset import Dataset, Question, Table

UPPER = {"area": 5000, "perimeter": 300, "radius": 50, "texture": 50, "proline": 2000, "magnesium": 200, "pixel": 16}
"""Common knowledge about such numbers, by a word in the name of the column."""

LOADERS = {"breast cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine, "digits": load_digits}
IDS = {"breast cancer": "patient no.", "iris": "flower #", "wine": "bottle", "digits": "image"}


def frame(name):
    """One table of scikit-learn, with a number for each row, and its class as a word where it has one."""
    loaded = LOADERS[name](as_frame=True)
    built = loaded.frame.rename(columns={"target": "class"})
    if name != "digits":
        built["class"] = built["class"].map(dict(enumerate(loaded.target_names))).astype("string")
    return built.assign(**{IDS[name]: range(1, len(built) + 1)})


def load():
    """All four."""
    return {name: Table(frame(name), IDS[name]) for name in LOADERS}


def upper(column):
    """The upper bound of a column."""
    return next((bound for word, bound in UPPER.items() if word in column), 30)


def catalog():
    """A catalog as an owner would write it with a loop over the columns: bounds for every number."""
    lines = []
    for name in LOADERS:
        columns = [c for c in frame(name).columns if c not in {"class", IDS[name]}]
        lines += [f'"{name}":', f'  unit: "{IDS[name]}"', "  unit_unique: true", "  columns:"]
        lines += [f'    "{column}": {{lower: 0, upper: {upper(column)}}}' for column in columns]
    return "\n".join(lines)


DIGITS = ", ".join(f"AVG(pixel_{row}_{column}) AS p{row}{column}" for row in range(8) for column in range(8))
CANCER = list(load_breast_cancer().feature_names)
QUESTIONS = [
    Question('SELECT class, COUNT(*) AS n, AVG("mean radius") AS radius FROM "breast cancer" GROUP BY class', keys=1),
    Question(
        'SELECT class, AVG("worst area") AS area, MEDIAN("mean texture") AS texture FROM "breast cancer" GROUP BY 1',
        keys=1,
    ),
    Question(f'SELECT {", ".join(f"""AVG("{c}") AS "{c}" """ for c in CANCER)} FROM "breast cancer"', within=math.inf),
    Question(f'SELECT {", ".join(f"""COUNT("{c}") AS "n {c}" """ for c in CANCER)} FROM "breast cancer"'),
    Question('SELECT CORR("mean radius", "mean perimeter") AS "r (radius)" FROM "breast cancer"', within=1),
    Question(
        'SELECT class AS "class (of iris)", AVG("sepal length (cm)") AS "length (cm)" FROM iris GROUP BY class', keys=1
    ),
    Question('SELECT COUNT(*) AS n FROM iris WHERE "petal width (cm)" > 0.5 AND "petal length (cm)" < 5'),
    Question('SELECT "sepal width (cm)" > 3 AS wide, class, COUNT(*) AS n FROM iris GROUP BY ALL', keys=2, least=3),
    Question('SELECT class, AVG("od280/od315_of_diluted_wines") AS od FROM wine GROUP BY class', keys=1, within=1),
    Question("SELECT AVG(alcohol) AS a, STDDEV(proline) AS s FROM wine", within=0.5),
    Question("SELECT class, COUNT(*) AS n FROM digits GROUP BY class ORDER BY class", keys=1),
    Question(f"SELECT {DIGITS} FROM digits"),
    Question(
        "SELECT class, AVG(pixel_3_3 + pixel_3_4 + pixel_4_3 + pixel_4_4) AS ink FROM digits GROUP BY class", keys=1
    ),
    Question("SELECT pixel_0_0 = 0 AND pixel_7_7 = 0 AS corners, COUNT(*) AS n FROM digits GROUP BY 1", keys=1),
]
DATASET = Dataset("wide", load, catalog(), QUESTIONS)
