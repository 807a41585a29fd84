"""Quotes and explanations for people: lines of text and tables, the same in a terminal and in a pipe."""

import io
import math
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Mechanism
from hedgerow.session.figures import figure, percent
from hedgerow.session.quote import Quote

Block = str | Table


def spending(value: Spending) -> str:
    """Format an (epsilon, delta)."""
    return f"epsilon {value.epsilon:.4g}, delta {value.delta:.3g}"


def quote_page(quote: Quote) -> Iterator[Block]:
    """Yield the price of a statement, its noise, its predicted errors, and the survival of small groups."""
    if quote.remaining is None:
        yield "public data: exact, free"
        return
    if quote.reused:
        yield f"price      free: the answer is paid for already (receipt {quote.receipt})"
        yield f"left       {spending(quote.remaining)}"
    else:
        yield f"price      {spending(quote.charge)}: {percent(quote.share)} of the budget"
        yield f"{'left after' if quote.fits else 'left now'} {spending(quote.remaining)}"
    if quote.repeats and not quote.reused:
        yield f"buys       {quote.repeats:,} such questions, from what is left now"
    if not quote.fits:
        yield "The price does not fit: asked now, the question would be refused."
    yield "\nNoise of each measure (sensitivity: what one person can change):"
    yield _noise(quote.mechanisms)
    if quote.errors:
        yield f"\nPredicted error (±, at {quote.confidence:.10g} confidence) by the number of rows in a group:"
        yield _by_size(quote.errors, "±", "unbounded")
    if quote.offer is not None and quote.offer.cheapest:
        yield f"\nThe least epsilon for an error of {quote.offer.target}, by the number of rows in a group:"
        yield _by_size(quote.offer.cheapest, "", "none: the value may be zero")
    if quote.survival is not None:
        half, nearly_always = (math.ceil(quote.survival[level]) for level in ("50%", "95%"))
        yield f"\nA group is shown with 50 % probability from {half:,} people on, with 95 % from {nearly_always:,}."
    for note in quote.notes:
        yield f"note: {note}"


def explanation_page(plan: str, quote: Quote, statements: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """Yield the plan of a statement, its price, and the SQL that would run, each with its step."""
    yield f"{plan}\n"
    yield from quote_page(quote)
    for number, (step, sql) in enumerate(statements):
        if number == 0:
            yield "\nThe SQL that would run:"
        yield f"\n-- {step}\n{sql};"


def page_text(blocks: Iterable[Block]) -> str:
    """Render a page as plain text, its tables as wide as they need to be."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=100_000, color_system=None, highlight=False, markup=False, emoji=False)
    for block in blocks:
        if isinstance(block, str):
            buffer.write(f"{block}\n")
        else:
            console.width = max(80, Measurement.get(console, console.options, block).maximum)
            console.print(block)
    return buffer.getvalue().rstrip("\n")


def _noise(mechanisms: Iterable[Mechanism]) -> Table:
    table = Table("measure", "noise")
    for name in ("scale", "sensitivity"):
        table.add_column(name, justify="right")
    for mechanism in mechanisms:
        table.add_row(mechanism.measure, mechanism.kind, figure(mechanism.scale), figure(mechanism.sensitivity))
    return table


def _by_size(rows: Mapping[str, Mapping[int, float]], sign: str, infinite: str) -> Table:
    """Tabulate a number for each column and size of a group."""
    table = Table("column")
    for size in next(iter(rows.values())):
        table.add_column(f"{size:,}", justify="right")
    for name, by_size in rows.items():
        table.add_row(name, *(f"{sign}{figure(n)}" if math.isfinite(n) else infinite for n in by_size.values()))
    return table
