"""The fields of a quote; quotes and explanations as lines of text and tables for terminals, as HTML for notebooks."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from hedgerow.accounting.budget import Spending
from hedgerow.accuracy_target.accuracy_first import TargetPrice
from hedgerow.answer import Mechanism
from hedgerow.answer.render import table_text
from hedgerow.figures import figure, percent
from hedgerow.markup import CODE, RED, Markup, element, folded, grid, panel, paragraph

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class GroupKey:
    """One key of the groups of an answer; `values` are those that the owner declared, all of which are shown."""

    name: str
    values: tuple[str | int | float | bool, ...] | None = None


@dataclass(frozen=True)
class QuotedPrice:
    """Price of a statement, and its predicted errors: the fields of a `Quote`, which documents them."""

    query: str
    charge: Spending
    share: float
    remaining: Spending | None
    confidence: float
    mechanisms: tuple[Mechanism, ...]
    errors: Mapping[str, Mapping[int, float]]
    survival: Mapping[str, float] | None
    sql: tuple[str, ...]
    fits: bool = True
    notes: tuple[str, ...] = field(default=())
    repeats: int | None = None
    offer: TargetPrice | None = None
    receipt: str | None = None
    anew: Spending | None = None
    totals: Mapping[str, Mapping[str, Mapping[int, float]]] = field(default_factory=dict)
    groups: tuple[GroupKey, ...] = ()

    @property
    def reused(self) -> bool:
        """Return True if the answer is paid for already, so that asking is free."""
        return self.receipt is not None


Block: TypeAlias = "str | Table"


def spending(value: Spending) -> str:
    """Format an (epsilon, delta)."""
    return f"epsilon {value.epsilon:.4g}, delta {value.delta:.3g}"


def quote_page(quote: QuotedPrice, *, whole: bool = False) -> Iterator[Block]:
    """Yield price, predicted errors and the survival of small groups; with `whole` also the noise, and what is left."""
    if quote.remaining is None:
        yield "public data: exact, free"
        return
    if quote.reused:
        yield f"price      free: the answer is paid for already (receipt {quote.receipt})"
    else:
        yield f"price      {spending(quote.charge)}: {percent(quote.share)} of the budget"
    if quote.repeats and not quote.reused:
        yield f"buys       {quote.repeats:,} such questions, from what is left now"
    if not quote.fits:
        yield "The price does not fit: asked now, the question would be refused."
    if whole:
        label = "left" if quote.reused else "left after" if quote.fits else "left now"
        yield f"{label:<10} {spending(quote.remaining)}"
        yield "\nNoise of each measure (sensitivity: what one person can change):"
        yield _noise(quote.mechanisms)
    if quote.errors:
        yield f"\nPredicted error (±, at {quote.confidence:.10g} confidence) by the number of rows in a group:"
        yield _by_size(_with_totals(quote), "±", "unbounded")
    if quote.offer is not None and quote.offer.cheapest:
        yield f"\nThe smallest epsilon for an error of {quote.offer.target}, by the number of rows in a group:"
        yield _by_size(quote.offer.cheapest, "", "none: the value may be zero")
    if quote.survival is not None:
        yield f"\n{_survival(quote.survival)}"
    for note in quote.notes:
        yield f"note: {note}"


def quote_html(quote: QuotedPrice) -> Markup:
    """Return a quote for a notebook: the price first, then predicted errors; the noise is folded away."""
    question = element("pre", quote.query.strip(), style=CODE)
    notes = [paragraph(f"note: {note}") for note in quote.notes]
    if quote.remaining is None:
        return panel("Free: public data, exact", question, *notes)
    if quote.reused:
        title = "Free: the answer is paid for already"
    else:
        title = f"Price: {spending(quote.charge)}, {percent(quote.share)} of the budget"
    parts = [question]
    if quote.repeats and not quote.reused:
        parts.append(paragraph(f"What is left now buys {quote.repeats:,} such questions."))
    if not quote.fits:
        parts.append(paragraph(element("strong", "The price does not fit: asked now, the question would be refused.")))
    if quote.errors:
        parts.append(
            paragraph(f"Predicted error, at {quote.confidence:.10g} confidence, by the number of rows in a group:")
        )
        parts.append(_as_html(_by_size(_with_totals(quote), "± ", "unbounded")))
    if quote.offer is not None and quote.offer.cheapest:
        parts.append(
            paragraph(f"The smallest epsilon for an error of {quote.offer.target}, by the number of rows in a group:")
        )
        parts.append(_as_html(_by_size(quote.offer.cheapest, "", "none: the value may be zero")))
    if quote.survival is not None:
        parts.append(paragraph(_survival(quote.survival)))
    if quote.mechanisms:
        parts.append(folded("Noise of each measure", _as_html(_noise(quote.mechanisms))))
    return panel(title, *parts, *notes, **({} if quote.fits else {"colour": RED}))


CHEAPER = (
    "As long as the rows do not change, a cheaper statement with the same result may run instead: "
    "db.explain(…).shortcuts lists them."
)


def explanation_html(plan: str, quote: QuotedPrice, statements: Iterable[tuple[str, str]], *, cheaper: bool) -> Markup:
    """Return an explanation for a notebook: the plan, the quote, and the SQL that would run, folded away."""
    steps = [element("pre", f"-- {step}\n{sql};", style=f"{CODE};white-space:pre-wrap") for step, sql in statements]
    steps += [paragraph(CHEAPER)] if cheaper else []
    parts = [element("pre", plan, style=CODE), quote_html(quote)]
    return panel("How it would be answered", *parts, *([folded("The SQL that would run", *steps)] if steps else []))


def _with_totals(quote: QuotedPrice) -> dict[str, Mapping[int, float]]:
    """Return the predicted errors of all columns, with a line for each level of totals."""
    totals = {f"{name} ({level})": by for level, errors in quote.totals.items() for name, by in errors.items()}
    return {**quote.errors, **totals}


def explanation_page(
    plan: str, quote: QuotedPrice, statements: Iterable[tuple[str, str]], *, cheaper: bool
) -> Iterator[Block]:
    """Yield the plan of a statement, its price, and the SQL that would run, each with its step.

    `cheaper` says that other SQL with the same result may run instead.
    """
    yield f"{plan}\n"
    yield from quote_page(quote, whole=True)
    for number, (step, sql) in enumerate(statements):
        if number == 0:
            yield "\nThe SQL that would run:"
        yield f"\n-- {step}\n{sql};"
    if cheaper:
        yield f"\n{CHEAPER}"


def page_text(blocks: Iterable[Block]) -> str:
    """Render a page as plain text, its tables as wide as they need to be."""
    return "\n".join(block if isinstance(block, str) else table_text(block) for block in blocks)


def _survival(survival: Mapping[str, float]) -> str:
    half, nearly_always = (math.ceil(survival[level]) for level in ("50%", "95%"))
    return f"A group is shown with 50 % probability from {half:,} people on, with 95 % from {nearly_always:,}."


def _as_html(table: "Table") -> Markup:
    left = sum(column.justify == "left" for column in table.columns)
    rows = zip(*(map(str, column.cells) for column in table.columns), strict=True)
    return grid([str(column.header) for column in table.columns], rows, left=left)


def _noise(mechanisms: Iterable[Mechanism]) -> "Table":
    from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

    table = Table("measure", "noise")
    for name in ("scale", "sensitivity"):
        table.add_column(name, justify="right")
    for mechanism in mechanisms:
        table.add_row(mechanism.measure, mechanism.kind, figure(mechanism.scale), figure(mechanism.sensitivity))
    return table


def _by_size(rows: Mapping[str, Mapping[int, float]], sign: str, infinite: str) -> "Table":
    """Tabulate a number for each column and size of a group."""
    from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

    table = Table("column")
    for size in next(iter(rows.values())):
        table.add_column(f"{size:,}", justify="right")
    for name, by_size in rows.items():
        table.add_row(name, *(f"{sign}{figure(n)}" if math.isfinite(n) else infinite for n in by_size.values()))
    return table
