"""The price of a question while it is written: what it costs, how wrong its numbers may be, which groups appear.

One control converts an error to a price and back. Moving the slider, or typing an epsilon, shows the error that it
buys; typing the wanted error, in the value's unit or in percent of it, shows the epsilon that it takes (`within=`,
for groups of a stated size). `reached_error` is the inverse of `within=`, so converting back gives the same price.
"""

import math
from collections.abc import Callable
from typing import Any

from nicegui import ui

from hedgerow.figures import percent
from hedgerow.service.console.parts import box, button, choice, field, slider, text
from hedgerow.session.quote import Quote

SIZES = (100, 1_000, 10_000, 100_000)
LOWEST, LARGEST = 0.001, 10.0
"""Smallest and largest epsilon on the slider; the largest price of a question may be smaller."""

MOST_VALUES = 12
"""Number of declared values of a key that the preview lists."""

MOST_COLUMNS = 3
"""Number of columns whose predicted errors are shown large; the details list all."""

USUAL, EPSILON, WITHIN = "usual", "epsilon", "within"
UNIT, PERCENT = "the value's unit", "% of the value"
FEWER_GROUPS = {"": "as declared", "1": "1 at most", "2": "2 at most", "5": "5 at most", "10": "10 at most"}
"""Groups that one person counts in: with fewer, smaller groups are shown, and people in more of them count less."""


class PricePanel:
    """The panel. `options` are those that its controls set; `on_change` is called when they do.

    Args:
        maximum: Largest epsilon that a question may state; None where the catalog sets the price.
        approval: Epsilon above which the owner decides; None if it never does.
        on_change: Called when a control sets another price.
    """

    def __init__(self, maximum: float | None, approval: float | None, on_change: Callable[[], Any]) -> None:
        self._maximum = LARGEST if maximum is None else min(maximum, LARGEST)
        self._minimum = min(LOWEST, self._maximum / 100)
        self._approval = approval
        self._on_change = on_change
        self._by = USUAL
        self._epsilon = 0.0
        self._error = math.nan
        self._size = 1_000
        self._relative = False
        self._most_groups: int | None = None
        with box("div", "hr-price").props('aria-live="polite" aria-atomic="false"'):
            self._cost = self._figure("Price")
            self._errors = self._figure("Predicted error")
            self._groups = self._figure("Groups")
        with box("div", "hr-stack") as controls:
            self._controls()
        controls.set_visibility(maximum is not None)
        with box("details", "hr-details hr-small") as self._folded:
            text("summary", "The whole quote")
            self._details = ui.html("", sanitize=False)

    def _figure(self, label: str) -> ui.element:
        with box("div", "hr-price-part"):
            text("div", label, "hr-quiet hr-small")
            return box("div", "hr-price-content")

    def _controls(self) -> None:
        """Draw the slider, and the fields that are bound to it."""
        with box("div", "hr-trade-slider"):
            text("span", "cheaper", "hr-quiet hr-small")
            self._slider = slider("Price: from cheap and rough to expensive and accurate", 50, self._slid)
            text("span", "more accurate", "hr-quiet hr-small")
        with box("div", "hr-trade"):
            self._epsilon_field = field("epsilon", "", self._epsilon_typed)
            self._error_field = field("wanted error ±", "", self._error_typed)
            for entry in (self._epsilon_field, self._error_field):
                entry.classes("hr-short")
            choice("error in", [UNIT, PERCENT], UNIT, self._unit_chosen)
            sizes = {str(size): f"{size:,} rows" for size in SIZES}
            choice("in groups of", sizes, str(self._size), self._size_chosen)
            choice("groups of one person", FEWER_GROUPS, "", self._groups_chosen)
            button("Usual price", self._reset, kind="plain")

    @property
    def options(self) -> dict[str, Any]:
        """The options of the question."""
        groups = {} if self._most_groups is None else {"max_groups": self._most_groups}
        if self._by == EPSILON and self._epsilon > 0:
            return {"epsilon": self._epsilon, **groups}
        if self._by == WITHIN and self._error > 0:
            wanted = (self._error / 100, self._size) if self._relative else ("abs", self._error, self._size)
            return {"within": wanted, "epsilon": self._maximum, **groups}
        return groups

    def _slid(self, place: float) -> None:
        epsilon = self._minimum * (self._maximum / self._minimum) ** (place / 100)
        self._by, self._epsilon = EPSILON, self._maximum if place == 100 else float(f"{epsilon:.2g}")
        self._epsilon_field.show(f"{self._epsilon:g}")
        self._name_place(self._epsilon)
        self._on_change()

    def _epsilon_typed(self, typed: str) -> None:
        self._by, self._epsilon = EPSILON, _positive(typed)
        self._place_slider(self._epsilon)
        self._on_change()

    def _error_typed(self, typed: str) -> None:
        self._by, self._error = WITHIN, _positive(typed)
        self._on_change()

    def _unit_chosen(self, unit: str) -> None:
        self._relative = unit == PERCENT
        self._on_change()

    def _size_chosen(self, size: str) -> None:
        self._size = int(size)
        self._on_change()

    def _groups_chosen(self, most: str) -> None:
        self._most_groups = int(most) if most else None
        self._on_change()

    def _reset(self) -> None:
        self._by = USUAL
        self._on_change()

    def _place_slider(self, epsilon: float) -> None:
        share = math.log(max(epsilon, self._minimum) / self._minimum) / math.log(self._maximum / self._minimum)
        self._slider.show(f"{min(100 * share, 100):.0f}")
        self._name_place(epsilon)

    def _name_place(self, epsilon: float) -> None:
        self._slider.props["aria-valuetext"] = f"epsilon {epsilon:.3g}"

    def clear(self) -> None:
        """Show no price."""
        for part in (self._cost, self._errors, self._groups):
            part.clear()
        self._folded.set_visibility(False)

    def show(self, quote: Quote) -> None:
        """Show a price, and move the controls that did not set it."""
        self.clear()
        with self._cost:
            self._show_cost(quote)
        with self._errors:
            self._show_errors(quote)
        with self._groups:
            show_groups(quote)
        epsilon = (quote.anew or quote.charge).epsilon
        if self._by != EPSILON and epsilon > 0:
            self._epsilon_field.show(f"{epsilon:.3g}")
            self._place_slider(epsilon)
        if self._by != WITHIN:
            reached = quote.reached_error(self._size, relative=self._relative) * (100 if self._relative else 1)
            self._error_field.show(f"{float(f'{reached:.3g}'):.10g}" if math.isfinite(reached) else "")
        self._details.set_content(quote._repr_html_())
        self._folded.set_visibility(True)

    def _show_cost(self, quote: Quote) -> None:
        epsilon = quote.charge.epsilon
        if quote.reused:
            text("div", "Free", "hr-figure")
            text("div", "This answer is paid for already.", "hr-small")
        elif quote.remaining is None:
            text("div", "Free", "hr-figure")
            text("div", "Public data: exact, not about people.", "hr-small")
        elif not quote.fits:
            text("div", "Over budget", "hr-figure")
            text("div", f"It would cost epsilon {epsilon:.3g}, which no longer fits into the budget.", "hr-small")
        else:
            text("div", percent(quote.share), "hr-figure")
            left = "" if quote.repeats is None else f" Enough is left for {quote.repeats:,} of this kind."
            text("div", f"of the budget: epsilon {epsilon:.3g}.{left}", "hr-small")
            if self._approval is not None and epsilon > self._approval:
                text("div", f"Above {self._approval:g} the owner decides: asking makes a request.", "hr-small")

    def _show_errors(self, quote: Quote) -> None:
        known = {name: errors[self._size] for name, errors in quote.errors.items() if math.isfinite(errors[self._size])}
        if not known:
            text("div", "—", "hr-figure")
            said = "It cannot be predicted." if quote.errors else "None: numbers are exact."
            text("div", said, "hr-small")
            return
        with box("div", "hr-row"):
            for name, error in list(known.items())[:MOST_COLUMNS]:
                with box("div"):
                    text("span", f"± {short(error)} ", "hr-figure")
                    text("span", name, "hr-small")
        sure = f"{100 * quote.confidence:.4g}\N{NO-BREAK SPACE}%"
        text("div", f"in a group of {self._size:,} rows, at {sure} confidence.", "hr-small")


