"""Averages around a mean that an earlier release told: less noise at the same price, and true error bars."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.aggregates.conftest import FALSE_ALARM
from tests.internals import price_of

from hedgerow.release.stored_release import _sum_forms

GROUPS, SIZE = 1500, 20
BY_GROUP = "SELECT g, AVG(x) AS a FROM t GROUP BY g"
AROUND = "a mean released before"


@pytest.fixture
def people(crowd):
    """Many groups whose values are 5, the middle of their range from 0 to 10."""
    return crowd(GROUPS, SIZE, constant=True)


def noises(db, query, **options):
    """Standard deviations of the noise of the count and of the centred sum, in rows; the centre and its reach."""
    (part,) = price_of(db, query, mechanism="gaussian", **options)[1].parts
    (form,) = part.sum_forms
    return [part.noisy_sums[terms[0][0]].noise.sigma for terms in (form.count, form.centred)], form


def labels(db, query, **options):
    return [built.measure for built in db.quote(query, **options).mechanisms]


def fits(numbers, variance):
    """Return whether independent normal numbers have this variance, as far as so many can tell."""
    tail = stats.chi2.cdf(np.sum(np.square(numbers)) / variance, len(numbers))
    return FALSE_ALARM / 2 < tail < 1 - FALSE_ALARM / 2


def test_groups_are_averaged_around_the_known_mean_of_all(people):
    before = price_of(people, BY_GROUP, mechanism="gaussian", epsilon=40)[1].charge
    (count, total), middle = noises(people, BY_GROUP, epsilon=40)
    assert count == pytest.approx(total)
    people.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian")
    (light, heavy), around = noises(people, BY_GROUP, epsilon=40)
    assert (light / heavy) ** 2 == pytest.approx(4)
    assert (total / heavy) ** 2 == pytest.approx(2 / 1.25)
    assert abs(around.middle - middle.middle) < 0.1
    assert around.half >= middle.half
    assert any(AROUND in label for label in labels(people, BY_GROUP, mechanism="gaussian", epsilon=40))
    after = price_of(people, BY_GROUP, mechanism="gaussian", epsilon=40)[1].charge
    assert float(after.cost.gaussian) == pytest.approx(float(before.cost.gaussian), rel=1e-9)

    answer = people.sql(BY_GROUP, mechanism="gaussian", epsilon=40)
    errors = (np.array(answer["a"]) - 5) * SIZE / around.half
    distance = (5 - around.middle) / around.half
    variance = heavy**2 + (distance * light) ** 2
    assert fits(errors, variance)
    assert not fits(errors * 1.3, variance)
    bars = [row["a"] for row in answer.intervals]
    hits = sum(bar.lower <= 5 <= bar.upper for bar in bars)
    assert stats.binom.cdf(hits, GROUPS, 0.95) > FALSE_ALARM
    width = 2 * stats.norm.isf(0.025) * math.sqrt(variance) * around.half / SIZE
    assert np.median([bar.upper - bar.lower for bar in bars]) == pytest.approx(width, rel=0.02)
    assert {bar.kind.value for bar in bars} == {"exact"}


def test_a_repeated_question_is_free_and_keeps_its_digits(people):
    first = people.sql(BY_GROUP, mechanism="gaussian")
    people.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian")
    centred = people.sql(BY_GROUP, mechanism="gaussian", epsilon=2)
    for answer, epsilon in ((first, 1), (centred, 2)):
        again = people.sql(BY_GROUP, mechanism="gaussian", epsilon=epsilon)
        assert again.receipt.reused
        assert again["a"] == answer["a"]
        assert again.intervals == answer.intervals


def test_the_same_average_is_centred_where_it_is_asked_again_for_more(people):
    people.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian", epsilon=0.5)
    assert any(
        AROUND in label for label in labels(people, "SELECT AVG(x) AS a FROM t", mechanism="gaussian", epsilon=2)
    )


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("SELECT g, AVG(x) AS a, COUNT(*) AS n FROM t GROUP BY g", {}),
        ("SELECT g, AVG(y) AS a FROM t GROUP BY g", {}),
        ("SELECT g, AVG(x) AS a FROM t WHERE b GROUP BY g", {}),
        ("SELECT g, AVG(CLIP(x, 0, 6)) AS a FROM t GROUP BY g", {}),
        (BY_GROUP, {"mechanism": "laplace"}),
        (BY_GROUP, {"reuse": False}),
    ],
)
def test_other_questions_are_priced_as_before(people, query, options):
    """Earlier means are not used where a count is shown, for other values, rows and bounds, or with Laplace noise."""
    all_options = {"mechanism": "gaussian", **options}
    before = price_of(people, query, **all_options)[1]
    people.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian")
    assert price_of(people, query, **all_options)[1] == before


def test_a_mean_far_from_the_middle_or_hardly_known_is_not_used(crowd):
    """The values of k are 7 in a range from 0 to 49: a centre there would make the sum reach too far."""
    db = crowd(30, 300, constant=True)
    db.sql("SELECT AVG(k) AS a FROM t", mechanism="gaussian")
    assert not any(
        AROUND in label for label in labels(db, "SELECT g, AVG(k) AS a FROM t GROUP BY g", mechanism="gaussian")
    )
    db.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian", epsilon=0.002)
    assert not any(AROUND in label for label in labels(db, BY_GROUP, mechanism="gaussian"))


def test_averages_stay_within_the_range_of_their_values(crowd):
    """A group far from the centre may be carried beyond the range by noise; it is shown at its end."""
    db = crowd(1500, 1, constant=True)
    db.sql("SELECT AVG(x) AS a FROM t", mechanism="gaussian")
    answer = db.sql(BY_GROUP, mechanism="gaussian", epsilon=0.1)
    assert min(answer["a"]) >= 0
    assert max(answer["a"]) <= 10
    assert all(0 <= row["a"].lower <= row["a"].upper <= 10 for row in answer.intervals)


def test_forms_from_before_known_means_are_read():
    kept = {
        "count": [[0, 1.0]],
        "total": [],
        "centred": [[1, 1.0]],
        "middle": 5.0,
        "half": 5.0,
        "moments": [],
        "cells": [],
    }
    assert _sum_forms(kept).ends == ()
    assert _sum_forms({**kept, "ends": [0.0, 10.0]}).ends == (0.0, 10.0)
