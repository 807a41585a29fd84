"""The used share of a budget, over time and by analyst."""

from collections.abc import Sequence

from hedgerow.answer.plot.library import AnyChart, altair, harmless, offline
from hedgerow.errors import ParameterError

WIDTH, HEIGHT = 420, 200
SHARE = {"axis": {"format": "%"}, "title": "used share of the budget"}


def plot_spending(dataset: str, charges: Sequence[tuple[str, str, float]]) -> AnyChart:
    """Draw the used share as steps over time, and a bar for each analyst.

    Args:
        dataset: The name in the title.
        charges: Time (ISO), analyst and share of each charge, in order.
    """
    if not charges:
        raise ParameterError("Nothing was charged yet, so there is nothing to plot.", code="bad-plot")
    used, by_analyst, steps = 0.0, dict[str, float](), []
    for time, analyst, share in charges:
        used += share
        by_analyst[harmless(analyst)] = by_analyst.get(harmless(analyst), 0.0) + share
        steps.append({"time": time, "used": used})
    bars = [{"analyst": analyst, "used": share} for analyst, share in by_analyst.items()]
    library = altair()
    shared = library.Y("used:Q", **SHARE)
    over_time = (
        library.Chart({"values": steps})
        .mark_line(interpolate="step-after", point=True)
        .encode(x=library.X("time:T", title="time (UTC)"), y=shared)
        .properties(title=f"{harmless(dataset)}: spending over time", width=WIDTH, height=HEIGHT)
    )
    in_all = (
        library.Chart({"values": bars})
        .mark_bar()
        .encode(x=library.X("used:Q", **SHARE), y=library.Y("analyst:N", sort="-x", title=None))
        .properties(title="by analyst", width=WIDTH)
    )
    return offline(library.vconcat(over_time, in_all))
