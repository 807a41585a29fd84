"""The page of the budget: how many questions are left, what a price would buy, and who has spent what and when."""

import asyncio
import math
from collections.abc import Sequence
from datetime import datetime

from nicegui import ui

from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.ledger import BudgetView, HistoryEntry
from hedgerow.ledger.history import SpendingStep
from hedgerow.markup import Markup, element
from hedgerow.service.console.parts import box, card, empty_state, figure, notice, refusal, text
from hedgerow.service.console.visit import DOOR, Visit
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
    view = await visit.gateway.budget(visit.identity, visit.dataset, door=DOOR)
    left, steps = await asyncio.to_thread(lambda: (view.questions_left, view.steps))
    used = max(view.used.values())
    with box("div", "hr-tiles hr-figures"):
        if left is None:
            figure("Questions left", "all of them" if not view.queries else "as many as you like", "none was paid yet")
        else:
            figure("Questions left", f"{left.median:,}", "of the usual kind: the median price of the latest ones")
            figure("Like the last one", f"{left.last:,}", "more questions of its price")
        with box("div", "hr-card"):
            text("div", "Used", "hr-quiet hr-small")
            text("div", percent(used), "hr-figure")
            meter(used, "Used share of the budget")
        figure("Paid questions", f"{view.queries:,}", f"epsilon {rounded(view.limit.epsilon)} in all may be spent")
    await what_if(visit)
    if not steps:
        empty_state(
            "show_chart",
            "Nothing is spent yet",
            "The first question begins the curve of spending here. Prices can be looked at before, for free.",
            ("Ask a question", visit.link("/")),
        )
        return
    with card("Spending over time", "Share of the budget that was used after each question."):
        ui.html(spending_curve(steps), sanitize=False).classes("full-width")
    if view.analysts:
        by_analyst(view)


async def what_if(visit: Visit) -> None:
    """Draw a price to try on a question of the history: how many more of it would fit, and how wrong they would be."""
    history = await visit.gateway.history(visit.identity, visit.dataset, door=DOOR)
    asked = [entry for entry, _ in distinct_questions(history)][:20]
    if asked:
        WhatIf(visit, asked)


class WhatIf:
    """A question of the history at another price. Looking at prices is free."""

    def __init__(self, visit: Visit, asked: Sequence[HistoryEntry]) -> None:
        self._visit, self._asked = visit, asked
        self._pending: asyncio.Task[None] | None = None
        epsilon = asked[0].charge.get("epsilon", 0.1)
        with card("What would fit", "Choose a question and a price. This is free."):
            with box("div", "hr-row hr-fields"):
                names = {str(index): _short(entry.question) for index, entry in enumerate(asked)}
                names["0"] = f"the last one: {names['0']}"
                self._question = ui.select(names, value="0", label="A question like", on_change=self._changed)
                self._question.classes("hr-grow").props("dense outlined options-dense")
                self._price = ui.number(
                    "at a price of epsilon", value=round(epsilon, 6), min=0, on_change=self._changed
                )
                self._price.props("dense outlined step=any").classes("hr-price-field")
            self._said = box("div", "hr-stack hr-said").props("aria-live=polite")
        ui.timer(0, self._look_up, once=True)

    def _changed(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
        self._pending = asyncio.create_task(self._later())

    async def _later(self) -> None:
        await asyncio.sleep(PAUSE)
        await self._look_up()

    async def _look_up(self) -> None:
        entry, epsilon = self._asked[int(self._question.value)], self._price.value
        try:
            if epsilon is None or not EPSILONS[0] <= epsilon <= EPSILONS[1]:
                said: Quote | str = f"Write a price from {EPSILONS[0]:g} to {EPSILONS[1]:g}."
            else:
                said = await self._visit.gateway.quote(
                    self._visit.identity,
                    self._visit.dataset,
                    entry.question,
                    entry.params,
                    door=DOOR,
                    epsilon=float(epsilon),
                    reuse=False,
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
    fits = "None fits any more" if number == 0 or not quote.fits else "1 more fits"
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
    with bar:
        box("div").style(f"width:{100 * min(max(part, 0.0), 1.0):.2f}%")


def by_analyst(view: BudgetView) -> None:
    """Draw who has spent which share."""
    rows = sorted(view.analysts.items(), key=lambda pair: -max(pair[1].used.values()))
    with (
        card("By analyst", "Of the whole budget; of a cap of their own, where one is set."),
        box("div", "hr-scroll"),
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
    """Return the used share over time as a drawing."""
    times = [datetime.fromisoformat(step.time).timestamp() for step in steps]
    top = nice_top(steps[-1].used)
    shown = range(len(steps)) if len(steps) <= MOST_STEPS else range(0, len(steps), math.ceil(len(steps) / MOST_STEPS))
    span = times[-1] - times[0]
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
        viewBox="0 0 1000 100",
        preserveAspectRatio="none",
        role="img",
        **{"aria-label": f"Used share of the budget from 0 to {percent(steps[-1].used)} in {len(steps):,} questions"},
    )
    heights = element(
        "div", *(element("span", percent(top * part)) for part in (1.0, 0.5, 0.0)), **{"class": "hr-curve-y"}
    )
    ends = [steps[0].time, steps[-1].time]
    days = element("div", *(element("span", f"{end[:10]} {end[11:16]}") for end in ends), **{"class": "hr-curve-x"})
    return element("div", heights, element("div", picture, **{"class": "hr-curve-plot"}), days, **{"class": "hr-curve"})


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
