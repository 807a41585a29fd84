"""The made-up hospital: plausible, the same everywhere, with real constraints."""

import duckdb
import pytest

from hedgerow.backends import connect_backend
from hedgerow.catalog import check_catalog, load_catalog
from hedgerow.demo import HospitalFiles, build, existing


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    files = HospitalFiles.of(tmp_path_factory.mktemp("hospital"))
    return files, build(files)


@pytest.fixture
def ask(hospital):
    with duckdb.connect(str(hospital[0].database), read_only=True) as connection:
        yield lambda query: connection.execute(query).fetchall()


def test_it_has_the_size_of_a_real_one(hospital, ask):
    _, sizes = hospital
    assert sizes.patients == 60_000
    assert sizes.visits > 300_000
    assert ask("SELECT COUNT(*) FROM visits") == [(sizes.visits,)]


def test_the_same_data_is_made_every_time(tmp_path):
    query = "SELECT BIT_XOR(HASH(v)) FROM visits v UNION ALL SELECT BIT_XOR(HASH(p)) FROM patients p"
    built = []
    for folder in ("once", "again"):
        files = HospitalFiles.of(tmp_path / folder)
        build(files, people=1000)
        with duckdb.connect(str(files.database), read_only=True) as connection:
            built.append(connection.execute(query).fetchall())
    assert built[0] == built[1]


def test_keys_are_enforced_by_the_database(hospital, ask):
    actual = ask("SELECT table_name, constraint_type FROM duckdb_constraints() WHERE constraint_type <> 'NOT NULL'")
    assert ("patients", "PRIMARY KEY") in actual
    assert ("visits", "FOREIGN KEY") in actual


def test_the_catalog_agrees_with_the_database(hospital):
    files, _ = hospital
    backend = connect_backend(files.database)
    try:
        findings = check_catalog(load_catalog(files.catalog), backend.schema(), is_unique=backend.is_unique)
    finally:
        backend.close()
    assert {finding.level for finding in findings} == {"ok", "unknown"}


def test_ages_costs_and_habits_hang_together(ask):
    ((young, old),) = ask(
        "SELECT AVG(smoker::INT) FILTER (age BETWEEN 25 AND 50), AVG(smoker::INT) FILTER (age > 75) FROM patients"
    )
    assert young > 1.5 * old
    ((median, far),) = ask("SELECT quantile_cont(cost, 0.5), quantile_cont(cost, 0.999) FROM visits")
    assert far > 8 * median
    ((winter, summer),) = ask(
        "SELECT COUNT(*) FILTER (month(admitted) IN (12, 1, 2)), COUNT(*) FILTER (month(admitted) IN (6, 7, 8)) "
        "FROM visits WHERE diagnosis = 'influenza'"
    )
    assert winter > 10 * summer
    ((children, elders),) = ask(
        "SELECT COUNT(*) FILTER (age < 18) / COUNT(DISTINCT p.id) FILTER (age < 18), "
        "COUNT(*) FILTER (age > 70) / COUNT(DISTINCT p.id) FILTER (age > 70) "
        "FROM visits v JOIN patients p ON p.id = v.patient_id"
    )
    assert elders > 1.4 * children


def test_the_bounds_cut_little_off(ask):
    assert ask("SELECT COUNT(*) FILTER (cost > 10000) < 0.005 * COUNT(*) FROM visits") == [(True,)]
    assert ask(
        "SELECT COUNT(*) FILTER (n > 20) < 0.01 * COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient_id)"
    ) == [(True,)]


def test_one_illness_is_too_rare_to_be_shown(ask):
    ((patients,),) = ask("SELECT COUNT(DISTINCT patient_id) FROM visits WHERE diagnosis = 'leprosy'")
    assert 0 < patients < 10


def test_only_its_own_files_are_replaced(tmp_path):
    files = HospitalFiles.of(tmp_path)
    (tmp_path / "mine.txt").write_text("precious")
    build(files, people=200)
    first = files.catalog.read_text()
    build(files, people=200)
    assert files.catalog.read_text() != first
    assert (tmp_path / "mine.txt").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", *(path.name for path in existing(files))}