def show_groups(quote: Quote) -> None:
    """Show which groups an answer would have: the declared ones, or the size from which one is shown."""
    if quote.remaining is None and not quote.reused:
        text("div", "All rows are shown.", "hr-small")
        return
    if not quote.groups:
        text("div", "One row: everybody together.", "hr-small")
    for key in quote.groups:
        if key.values is None:
            continue
        with box("div", "hr-chips"):
            for value in key.values[:MOST_VALUES]:
                text("span", str(value), "hr-chip")
            if len(key.values) > MOST_VALUES:
                text("span", f"and {len(key.values) - MOST_VALUES:,} more", "hr-quiet hr-small")
    open_keys = [key.name for key in quote.groups if key.values is None]
    if quote.survival is not None and quote.groups:
        half, sure = (f"{_rounded_up(quote.survival[level]):,}" for level in ("50%", "95%"))
        whose = f"Values of {', '.join(open_keys)} appear" if open_keys else "Numbers are shown"
        text("div", f"{whose} from about {half} people on, and from {sure} almost surely.", "hr-small")


def short(number: float) -> str:
    """Return a number with three digits.

    Example:
        >>> short(46.4), short(1234.5), short(0.00123)
        ('46.4', '1,230', '0.00123')
    """
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:g}"


def _rounded_up(people: float) -> int:
    """Return a number of people, rounded up to two digits."""
    step = 10 ** max(math.floor(math.log10(max(people, 1))) - 1, 0)
    return int(math.ceil(people / step) * step)


def _positive(typed: str) -> float:
    """Return a typed number; 0 for anything that is not a positive number."""
    try:
        number = float(typed)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0
