"""Cars, airports, temperatures and deaths (vega_datasets): capital letters, missing values, text with quotes, dates."""

import json
from pathlib import Path

import pandas as pd
from vega_datasets import data

from .dataset import Dataset, Question, Table

CATALOG = """\
cars:
  unit: Nr
  unit_unique: true
  columns:
    Miles_per_Gallon: {lower: 5, upper: 50}
    Horsepower: {lower: 0, upper: 200}
    Weight_in_lbs: {lower: 1000, upper: 6000}
    Acceleration: {lower: 5, upper: 30}
    Cylinders: {values: [3, 4, 5, 6, 8]}
    Origin: {values: [USA, Europe, Japan]}
"Los Angeles, 1992":
  unit: victim
  unit_unique: true
  columns:
    age: {lower: 0, upper: 90}
    first_name: {hidden: true}
    last_name: {hidden: true}
"U.S. airports": {public: true}
seattle: {unit: day, max_rows: 24, max_groups: 24, columns: {temp: {lower: 20, upper: 100}}}
"""
CUT = "SELECT * REPLACE (CASE WHEN Horsepower > 200 THEN 200 ELSE Horsepower END AS Horsepower) FROM source"


def load():
    """Cars by number, the people who died in the riots, public airports, and the hours of a year by day."""
    cars = pd.DataFrame(json.loads(Path(data.cars.filepath).read_text(encoding="utf-8")))
    cars["Year"] = pd.to_datetime(cars["Year"]).astype("datetime64[us]")
    riots = pd.read_csv(data.la_riots.filepath, parse_dates=["death_date"])
    seattle = pd.read_csv(data.seattle_temps.filepath, parse_dates=["date"]).rename(columns={"date": "hour"})
    seattle["day"] = (seattle["hour"] - pd.Timestamp("2010-01-01")).dt.days
    return {
        "cars": Table(cars.assign(Nr=range(1, len(cars) + 1)), "Nr", CUT),
        "Los Angeles, 1992": Table(riots.assign(victim=range(1, len(riots) + 1)), "victim"),
        "U.S. airports": Table(pd.read_csv(data.airports.filepath), "iata"),
        "seattle": Table(seattle),
    }


QUESTIONS = [
    Question(
        'SELECT Origin, AVG(Miles_per_Gallon) AS mpg, COUNT("Horsepower") AS known FROM cars GROUP BY Origin', keys=1
    ),
    Question('SELECT "Cylinders", COUNT(*) AS "how many?" FROM cars GROUP BY "Cylinders"', keys=1, least=3),
    Question("SELECT EXTRACT(year FROM Year) AS y, AVG(weight_in_lbs) AS lbs FROM cars GROUP BY y ORDER BY y", keys=1),
    Question("SELECT COUNT(*) AS n FROM cars WHERE Name LIKE 'ford%' OR Name ILIKE '%TOYOTA%'"),
    Question("SELECT SPLIT_PART(Name, ' ', 1) AS maker, COUNT(*) AS n FROM cars GROUP BY maker", keys=1, least=6),
    Question("SELECT COUNT(*) - COUNT(Miles_per_Gallon) AS missing, COUNT(*) AS n FROM cars", within=1),
    Question(
        "SELECT COALESCE(Horsepower, 0) > 150 AS strong, AVG(Acceleration) AS a FROM cars GROUP BY strong", keys=1
    ),
    Question("SELECT Horsepower IS NULL AS unknown, COUNT(*) AS n FROM cars GROUP BY 1", keys=1, least=1),
    Question("SELECT CORR(Weight_in_lbs, Miles_per_Gallon) AS r FROM cars WHERE Miles_per_Gallon IS NOT NULL"),
    Question("SELECT Origin, MEDIAN(Horsepower) AS hp FROM cars WHERE Horsepower IS NOT NULL GROUP BY Origin", keys=1),
    Question(
        "SELECT Origin, Year < DATE '1976-01-01' AS early, COUNT(*) AS n, AVG(Acceleration) AS a FROM cars "
        "GROUP BY GROUPING SETS ((Origin, early), (Origin), ())",
        keys=2,
    ),
    Question("SELECT MODE(Origin) AS most FROM cars"),
    Question("SELECT MODE(Cylinders) AS most FROM cars"),
    Question("SELECT COUNT(*) AS n, AVG(age) AS age FROM \"Los Angeles, 1992\" WHERE gender = 'Male'"),
    Question('SELECT race, COUNT(*) AS n FROM "Los Angeles, 1992" GROUP BY race', keys=1, least=2),
    Question(
        "SELECT COUNT(*) AS n FROM \"Los Angeles, 1992\" WHERE death_date <= DATE '1992-05-01' AND "
        "\"type\" = 'Homicide'"
    ),
    Question('SELECT COUNT(*) AS n FROM "U.S. airports" WHERE state IS NULL OR city IS NULL'),
    Question(
        "SELECT state, COUNT(*) AS n FROM \"U.S. airports\" WHERE name LIKE '%''%' GROUP BY state ORDER "
        "BY n DESC, state",
        keys=2,
    ),
    Question("SELECT EXTRACT(hour FROM hour) AS h, AVG(temp) AS t FROM seattle GROUP BY h ORDER BY h", keys=1),
    Question("SELECT DATE_TRUNC('month', hour) AS m, AVG(temp) AS t FROM seattle GROUP BY m ORDER BY m", keys=1),
    Question(
        "SELECT AVG(high - low) AS swing FROM (SELECT day, MAX(temp) AS high, MIN(temp) AS low FROM "
        "seattle GROUP BY day) AS d"
    ),
    Question("SELECT STRFTIME(hour, '%Y-%m') AS m, COUNT(*) AS hours FROM seattle GROUP BY m", keys=1),
]
DATASET = Dataset("cars", load, CATALOG, QUESTIONS)
