"""Privacy loss distributions, through the library dp-accounting."""

import math
from importlib import import_module
from typing import Any

from hedgerow.accounting.accountant import Accountant, as_float, total
from hedgerow.accounting.events import AnyEvent, BoundedRangeEvent, GaussianEvent, SpreadRangeEvent, pure_epsilon_of
from hedgerow.errors import ConditionNotMet

GRID = 1e-4
"""Step to which losses are rounded up."""

LARGEST_MU = 10.0
"""Above this mu the distribution has millions of points, and epsilon exceeds 80."""

LARGEST_PURE = 100.0
"""Likewise for pure steps: each counts as its epsilon times the square root of its count."""


class PLD(Accountant):
    """The composed distribution of the privacy loss: the tightest total of a plan that is fixed in advance.

    It must not decide an admission while answers are being seen: two branches, each within budget by its own
    composition, can together be far outside (docs/proofs/ledger.md; there is a test). A fixed plan enters the ledger as
    one `ApproximateEvent` of its total.

    A pure step counts as the worst mechanism of its epsilon, draws in many groups as the Gaussian step that dominates
    them.
    The library is optional: `pip install dp-accounting`.
    """

    def _distribution(self) -> Any:  # noqa: ANN401 - the library has no types
        library = _library()
        gaussian = ((event, n) for event, n in self._steps if isinstance(event, GaussianEvent | SpreadRangeEvent))
        mu = math.sqrt(as_float(total(event.cost.gaussian * n for event, n in gaussian)))
        pure = sum(_pure(event) * math.sqrt(n) for event, n in self._steps)
        if mu > LARGEST_MU or pure > LARGEST_PURE:
            raise ConditionNotMet(
                "So much was charged that a privacy loss distribution would not fit into memory.",
                condition=f"mu is at most {LARGEST_MU:g}, and pure epsilon at most {LARGEST_PURE:g}",
            )
        composed = library.identity(value_discretization_interval=GRID)
        if mu > 0.0:
            composed = composed.compose(library.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=GRID))
        for event, count in self._steps:
            if (epsilon := _pure(event)) > 0.0:
                composed = composed.compose(_bounded(library, epsilon).self_compose(count))
        return composed

    def _epsilon(self, delta: float) -> float:
        return self._surcharge + float(self._distribution().get_epsilon_for_delta(delta))

    def _delta(self, epsilon: float) -> float:
        left = epsilon - self._surcharge
        return float(self._distribution().get_delta_for_epsilon(left)) if left >= 0.0 else 1.0


def _pure(event: AnyEvent) -> float:
    """The pure epsilon of a step that is not Gaussian noise."""
    if isinstance(event, GaussianEvent | SpreadRangeEvent):
        return 0.0
    return as_float(event.range if isinstance(event, BoundedRangeEvent) else pure_epsilon_of(event))


def _bounded(library: Any, epsilon: float) -> Any:  # noqa: ANN401 - the library has no types
    """The distribution that dominates every step of this pure epsilon."""
    parameters = library.common.DifferentialPrivacyParameters(epsilon, 0.0)
    return library.from_privacy_parameters(parameters, value_discretization_interval=GRID)


def _library() -> Any:  # noqa: ANN401 - the library has no types
    """Return the library, imported on first use: it is slow to import, and optional."""
    try:
        return import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise ConditionNotMet(
            "Privacy loss distributions need the library dp-accounting.",
            condition="dp-accounting is installed",
            hint="Install it with `pip install dp-accounting`.",
        ) from None
