"""Faults in error bars: too short, and nobody would know."""

from scripts.mutation.fault import Fault

LINEAR = "error_bars/test_linear.py"
QUOTIENT = "error_bars/test_quotient.py"
SELECTED = "error_bars/test_selected.py"

FAULTS = (
    Fault(
        "one-sided-quantile",
        "intervals/linear.py",
        "return float(-ndtri(beta / 2) * mixture.sigma)",
        "return float(-ndtri(beta) * mixture.sigma)",
        (LINEAR,),
    ),
    Fault(
        "laplace-lattice-one-step-short",
        "intervals/linear.py",
        "while _one_tail(noise, steps * noise.step) > beta:",
        "while _one_tail(noise, (steps + 1) * noise.step) > beta:",
        (LINEAR,),
    ),
    Fault(
        "deviations-do-not-add-up",
        "intervals/linear.py",
        "sigma = math.hypot(sigma, size * noise.sigma)",
        "sigma = max(sigma, size * noise.sigma)",
        (LINEAR,),
    ),
    Fault(
        "shared-noise-with-the-wrong-sign",
        "intervals/fieller.py",
        "b = numerator * denominator - shared",
        "b = numerator * denominator + shared",
        (QUOTIENT,),
    ),
    Fault(
        "selection-forgotten-in-the-lower-end",
        "intervals/selected.py",
        "return log_survival(distance) - log_survival(threshold - values + distance) >= math.log(beta / 2)",
        "return log_survival(distance) >= math.log(beta / 2)",
        (SELECTED,),
    ),
    Fault(
        "upper-end-of-a-selected-count-halved",
        "intervals/selected.py",
        "np.maximum(values + plain, minimum)",
        "np.maximum(values + plain / 2, minimum)",
        (SELECTED,),
    ),
)
