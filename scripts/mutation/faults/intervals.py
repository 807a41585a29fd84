"""Faults in error bars: too short, and nobody would know."""

from scripts.mutation.fault import Fault

LINEAR = "error_bars/test_linear.py"
QUOTIENT = "error_bars/test_quotient.py"
SELECTED = "error_bars/test_selected.py"

FAULTS = (
    Fault(
        "one-sided-quantile",
        "error_bars/intervals/noise_sums.py",
        "return float(-normal_quantile(beta / 2) * mixture.sigma)",
        "return float(-normal_quantile(beta) * mixture.sigma)",
        (LINEAR,),
    ),
    Fault(
        "laplace-lattice-one-step-short",
        "error_bars/intervals/noise_sums.py",
        "while _one_tail(noise, steps * noise.step) > beta:",
        "while _one_tail(noise, (steps + 1) * noise.step) > beta:",
        (LINEAR,),
    ),
    Fault(
        "deviations-do-not-add-up",
        "error_bars/intervals/noise_sums.py",
        "sigma = math.hypot(sigma, size * noise.sigma * math.sqrt(count))",
        "sigma = max(sigma, size * noise.sigma * math.sqrt(count))",
        (LINEAR,),
    ),
    Fault(
        "shared-noise-with-the-wrong-sign",
        "error_bars/intervals/quotients.py",
        "b = numerator * denominator - shared",
        "b = numerator * denominator + shared",
        (QUOTIENT,),
    ),
    Fault(
        "selection-forgotten-in-the-lower-end",
        "error_bars/intervals/selected_counts.py",
        "return log_survival(distance) - log_survival(threshold - values + distance) >= math.log(beta / 2)",
        "return log_survival(distance) >= math.log(beta / 2)",
        (SELECTED,),
    ),
    Fault(
        "upper-end-of-a-selected-count-halved",
        "error_bars/intervals/selected_counts.py",
        "np.maximum(values + plain, minimum)",
        "np.maximum(values + plain / 2, minimum)",
        (SELECTED,),
    ),
)
