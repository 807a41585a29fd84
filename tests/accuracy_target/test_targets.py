"""Values that `within=` accepts and refuses."""

import math

import pytest

import hedgerow as hr
from hedgerow.execution.request import ErrorTarget, error_target


@pytest.mark.parametrize(
    ("stated", "actual"),
    [
        (0.05, ErrorTarget(0.05)),
        (0.99, ErrorTarget(0.99)),
        ((0.05,), ErrorTarget(0.05)),
        ((0.05, 1000), ErrorTarget(0.05, size=1000)),
        ([0.05, 1000], ErrorTarget(0.05, size=1000)),
        (("abs", 100), ErrorTarget(100.0, absolute=True)),
        (("abs", 0.5, 30), ErrorTarget(0.5, absolute=True, size=30)),
        ("0.05", ErrorTarget(0.05)),
        ("5%", ErrorTarget(0.05)),
        (" 5% ", ErrorTarget(0.05)),
        ("1e-2", ErrorTarget(0.01)),
        ("5%@1000", ErrorTarget(0.05, size=1000)),
        ("0.05@1_000", ErrorTarget(0.05, size=1000)),
        ("5%@1,000", ErrorTarget(0.05, size=1000)),
        ("abs:100", ErrorTarget(100.0, absolute=True)),
        ("abs:0.5@30", ErrorTarget(0.5, absolute=True, size=30)),
        (ErrorTarget(0.05), ErrorTarget(0.05)),
        (None, None),
    ],
)
def test_every_way_to_state_a_target_is_understood(stated, actual):
    assert error_target(stated) == actual


@pytest.mark.parametrize(
    "stated",
    [
        0,
        0.0,
        -0.05,
        math.nan,
        math.inf,
        -math.inf,
        1e-10,
        1e16,
        5e-324,
        True,
        False,
        (True, 1000),
        (0.05, True),
        (0.05, 0),
        (0.05, -1),
        (0.05, 1000.0),
        (0.05, 10**16),
        (0.05, "1000"),
        (0.05, 10, 10),
        (),
        ("abs",),
        ("abs", "100"),
        ("abs", math.nan),
        ("abs", 0),
        ("abs", 1, 2, 3),
        ("rel", 0.05),
        {"abs": 100},
        b"5%",
        "",
        "%",
        "five",
        "nan",
        "inf",
        "0",
        "0%",
        "-5%",
        "5%%",
        "5 %@",
        "5%@0",
        "5%@-3",
        "5%@1.5",
        "abs:5%",
        "abs:",
        "abs:abs:5",
        "1e999",
        "1-2",
        "5%\n6%",
    ],
)
def test_what_is_no_error_that_can_be_reached_is_refused(stated):
    with pytest.raises(hr.ParameterError) as caught:
        error_target(stated)
    assert caught.value.code == "bad-within"


def test_a_refused_target_costs_nothing(world, refused):
    db = world()
    for ask in (db.sql, db.quote):
        refused(ask, "SELECT COUNT(*) FROM t", code="bad-within", kind=hr.ParameterError, within=math.nan)
    assert db.budget.queries == 0


def test_a_target_reads_as_it_was_meant():
    assert str(error_target("5%@1000")) == "5 % in groups of 1,000 or more"
    assert str(error_target("abs:100")) == "100"


@pytest.mark.parametrize(
    ("stated", "hint"),
    [
        (5, 'Did you mean "5%" or "abs:5"?'),
        (1, 'Did you mean "1%" or "abs:1"?'),
        ("5", 'Did you mean "5%" or "abs:5"?'),
        ((2.5, 1000), 'Did you mean "2.5%@1000" or "abs:2.5@1000"?'),
        ("5@1000", 'Did you mean "5%@1000" or "abs:5@1000"?'),
        (500, 'Did you mean "abs:500"?'),
        ("150%", "Ask for less than 100 %."),
    ],
)
def test_an_error_of_the_whole_value_or_more_is_refused_with_what_was_meant(stated, hint):
    with pytest.raises(hr.ParameterError) as caught:
        error_target(stated)
    assert caught.value.code == "bad-within"
    assert caught.value.hint == hint
