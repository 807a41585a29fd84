"""Notes on an answer: a line for each limit that shaped it. They follow from the plan, and their numbers are right."""

import duckdb
import pytest

import hedgerow as hr
from hedgerow.answer import NoteKind

CATALOG = """\
dataset: clinic
budget: {epsilon: 1e4, delta: 1e-4, pure_epsilon: 1e3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 5}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      age: {lower: 0, upper: 110}
      region: {values: [north, south]}
  visits:
    unit: person
    max_rows: 20
    max_rows_per_group: 8
    max_groups: 5
    columns:
      cost: {lower: 0, upper: 5000}
"""
WARDS = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
QUESTIONS = [
    WARDS,
    "SELECT ward, COUNT(DISTINCT person) AS people FROM visits GROUP BY ward",
    "SELECT ward, MEDIAN(cost) AS middle FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward",
    "SELECT SUM(cost) AS total FROM visits",
    "SELECT region, AVG(age) AS mean FROM people GROUP BY ROLLUP(region)",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 100",
    "SELECT COUNT(*) AS n FROM visits a JOIN people b ON a.person = b.id",
]


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """Databases of the same schema: some people, the same without person 7, and nobody."""
    opened = {}
    for name, kept in {"all": "true", "without one": "person <> 7", "nobody": "false"}.items():
        folder = tmp_path_factory.mktemp("clinic")
        (folder / "clinic.yaml").write_text(CATALOG)
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, age INTEGER, region VARCHAR)")
            connection.execute("CREATE TABLE visits (person BIGINT, ward VARCHAR, cost DOUBLE)")
            rows = "SELECT i % 700 AS person, 'w' || i % 3 AS ward, i % 900 AS cost FROM range(5000) t(i)"
            connection.execute(f"INSERT INTO visits SELECT * FROM ({rows}) WHERE {kept}")
            people = (
                "SELECT i AS person, i % 90, CASE WHEN i % 2 = 0 THEN 'north' ELSE 'south' END FROM range(700) t(i)"
            )
            connection.execute(f"INSERT INTO people SELECT * FROM ({people}) WHERE {kept}")
        opened[name] = hr.connect(folder / "clinic.duckdb", catalog=folder / "clinic.yaml")
    yield opened
    for db in opened.values():
        db.close()


@pytest.fixture
def db(clinics):
    return clinics["all"]


def of_kind(answer, kind):
    return [note for note in answer.notes if note.kind is kind]


@pytest.mark.parametrize(("question", "mechanism"), [(WARDS, "laplace"), *((q, "gaussian") for q in QUESTIONS)])
def test_notes_are_equal_whatever_the_rows_are(clinics, question, mechanism):
    notes = {db.sql(question, mechanism=mechanism, reuse=False).notes for db in clinics.values()}
    assert len(notes) == 1
    assert notes != {()}


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("question", [QUESTIONS[0], QUESTIONS[1], QUESTIONS[3]])
def test_the_sizes_in_a_note_are_those_of_the_mechanism(db, question, mechanism):
    options = {"mechanism": mechanism, "epsilon": 0.5, "reuse": False}
    lowered = db.quote(question, max_groups=1, **options).survival["threshold"]
    answer = db.sql(question, **options)
    (note,) = of_kind(answer, NoteKind.MISSING_GROUPS)
    (threshold,) = (m.threshold for m in answer.receipt.mechanisms if m.threshold is not None)
    assert note.people == threshold
    assert note.short == (
        f"groups below about {float(f'{threshold:.2g}'):,.0f} people are usually not shown; "
        f"max_groups=1 would lower that to {float(f'{lowered:.2g}'):,.0f}"
    )
    (empty,) = of_kind(answer, NoteKind.EMPTY)
    assert f"max_groups=1 would lower that to about {float(f'{lowered:.2g}'):,.0f})" in empty.text
    assert lowered < threshold


