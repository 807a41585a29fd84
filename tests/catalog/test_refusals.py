"""Catalogs that must not load: each text is refused by its code, at the line marked with `<--`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.catalog import codes, load_catalog
from hedgerow.catalog.strict_yaml import MAX_BYTES
from hedgerow.errors import CatalogError

BASE = """\
dataset: shop
budget:
  epsilon: 3
  delta: 1e-6
  {budget}
defaults:
  min_frequency: 10
  {defaults}
tables:
  people:
    unit: id
    {table}
    columns:
      income: {{lower: 0, upper: 10}}
      {column}
  {other}
"""


def catalog(**parts):
    """The base catalog with lines put in."""
    return BASE.format(
        **{name: parts.get(name, "# nothing") for name in ("budget", "defaults", "table", "column", "other")}
    )


def marked_line(text):
    return next(number for number, line in enumerate(text.split("\n"), 1) if "<--" in line)


def check(error, code, line):
    assert error.code == code
    assert error.span.line == line
    assert error.message.startswith(f"shop.yaml:{line}: ")
    assert error.hint
    assert error.exit_code == 2


def test_the_base_of_all_these_texts_loads(load):
    assert list(load(catalog()).tables) == ["people"]


LIMITS = [
    ("seconds: 0", codes.NUMBER),
    ("seconds: soon", codes.NUMBER),
    ("seconds: 1e9", codes.NUMBER),
    ("memory: 4096", codes.CHOICE),
    ("memory: 4 gigabytes", codes.CHOICE),
    ("memory: 1MB", codes.CHOICE),
    ("memory: 9999999TB", codes.CHOICE),
    ("memory: true", codes.CHOICE),
    ("rows: 0", codes.NUMBER),
    ("rows: 1.5", codes.NUMBER),
    ("joined_rows: -1", codes.NUMBER),
    ("rows_per_person: 1e19", codes.NUMBER),
    ("row: 10", codes.UNKNOWN_FIELD),
]


@pytest.mark.parametrize(("line", "code"), LIMITS)
def test_a_limit_that_cannot_be_meant_is_refused(load, line, code):
    text = catalog() + f"limits:\n  {line}  # <--\n"
    with pytest.raises(CatalogError) as caught:
        load(text)
    check(caught.value, code, marked_line(text))


BUDGETS = [
    ("epsilom: 1  # <--", codes.UNKNOWN_FIELD, "Did you mean `epsilon`?"),
    ("zzz: 1  # <--", codes.UNKNOWN_FIELD, "The fields are `epsilon`, `delta`"),
    ("<<: {epsilon: 1}  # <--", codes.UNKNOWN_FIELD, "`<<`"),
    ("epsilon: 1  # <--", codes.DUPLICATE, "line 3"),
    ("pure_epsilon: 3.1  # <--", codes.BUDGET, "from 0 to 3"),
    ("pure_epsilon: -1  # <--", codes.NUMBER, "0 to 1e+06"),
    ("pure_epsilon: true  # <--", codes.NUMBER, "a number is expected"),
    ("refresh: 30  # <--", codes.CHOICE, "30d"),
    ("refresh: 0d  # <--", codes.CHOICE, "30d"),
    ("refresh: -3d  # <--", codes.CHOICE, "30d"),
    ("refresh: 1.5d  # <--", codes.CHOICE, "30d"),
    ("refresh: 30 d  # <--", codes.CHOICE, "30d"),
    ("refresh: 999999w  # <--", codes.CHOICE, "30d"),
    ("refresh: ٣d  # <--", codes.CHOICE, "30d"),
    ("refresh: [30d]  # <--", codes.SHAPE, "a single value"),
    ("refresh:  # <--", codes.CHOICE, "never"),
    ("lifetime: {epsilon: 12}  # <--", codes.BUDGET, "refresh"),
    ("refresh: 30d\n  lifetime: {epsilon: 2}  # <--", codes.BUDGET, "at least 3"),
    ("per_query: 1.0  # <--", codes.SHAPE, "per_query: {epsilon: 1.0}"),
    ("per_query:  # <--", codes.SHAPE, "per_query: {epsilon: 1.0}"),
    ("per_query: {}  # <--", codes.MISSING_FIELD, "epsilon: 1.0"),
    ("per_query: {delta: 1e-7}  # <--", codes.MISSING_FIELD, "epsilon: 1.0"),
    ("per_query: {epsilon: 0}  # <--", codes.NUMBER, "1e-09"),
    ("per_query: {epsilon: 1, rho: 2}  # <--", codes.UNKNOWN_FIELD, "`epsilon`, `delta`"),
    ("queries: 0  # <--", codes.NUMBER, "whole number"),
    ("queries: 2.5  # <--", codes.NUMBER, "decimal point"),
    ("queries: 10.0  # <--", codes.NUMBER, "decimal point"),
    ("queries: '10'  # <--", codes.NUMBER, "quotes"),
    ("queries: 1e13  # <--", codes.NUMBER, "range"),
    ("schedule: closed  # <--", codes.CHOICE, "schedule: open"),
    ("queries: 10\n  schedule: open  # <--", codes.BUDGET, "one of the two"),
    ("analysts: [alice]  # <--", codes.SHAPE, "mapping"),
    ("analysts:  # <--", codes.SHAPE, "mapping"),
    ("analysts: {alice: 1}  # <--", codes.SHAPE, "alice: {epsilon: 1.0}"),
    ("analysts: {alice: {epsilon: -1}}  # <--", codes.NUMBER, "range"),
    ("analysts:\n    alice: {epsilon: 1}\n    alice: {epsilon: 2}  # <--", codes.DUPLICATE, "line 6"),
    ("analysts:\n    alice:\n      epsilon: 1\n      delta: 1  # <--", codes.NUMBER, "below 1"),
    ("analysts:\n    '': {epsilon: 1}  # <--", codes.SHAPE, "name: value"),
    ("ledger: true  # <--", codes.TEXT, "quotes"),
    ("ledger: ''  # <--", codes.TEXT, "name"),
    ("ledger: ???  # <--", codes.FILL_IN, "`ledger`"),
]

DEFAULTS = [
    ("epsilon: 5000  # <--", codes.NUMBER, "range"),
    ("epsilon: 1e-7  # <--", codes.NUMBER, "range"),
    ("delta: 0.6  # <--", codes.NUMBER, "range"),
    ("delta: 1e-16  # <--", codes.NUMBER, "range"),
    ("confidence: 0.4  # <--", codes.NUMBER, "range"),
    ("min_frequncy: 1  # <--", codes.UNKNOWN_FIELD, "`min_frequency`"),
    ("min_frequency: 3  # <--", codes.DUPLICATE, "line 7"),
    ("epsilon: 0  # <--", codes.NUMBER, "range"),
    ("epsilon: 1e-320  # <--", codes.NUMBER, "range"),
    ("epsilon: 1e7  # <--", codes.NUMBER, "range"),
    ("epsilon: .nan  # <--", codes.NUMBER, "finite"),
    ("epsilon: .inf  # <--", codes.NUMBER, "finite"),
    ("epsilon: -.INF  # <--", codes.NUMBER, "finite"),
    ("epsilon: 1e999  # <--", codes.NUMBER, "finite"),
    (f"epsilon: {'9' * 5000}  # <--", codes.NUMBER, "finite"),
    ("epsilon: nan  # <--", codes.NUMBER, "a number is expected"),
    ("epsilon: '0.5'  # <--", codes.NUMBER, "quotes"),
    ("epsilon: 1_000  # <--", codes.NUMBER, "separators"),
    ("epsilon: yes  # <--", codes.NUMBER, "a number is expected"),
    ("epsilon: false  # <--", codes.NUMBER, "a number is expected"),
    ("epsilon: null  # <--", codes.NUMBER, "a number is expected"),
    ("epsilon:  # <--", codes.NUMBER, "empty"),
    ("epsilon: {value: 1}  # <--", codes.SHAPE, "a single value"),
    ("delta: 0  # <--", codes.NUMBER, "above 0"),
    ("delta: 1  # <--", codes.NUMBER, "below 1"),
    ("delta: 1e-310  # <--", codes.NUMBER, "above 0"),
    ("delta: -1e-6  # <--", codes.NUMBER, "above 0"),
    ("confidence: 1  # <--", codes.NUMBER, "below 1"),
    ("confidence: 0.0  # <--", codes.NUMBER, "above 0"),
    ("confidence: 95  # <--", codes.NUMBER, "0.95"),
    ("confidence: 95%  # <--", codes.NUMBER, "a number is expected"),
]

TABLES = [
    ("max_row: 1  # <--", codes.UNKNOWN_FIELD, "`max_rows`"),
    ("through: people  # <--", codes.UNKNOWN_FIELD, "`tables.people`"),
    ("unit: id  # <--", codes.DUPLICATE, "line 11"),
    ("max_rows: 0  # <--", codes.NUMBER, "whole number"),
    ("max_rows: true  # <--", codes.NUMBER, "a number is expected"),
    ("max_rows: 1e10  # <--", codes.NUMBER, "range"),
    ("max_groups: -1  # <--", codes.NUMBER, "range"),
    ("size: 0  # <--", codes.NUMBER, "range"),
    ("size: 1e19  # <--", codes.NUMBER, "range"),
    ("size: 1.5e3  # <--", codes.NUMBER, "decimal point"),
    ("max_rows: 3\n    max_rows_per_group: 4  # <--", codes.ROWS, "3 rows"),
    ("max_rows: 3\n    max_groups: 4  # <--", codes.ROWS, "3 rows"),
    ("unit_unique: true\n    max_rows: 2  # <--", codes.ROWS, "max_rows` is 1"),
    ("unit_unique: true\n    max_rows_per_group: 2  # <--", codes.ROWS, "1 rows"),
    ("unit_unique: on  # <--", codes.BOOLEAN, "words"),
    ("unit_unique: 1  # <--", codes.BOOLEAN, "true"),
    ("unit_unique: 'true'  # <--", codes.BOOLEAN, "true"),
    ("public: yes  # <--", codes.BOOLEAN, "`yes`"),
    ("undeclared: private  # <--", codes.CHOICE, "undeclared: hidden"),
    ("undeclared: true  # <--", codes.CHOICE, "undeclared: hidden"),
]

COLUMNS = [
    ("income: {lower: 1, upper: 2}  # <--", codes.DUPLICATE, "line 14"),
    ("INCOME: {lower: 1, upper: 2}  # <--", codes.DUPLICATE, "`income`"),
    ("age: {lowr: 0, upper: 1}  # <--", codes.UNKNOWN_FIELD, "`lower`"),
    ("age: {lower: 5, upper: 1}  # <--", codes.BOUNDS, "{lower: 1, upper: 5}"),
    ("age:\n        lower: 5  # <--\n        upper: 1", codes.BOUNDS, "exchanged"),
    ("age: {lower: 5, upper: 5}  # <--", codes.BOUNDS, "equal"),
    ("age: {lower: 0, upper: 0.0}  # <--", codes.BOUNDS, "equal"),
    ("age: {lower: 0}  # <--", codes.BOUNDS, "both"),
    ("age:\n        type: integer\n        upper: 0  # <--", codes.BOUNDS, "both"),
    ("age: {lower: .nan, upper: 1}  # <--", codes.NUMBER, "finite"),
    ("age: {lower: 0, upper: .inf}  # <--", codes.NUMBER, "finite"),
    ("age: {lower: 0, upper: 1e31}  # <--", codes.BOUNDS, "too large"),
    ("age: {lower: 0, upper: 1e-31}  # <--", codes.BOUNDS, "close to zero"),
    ("age: {lower: 0, upper: 5e-324}  # <--", codes.BOUNDS, "close to zero"),
    ("age: {lower: 0, upper: 9007199254740993}  # <--", codes.BOUNDS, "digits"),
    (f"age: {{lower: 0, upper: {'9' * 350}}}  # <--", codes.BOUNDS, "too large"),
    ("age: {lower: false, upper: true}  # <--", codes.NUMBER, "a number is expected"),
    ("age: {lower: 2020-01-01, upper: 2021-01-01}  # <--", codes.NUMBER, "a number is expected"),
    ("age: {lower: ???, upper: ???}  # <--", codes.FILL_IN, "in place of each `???`"),
    ("age:\n        lower: ???  # <--\n        upper: 1", codes.FILL_IN, "`lower`"),
    ("age: 5  # <--", codes.SHAPE, "mapping"),
    ("age: [0, 5]  # <--", codes.SHAPE, "mapping"),
    ("age: {hidden: no}  # <--", codes.BOOLEAN, "words"),
    ("age: {type: string}  # <--", codes.CHOICE, "type: text"),
    ("age: {type: datum}  # <--", codes.CHOICE, "type: date"),
    ("age: {type: other}  # <--", codes.CHOICE, "`boolean` or"),
    ("age: {type: null}  # <--", codes.CHOICE, "`boolean` or"),
    ("age: {values: []}  # <--", codes.VALUES, "empty"),
    ("age: {values: north}  # <--", codes.SHAPE, "a list"),
    ("age: {values: {a: 1}}  # <--", codes.UNKNOWN_FIELD, "`table`, `column`"),
    ("age: {values: [a, b, a]}  # <--", codes.VALUES, "twice"),
    ("age: {values: [1, 2.5, 1.0]}  # <--", codes.VALUES, "twice"),
    ("age: {values: [a, 1]}  # <--", codes.VALUES, "one kind"),
    ("age: {values: [1, true]}  # <--", codes.VALUES, "one kind"),
    ("age:\n        values:\n          - 1\n          - '2'  # <--", codes.VALUES, "one kind"),
    ("age: {values: [a, null]}  # <--", codes.VALUES, "NULL"),
    ("age: {values: [a, [b]]}  # <--", codes.SHAPE, "a single value"),
    ("age: {values: [1, .nan]}  # <--", codes.NUMBER, "finite"),
    ("age: {values: [1, 1e19]}  # <--", codes.VALUES, "too large"),
    ("age: {values: ['a', \"\\0\"]}  # <--", codes.VALUES, "store"),
    ('age: {values: ["\\ud800"]}  # <--', codes.VALUES, "store"),
    ("age: {values: [???]}  # <--", codes.FILL_IN, "only you know"),
    ("[age]: {hidden: true}  # <--", codes.SHAPE, "A key"),
    ("age: !!python/object {}  # <--", codes.SYNTAX, "tags"),
    ("age: {lower: !!float 1, upper: 2}  # <--", codes.SYNTAX, "tags"),
]

CIRCLE = """\
a: {unit: {through: b, on: {x: x}}}  # <--
  b: {unit: {through: C, on: {x: x}}}
  c: {unit: {through: A, on: {x: x}}}
