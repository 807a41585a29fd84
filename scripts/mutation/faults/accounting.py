"""Faults in how much privacy a mechanism costs."""

from scripts.mutation.fault import Fault

EVENTS = "accounting/test_events.py"
SELECTION = "accounting/test_selection.py"
GAUSSIAN = "accounting/test_gaussian.py"
QUANTILES = "statistics/quantiles"
KEYS = "release/test_selection.py"
PARTS = "privacy/test_events_of_parts.py"

FAULTS = (
    Fault(
        "pure-step-charged-as-one-of-bounded-range",
        "accounting/events.py",
        "Fraction(pure_mu(float(self.epsilon))) ** 2 * SLACK",
        "Fraction(bounded_range_mu(float(self.epsilon))) ** 2 * SLACK",
        (EVENTS,),
    ),
    Fault(
        "stray-mass-of-discrete-noise-uncharged",
        "accounting/events.py",
        "pure, STRAY_MASS * self.moved)",
        "pure)",
        (EVENTS,),
    ),
    Fault(
        "surcharge-of-discrete-noise-for-one-cell",
        "accounting/events.py",
        "SURCHARGE * self.moved / Fraction(self.grid_scale_squared)",
        "SURCHARGE / Fraction(self.grid_scale_squared)",
        (EVENTS,),
    ),
    Fault(
        "spread-range-not-squared",
        "accounting/events.py",
        "return self.epsilon**2 * self.norm_squared",
        "return self.epsilon * self.norm_squared",
        (PARTS,),
    ),
    Fault(
        "threshold-on-the-wrong-side",
        "accounting/selection.py",
        'return whole("k", k, minimum=0) - positive("sigma", sigma) * normal_quantile(tail)',
        'return whole("k", k, minimum=0) + positive("sigma", sigma) * normal_quantile(tail)',
        (SELECTION,),
    ),
    Fault(
        "only-one-direction-of-a-selection",
        "accounting/selection.py",
        "return max(add, gaussian_delta(epsilon + log_silence, mu))",
        "return add",
        (KEYS,),
    ),
    Fault(
        "silence-counted-the-wrong-way",
        "accounting/selection.py",
        "gaussian_delta(epsilon - log_silence, mu)",
        "gaussian_delta(epsilon + 2 * log_silence, mu)",
        (KEYS,),
    ),
    Fault(
        "second-stage-forgotten",
        "accounting/selection.py",
        "math.sqrt(shown * per_group + stage2**2)",
        "math.sqrt(shown * per_group)",
        (SELECTION,),
    ),
    Fault(
        "mu-rounded-up",
        "accounting/gaussian.py",
        "bracket(lambda mu: _profile(epsilon, mu) * SLACK <= delta)[0]",
        "bracket(lambda mu: _profile(epsilon, mu) * SLACK <= delta)[1]",
        (GAUSSIAN,),
    ),
    Fault(
        "profile-at-a-negative-epsilon",
        "accounting/gaussian.py",
        "-math.expm1(epsilon) + math.exp(epsilon) * _profile(-epsilon, mu)",
        "math.exp(epsilon) * _profile(-epsilon, mu)",
        (GAUSSIAN,),
    ),
    Fault(
        "bounded-range-worth-half",
        "accounting/events.py",
        'non_negative("epsilon", epsilon) / 2.0)',
        'non_negative("epsilon", epsilon) / 4.0)',
        (GAUSSIAN,),
    ),
    Fault(
        "score-of-a-quantile-moves-twice-as-far",
        "statistics/quantiles/buckets.py",
        "epsilon / (2 * target.larger_share * reach.weight",
        "epsilon / (target.larger_share * reach.weight",
        (QUANTILES,),
    ),
    Fault(
        "quantiles-of-many-groups-charged-as-one",
        "statistics/quantiles/charge.py",
        "return SLOPE_SQUARED * epsilon**2 * norm_squared",
        "return SLOPE_SQUARED * epsilon**2",
        (QUANTILES,),
    ),
)