def test_a_stored_answer_has_the_notes_of_the_first(db):
    first, again = db.sql(WARDS, epsilon=0.75), db.sql(WARDS, epsilon=0.75)
    assert again.receipt.reused
    assert again.notes == first.notes


def test_an_answer_with_a_target_has_notes_for_its_price(db):
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    answer = db.sql(question, within="abs:500", epsilon=50, reuse=False)
    (note,) = of_kind(answer, NoteKind.MISSING_GROUPS)
    paid = db.quote(question, epsilon=answer.receipt.charge.epsilon, reuse=False)
    assert note.people == pytest.approx(paid.survival["threshold"])


def test_where_max_groups_is_one_already_no_other_is_proposed(db):
    (note,) = of_kind(db.sql(WARDS, max_groups=1), NoteKind.MISSING_GROUPS)
    assert "max_groups" not in note.text


@pytest.mark.parametrize(
    ("question", "options", "expected"),
    [
        (WARDS, {}, "for at most 20 rows, 8 per group, in at most 5 groups"),
        (WARDS, {"max_rows": 1}, "for at most 1 row"),
        (WARDS, {"max_groups": 1}, "for at most 20 rows, 8 per group, in at most 1 group"),
        (QUESTIONS[1], {}, "once per group, in at most 5 groups"),
        (QUESTIONS[4], {}, "for at most 20 rows"),
        (QUESTIONS[4], {"max_rows": 1}, "for at most 1 row"),
        ("SELECT COUNT(DISTINCT person) AS people FROM visits", {}, None),
        ("SELECT COUNT(*) AS n FROM people", {}, None),
    ],
)
def test_the_limit_on_one_person_is_stated(db, question, options, expected):
    notes = of_kind(db.sql(question, **options), NoteKind.ROW_LIMIT)
    assert [note.short for note in notes] == (
        [] if expected is None else [f"each person counts {expected}; not part of ±"]
    )


@pytest.mark.parametrize(
    ("value", "clipped"),
    [
        ("SUM(cost)", ["cost is clipped to the range 0 to 5,000; not part of ±"]),
        ("SUM(cost / 2)", ["(cost / 2) is clipped to the range 0 to 2,500; not part of ±"]),
        (
            "SUM(CASE WHEN ward = 'a' THEN cost ELSE -cost END)",
            ["CASE WHEN (ward = a) THEN cost ELSE -cost END is clipped to the range -5,000 to 5,000; not part of ±"],
        ),
        ("SUM(CASE WHEN cost > 10 THEN 1 ELSE 0 END)", []),
        ("COUNT(cost)", []),
        ("COUNT(*)", []),
    ],
)
def test_bounds_that_may_cut_a_value_are_stated(db, value, clipped):
    answer = db.sql(f"SELECT {value} AS v FROM visits")
    assert [note.short for note in of_kind(answer, NoteKind.VALUE_BOUNDS)] == clipped


def test_a_value_of_a_query_in_from_is_named_by_what_it_computes(db):
    answer = db.sql("SELECT AVG(c) AS m FROM (SELECT person, MAX(cost) AS c FROM visits GROUP BY person) AS dearest")
    (note,) = of_kind(answer, NoteKind.VALUE_BOUNDS)
    assert note.of == "MAX(cost)"


def test_declared_groups_are_never_said_to_be_missing(db):
    (note,) = of_kind(db.sql(QUESTIONS[5]), NoteKind.MISSING_GROUPS)
    assert note.short is None
    assert "usually held back" in note.text


def test_people_see_the_short_notes_and_programs_the_whole_ones(db):
    answer = db.sql(WARDS, epsilon=20)
    shown = str(answer)
    notes = [note for note in answer.notes if note.short is not None and note.kind is not NoteKind.EMPTY]
    assert [line for line in shown.splitlines() if line.startswith("note: ")] == [
        f"note: {note.short}" for note in notes
    ]
    assert answer.to_dict()["notes"] == [str(note) for note in notes]
    assert all(len(note.short) < 100 for note in notes)