"""

WAY_INTO_A_CIRCLE = """\
a:
    unit:
      through: b  # <--
      on: {x: x}
  b: {unit: {through: c, on: {x: x}}}
  c: {unit: {through: b, on: {x: x}}}
"""

OTHERS = [
    ("people: {unit: id}  # <--", codes.DUPLICATE, "line 10"),
    ("People: {unit: id}  # <--", codes.DUPLICATE, "`people`"),
    ("orders:  # <--", codes.UNIT, "public: true"),
    ("orders: {}  # <--", codes.UNIT, "unit: column"),
    ("orders: {max_rows: 3}  # <--", codes.UNIT, "has no unit"),
    ("orders:  # <--\n    max_rows: 3", codes.UNIT, "has no unit"),
    ("orders: {public: false}  # <--", codes.UNIT, "has no unit"),
    ("orders:\n    unit:  # <--", codes.UNIT, "has no unit"),
    ("orders:\n    unit: ???  # <--", codes.FILL_IN, "unit: column"),
    ("orders: {unit: true}  # <--", codes.TEXT, "a name"),
    ("orders: {unit: [a, b]}  # <--", codes.SHAPE, "a single value"),
    ("orders: id  # <--", codes.SHAPE, "mapping"),
    ("orders: {unit: id, public: true}  # <--", codes.UNIT, "protects nobody"),
    ("orders:\n    public: true\n    unit: id  # <--", codes.UNIT, "`unit`"),
    ("orders: {public: true, max_rows: 3}  # <--", codes.UNIT, "`max_rows`"),
    ("orders: {public: true, unit_unique: false}  # <--", codes.UNIT, "`unit_unique`"),
    ("orders: {unit: {through: people}}  # <--", codes.MISSING_FIELD, "on: {own_column: column_of_people}"),
    ("orders: {unit: {on: {a: b}}}  # <--", codes.MISSING_FIELD, "through: table"),
    ("orders: {unit: {}}  # <--", codes.MISSING_FIELD, "through: table"),
    ("orders: {unit: {through: people, on: {}}}  # <--", codes.PATH, "at least one"),
    ("orders: {unit: {through: people, on: id}}  # <--", codes.SHAPE, "mapping"),
    ("orders: {unit: {through: people, on: {a: id, b: ID}}}  # <--", codes.PATH, "different"),
    ("orders: {unit: {through: people, on: {a: id, A: x}}}  # <--", codes.DUPLICATE, "`a`"),
    ("orders: {unit: {through: people, via: {a: id}}}  # <--", codes.UNKNOWN_FIELD, "`via`"),
    ("orders: {unit: {through: peopel, on: {a: id}}}  # <--", codes.PATH, "`people`"),
    ("orders: {unit: {through: zzz, on: {a: id}}}  # <--", codes.PATH, "Declare `zzz`"),
    ("orders: {unit: {through: orders, on: {a: id}}}  # <--", codes.PATH_LOOP, "orders -> orders"),
    ("land: {public: true}\n  orders: {unit: {through: land, on: {a: id}}}  # <--", codes.PATH, "public"),
    (CIRCLE, codes.PATH_LOOP, "a -> b -> c -> a"),
    (WAY_INTO_A_CIRCLE, codes.PATH_LOOP, "a -> b -> c -> b"),
]

CASES = [
    pytest.param(catalog(**{part: lines}), code, phrase, id=f"{part}: {lines[:60]}")
    for part, cases in [
        ("budget", BUDGETS),
        ("defaults", DEFAULTS),
        ("table", TABLES),
        ("column", COLUMNS),
        ("other", OTHERS),
    ]
    for lines, code, phrase in cases
]


@pytest.mark.parametrize(("text", "code", "phrase"), CASES)
def test_a_wrong_entry_is_refused_at_its_line(refusal, text, code, phrase):
    error = refusal(text)
    check(error, code, marked_line(text))
    assert phrase in str(error)


WHOLE_FILES = [
    (b"", 1, codes.EMPTY),
    (b"\n# only a comment\n", 1, codes.EMPTY),
    (b"---\n...\n", 1, codes.SHAPE),
    (b"- dataset\n", 1, codes.SHAPE),
    (b"dataset", 1, codes.SHAPE),
    (b"null\n", 1, codes.SHAPE),
    (b"dataset: shop\ndatabase: x\n", 2, codes.UNKNOWN_FIELD),
    (b"budget: {}\ntables: {}\n", 1, codes.MISSING_FIELD),
    (b"dataset:\nbudget: {}\n", 1, codes.MISSING_FIELD),
    (b"version: 1\ndataset: [a]\nbudget: {}\ntables: {}\n", 2, codes.SHAPE),
    (b"dataset: shop\nversion: 1\ntables: {}\n", 1, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget:\ntables: {t: {unit: id}}\n", 2, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget: {epsilon: 1}\ntables: {t: {unit: id}}\n", 2, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget:\n  delta: 1e-6\ntables: {t: {unit: id}}\n", 2, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget:\n  epsilon:\n  delta: 1e-6\ntables: {t: {unit: id}}\n", 3, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget: 3\ntables: {t: {unit: id}}\n", 2, codes.SHAPE),
    (b"dataset: shop\nbudget: {epsilon: 1, delta: 1e-6}\n", 1, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget: {epsilon: 1, delta: 1e-6}\ntables:\n", 3, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget: {epsilon: 1, delta: 1e-6}\ntables: {}\n", 3, codes.MISSING_FIELD),
    (b"dataset: shop\nbudget: {epsilon: 1, delta: 1e-6}\ntables: [t]\n", 3, codes.SHAPE),
    (b"dataset: shop\ndataset: shop\n", 2, codes.DUPLICATE),
    (b"dataset: shop\nbudget: [1\ntables: 3\n", 3, codes.SYNTAX),
    (b"dataset: shop\nbudget:\n\tepsilon: 1\n", 3, codes.SYNTAX),
    (b"dataset: shop\n---\ndataset: mall\n", 2, codes.SYNTAX),
    (b"dataset: shop\nversion: *missing\n", 2, codes.SYNTAX),
    (b"dataset: shop\nversion: 'open\n", 3, codes.SYNTAX),
    (b"dataset: shop\nversion: \x01\n", 2, codes.SYNTAX),
    (b"dataset: shop\nversion: " + b"[" * 3000, 1, codes.SYNTAX),
    (b"dataset: shop\n# caf\xe9\n", 2, codes.ENCODING),
    ("dataset: shop\n".encode("utf-16"), 1, codes.ENCODING),
    (b"#" * (MAX_BYTES + 1), 1, codes.FILE),
]


@pytest.mark.parametrize(("content", "line", "code"), WHOLE_FILES, ids=lambda value: repr(value)[:60])
def test_a_file_that_is_no_catalog_is_refused_at_the_line_that_says_so(refusal, content, line, code):
    check(refusal(content), code, line)


@pytest.mark.parametrize("name", ["nowhere.yaml", ".", "nowhere/shop.yaml", "a\0b"])
def test_a_file_that_cannot_be_read_is_refused_under_the_name_that_was_given(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError) as caught:
        load_catalog(name)
    assert caught.value.code == codes.FILE
    assert caught.value.message.startswith(f"{name}:1: ")


def test_the_span_covers_what_is_wrong(refusal):
    text = catalog(defaults="epsilon: maybe")
    span = refusal(text).span
    assert text[span.start : span.end] == "maybe"


def test_a_message_quotes_no_more_than_the_beginning_of_a_long_value(refusal):
    assert len(refusal(catalog(defaults=f"epsilon: {'x' * 10_000}")).message) < 200


def test_a_refusal_has_the_json_shape_of_the_command_line(refusal):
    actual = refusal(catalog(defaults="epsilon: 0")).to_dict()
    assert actual["type"] == "CatalogError"
    assert actual["code"] == codes.NUMBER
    assert actual["span"]["line"] == 8


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    position=st.integers(0, len(catalog())),
    removed=st.integers(0, 12),
    inserted=st.text(st.sampled_from(" \n\t:{}[]#'\"!&*?-,.01eE_aé\0|>%@`~<="), max_size=6),
)
def test_a_damaged_catalog_loads_or_is_refused_with_file_and_line(load, position, removed, inserted):
    whole = catalog()
    error = _error(load, whole[:position] + inserted + whole[position + removed :])
    assert error is None or error.message.startswith(f"shop.yaml:{error.span.line}: ")
    assert error is None or error.hint


def _error(load, text):
    try:
        load(text)
    except CatalogError as error:
        return error
    return None
