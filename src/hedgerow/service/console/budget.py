"""The page of the budget: how many questions are left, what a price would buy, and who has spent what and when."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from nicegui import ui

from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.ledger import BudgetView, HistoryEntry
from hedgerow.ledger.history import SpendingStep
from hedgerow.markup import Markup, element
from hedgerow.service.access.model import Role
from hedgerow.service.console.parts import Debounced, box, card, empty_state, figure, notice, refusal, text
from hedgerow.service.console.visit import INTERFACE, Visit
from hedgerow.session.draft import distinct_questions
from hedgerow.session.quote import Quote

PAUSE = 0.25
"""Seconds without a keystroke after which a price is looked up."""

SIZE = 1000
"""Number of rows of a group whose predicted errors are shown."""

MOST_STEPS = 400
"""Number of charges that the curve of spending shows one by one."""


async def budget_page(visit: Visit) -> None:
    """Draw the page: an analyst's own budget, and for owners and auditors everybody's."""
    view = await visit.gateway.budget(visit.identity, visit.dataset, interface=INTERFACE)
    left, steps = await asyncio.to_thread(lambda: (view.questions_left, view.steps))
    used, is_analyst = max(view.used.values()), visit.identity.role is Role.ANALYST
    with box("div", "hr-tiles hr-figures"):
        if left is None:
            figure("Questions left", *_unlimited(view, steps))
        else:
            figure("Questions left", f"{left.median:,}", "of the usual kind: the median price of the latest ones")
            figure("Like the last one", f"{left.last:,}", "more questions of its price")
        with box("div", "hr-card"):
            text("div", "Used", "hr-quiet hr-small")
            text("div", percent(used), "hr-figure")
            meter(used, "Used share of the budget")
        own = f"{len(steps):,} of them by you; " if is_analyst and view.queries > len(steps) else ""
        figure("Paid questions", f"{view.queries:,}", f"{own}of a budget of epsilon {rounded(view.limit.epsilon)}")
    await what_if(visit)
    if not steps:
        empty_state(
            "show_chart",
            "You have paid for no question yet" if is_analyst else "Nothing is spent yet",
            "The first question begins the curve of spending here. Prices can be looked at before, for free.",
            ("Ask a question", visit.link("/")),
        )
        return
    whose = "your questions" if is_analyst else "all questions"
    with card("Spending over time", f"Share of the budget that {whose} have used, until now. Times are UTC."):
        ui.html(spending_curve(steps), sanitize=False).classes("full-width")
    if view.analysts:
        by_analyst(view)


def _unlimited(view: BudgetView, steps: Sequence[SpendingStep]) -> tuple[str, str]:
    """Return what stands in place of the number of questions left where nothing tells it, and the reason."""
    if view.remaining_cost is None:
        return "no limit", "there is always room for a next one"
    if steps:
        return "no limit", "the latest ones cost nothing"
    if view.queries:
        return "—", "known once you have paid for a question"
    return "all", "none has been paid for yet"


async def what_if(visit: Visit) -> None:
    """Draw a price to try on a question of the history: how many more of it would fit, and how wrong they would be."""
    history = await visit.gateway.history(visit.identity, visit.dataset, interface=INTERFACE)
    dialect = visit.gateway.view(visit.identity, visit.dataset).dialect
    asked = [entry for entry, _ in distinct_questions(history, dialect, 20)]
    if asked:
        WhatIf(
            visit,
            asked,
            await visit.gateway.largest_price(visit.identity, visit.dataset, interface=INTERFACE) is not None,
        )


class WhatIf:
    """A question of the history at another price. Looking at prices is free.

    Args:
        visit: Who looks.
        asked: Questions to choose from.
        is_priced: True if a question may state its price; False if the catalog sets it.
    """

    def __init__(self, visit: Visit, asked: Sequence[HistoryEntry], is_priced: bool) -> None:  # noqa: FBT001 - see above
        self._visit, self._asked, self._is_priced = visit, asked, is_priced
        self._looking_up = Debounced(self._look_up, PAUSE)
        epsilon = asked[0].charge.get("epsilon", 0.1)
        chosen = "a question and a price" if is_priced else "a question; the catalog sets its price"
        with card("What would fit", f"Choose {chosen}. This is free."):
            with box("div", "hr-row hr-fields"):
                names = {str(index): _short(entry.question) for index, entry in enumerate(asked)}
                names["0"] = f"the last one: {names['0']}"
                self._question = ui.select(
                    names, value="0", label="A question like", on_change=lambda _: self._looking_up.soon()
                )
                self._question.classes("hr-grow").props("dense outlined options-dense")
                self._price = ui.number(
                    "at a price of epsilon", value=round(epsilon, 6), min=0, on_change=lambda _: self._looking_up.soon()
                )
                self._price.props("dense outlined step=any").classes("hr-price-field").set_visibility(is_priced)
            self._said = box("div", "hr-stack hr-said").props("aria-live=polite")
        ui.timer(0, self._look_up, once=True)

    async def _look_up(self) -> None:
        entry, epsilon = self._asked[int(self._question.value)], self._price.value
        price = {"epsilon": epsilon} if self._is_priced else {}
        try:
            if price and (epsilon is None or not EPSILONS[0] <= epsilon <= EPSILONS[1]):
                said: Quote | str = f"Write a price from {EPSILONS[0]:g} to {EPSILONS[1]:g}."
            else:
                said = await self._visit.gateway.quote(
                    self._visit.identity,
                    self._visit.dataset,
                    entry.question,
                    entry.params,
                    interface=INTERFACE,
                    reuse=False,
                    **price,
                )
        except HedgerowError as error:
            self._said.clear()
            with self._said:
                refusal(error)
            return
        self._said.clear()
        with self._said:
            if isinstance(said, str):
                text("p", said, "hr-quiet")
            else:
                show_fit(said)


def show_fit(quote: Quote) -> None:
    """Say how many more questions of a quote fit, what each takes, and how wrong it would be."""
    number = quote.repeats
    fits = "No more fit" if number == 0 or not quote.fits else "1 more fits"
    fits = f"{number:,} more fit" if number is not None and number > 1 and quote.fits else fits
    if number is None:
        fits = "There is always room for a next one"
    errors = [f"{name} ± {rounded(sizes[SIZE])}" for name, sizes in quote.errors.items() if math.isfinite(sizes[SIZE])]
    price = f"Each takes {percent(quote.share)} of the budget."
    with notice("good" if quote.fits else "warn", f"{fits}."):
        text("p", f"{price} In a group of {SIZE:,} rows: {', '.join(errors)}." if errors else price)


def meter(part: float, name: str) -> None:
    """Draw a bar that is full at 1."""
    level = "hr-meter-high" if part >= 0.9 else "hr-meter-middle" if part >= 0.6 else ""
    bar = box("div", f"hr-meter {level}").props(
        f"role=meter aria-valuemin=0 aria-valuemax=100 aria-valuenow={100 * part:.4g}"
    )
    bar.props["aria-label"] = name
    if part > 0:
        with bar:
            box("div").style(f"width:{100 * min(part, 1.0):.2f}%")


def by_analyst(view: BudgetView) -> None:
    """Draw who has spent which share."""
    rows = sorted(view.analysts.items(), key=lambda pair: -max(pair[1].used.values()))
    with (
        card("By analyst", "Of the whole budget; of a cap of their own, where one is set."),
        box("div", "hr-scroll").props('tabindex=0 role=region aria-label="Spending by analyst"'),
        box("table", "hr-table"),
    ):
        with box("thead"), box("tr"):
            for name in ("Analyst", "Questions", "Used", "Cap on epsilon"):
                text("th", name).props("scope=col")
        with box("tbody"):
            for name, own in rows:
                part = max(own.used.values())
                with box("tr"):
                    text("td", name, "hr-strong")
                    text("td", f"{own.queries:,}", "hr-number")
                    with box("td"), box("div", "hr-row hr-meter-row"):
                        meter(part, f"Used by {name}")
                        text("span", percent(part), "hr-number hr-small")
                    text("td", "none" if own.limit is None else rounded(own.limit.epsilon), "hr-number")


def spending_curve(steps: Sequence[SpendingStep]) -> Markup:
    """Return the used share over time, from the first charge until now, as a drawing."""
    times = [datetime.fromisoformat(step.time).timestamp() for step in steps]
    now = datetime.now(UTC)
    top = nice_top(steps[-1].used)
    shown = range(len(steps)) if len(steps) <= MOST_STEPS else range(0, len(steps), math.ceil(len(steps) / MOST_STEPS))
    span = now.timestamp() - times[0]
    places = [(time - times[0]) / span if span >= 1 else index / len(steps) for index, time in enumerate(times)]
    path = ["M0,100"]
    for index in shown:
        x, y = 1000 * places[index], 100 * steps[index].used / top
        path += [f"H{x:.1f}", f"V{100 - y:.2f}"]
    line = " ".join([*path, "H1000"])
    shape = {"vector-effect": "non-scaling-stroke"}
    picture = element(
        "svg",
        *(element("path", d=f"M0,{y} H1000", **{"class": "hr-curve-grid", **shape}) for y in (0, 50, 100)),
        element("path", d=f"{line} V100 Z", **{"class": "hr-curve-area"}),
        element("path", d=line, **{"class": "hr-curve-line", **shape}),
        *_step_titles(steps, places, shown),
        viewBox="0 0 1000 100",
        preserveAspectRatio="none",
        role="img",
        **{"aria-label": f"Used share of the budget from 0 to {percent(steps[-1].used)} in {len(steps):,} questions"},
    )
    heights = element(
        "div", *(element("span", percent(top * part)) for part in (1.0, 0.5, 0.0)), **{"class": "hr-curve-y"}
    )
    ends = [steps[0].time, now.isoformat()]
    days = element("div", *(element("span", f"{end[:10]} {end[11:16]}") for end in ends), **{"class": "hr-curve-x"})
    return element("div", heights, element("div", picture, **{"class": "hr-curve-plot"}), days, **{"class": "hr-curve"})


def _step_titles(steps: Sequence[SpendingStep], places: Sequence[float], shown: range) -> Iterator[Markup]:
    """Yield areas without a colour that say what was used after each charge, to a pointer that rests on them."""
    for index, following in zip(shown, [*shown[1:], None], strict=True):
        left, right = 1000 * places[index], 1000.0 if following is None else 1000 * places[following]
        said = f"{steps[index].time[:10]} {steps[index].time[11:16]}: {percent(steps[index].used)} used"
        stretch = {"x": f"{left:.1f}", "y": "0", "width": f"{max(right - left, 0):.1f}", "height": "100"}
        yield element("rect", element("title", said), fill="transparent", **stretch)


def nice_top(largest: float) -> float:
    """Return a round number at or above a share: 1, 2 or 5 times a power of ten, and at most 1.

    Example:
        >>> nice_top(0.013), nice_top(0.3), nice_top(0.99)
        (0.02, 0.5, 1.0)
    """
    if largest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return min(next(step * power for step in (1, 2, 5, 10) if step * power >= largest * (1 - 1e-12)), 1.0)


def _short(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= 90 else f"{line[:89]}…"
