"""A quote for people: price, noise, predicted errors, survival of small groups."""

import math

from rich.table import Table

from hedgerow.accuracy_target.target_price import Offer
from hedgerow.answer import Mechanism
from hedgerow.cli.bars import figure, percent, spending
from hedgerow.cli.output import say, show_table
from hedgerow.session import Quote


def quote_page(offer: Quote) -> None:
    """Print the page."""
    if offer.remaining is None:
        say("public data: exact, free")
        return
    if offer.reused:
        say(f"price      free: the answer is paid for already (receipt {offer.receipt})")
        say(f"left       {spending(offer.remaining)}")
    else:
        say(f"price      {spending(offer.charge)}: {percent(offer.share)} of the budget")
        say(f"{'left after' if offer.fits else 'left now'} {spending(offer.remaining)}")
    if offer.repeats and not offer.reused:
        say(f"buys       {offer.repeats:,} such questions, from what is left now")
    if not offer.fits:
        say("The price does not fit: asked now, the question would be refused.")
    say("\nNoise of each measure (sensitivity: what one person can change):")
    show_table(_noise(offer.mechanisms))
    if offer.errors:
        say(f"\nPredicted error (±, at {offer.confidence:.10g} confidence) by the number of rows in a group:")
        show_table(_errors(offer))
    if offer.offer is not None and offer.offer.cheapest:
        say(f"\nThe least epsilon for an error of {offer.offer.target}, by the number of rows in a group:")
        show_table(_prices(offer.offer))
    if offer.survival is not None:
        _survival(offer)
    for note in offer.notes:
        say(f"note: {note}")


def _noise(mechanisms: tuple[Mechanism, ...]) -> Table:
    table = Table("measure", "noise")
    for name in ("scale", "sensitivity"):
        table.add_column(name, justify="right")
    for each in mechanisms:
        table.add_row(each.measure, each.kind, figure(each.scale), figure(each.sensitivity))
    return table


def _errors(offer: Quote) -> Table:
    sizes = list(next(iter(offer.errors.values())))
    table = Table("column")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    for name, errors in offer.errors.items():
        table.add_row(name, *(_error(errors[size]) for size in sizes))
    return table


def _prices(offer: Offer) -> Table:
    sizes = list(next(iter(offer.cheapest.values())))
    table = Table("column")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    for name, prices in offer.cheapest.items():
        table.add_row(name, *(_price(prices[size]) for size in sizes))
    return table


def _price(epsilon: float) -> str:
    return figure(epsilon) if math.isfinite(epsilon) else "none: the value may be zero"


def _error(width: float) -> str:
    return f"±{figure(width)}" if math.isfinite(width) else "unbounded"


def _survival(offer: Quote) -> None:
    found = offer.survival or {}
    half, most = (math.ceil(found[level]) for level in ("50%", "95%"))
    say(f"\nA group is shown with 50 % probability from {half:,} people on, with 95 % from {most:,}.")
