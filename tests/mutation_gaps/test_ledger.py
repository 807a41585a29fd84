"""Caps of the ledger: rounded against the analyst, to the last unit."""

from fractions import Fraction

import pytest

from hedgerow.accounting import gaussian_mu
from hedgerow.ledger.caps import SCALE, caps_for


@pytest.mark.parametrize(("epsilon", "delta", "pure"), [(3.0, 1e-6, 0.0), (1.0, 1e-9, 0.3), (0.7, 1e-5, 0.1)])
def test_no_cap_is_above_what_was_proved(epsilon, delta, pure):
    caps = caps_for(epsilon, delta, pure)
    left = Fraction(epsilon) - Fraction(pure) - Fraction(1, 10**6)
    mu = Fraction(gaussian_mu(float(left), caps.gaussian_delta))
    assert caps.gaussian <= mu**2 * SCALE * (1 + Fraction(1, 10**12))
    assert Fraction(caps.mass, SCALE) + Fraction(caps.gaussian_delta) <= Fraction(delta)
    assert Fraction(caps.deliberate, SCALE) <= Fraction(pure)
    assert Fraction(caps.pure, SCALE) <= Fraction(pure) + Fraction(1, 10**6)
