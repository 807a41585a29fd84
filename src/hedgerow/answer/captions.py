"""Texts next to the numbers: notes, the line below the table, and columns about a population."""

import math
from collections.abc import Collection, Mapping
from decimal import ROUND_CEILING, Decimal

from hedgerow.answer.plain import ends, on_one_line
from hedgerow.answer.released import BoundsWarning, FoundBounds, Note, NoteKind, ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval

LEAST = 1e-4
"""Smaller p-values are all displayed as this bound."""

MEANING = (
    "(population) is where a statistic lies among all those whom these people were drawn from, sampling and noise "
    "together; p is how likely groups as different as these are where there is no difference"
)
NO_POPULATION = (
    "population and p are empty: they need groups that are shown, and a table of one row per person (unit_unique), or "
    "a subquery grouped by the unit"
)
ADJUSTED = "p adjusted allows for all comparisons of this answer, by the method of Holm"


def about_people(answer: ReleasedTable) -> tuple[str, ...]:
    """Return the columns with statistics about a population, in any row."""
    compared = {name for row in answer.intervals for name, bar in row.items() if bar.population is not None}
    return tuple(name for name in answer.columns if name in compared)


def are_several(answer: ReleasedTable) -> bool:
    """Return True if the answer makes several comparisons, so that p-values are adjusted."""
    return any(bar.p_adjusted is not None for row in answer.intervals for bar in row.values())


def headings(name: str, *, several: bool) -> tuple[str, ...]:
    """Headings of the columns about a population."""
    return f"{name} (population)", f"{name} p", *([f"{name} p adjusted"] if several else [])


def cells(row: Mapping[str, Interval], name: str, *, several: bool) -> tuple[str, ...]:
    """Return the cells of a row about a population, empty where there is no statistic.

    Example:
        >>> bar = Interval(0.7, 0.8, population=(0.61, 0.93), p_value=0.0123, p_adjusted=0.0246)
        >>> cells({"rr": bar}, "rr", several=True)
        ('[0.61, 0.93]', '0.012', '0.025')
    """
    bar = row.get(name)
    if bar is None or bar.population is None:
        return ("", "", "") if several else ("", "")
    whole = Interval(*bar.population)
    finite = [end for end in bar.population if math.isfinite(end)]
    error = (finite[1] - finite[0]) / 2 if len(finite) == 2 else abs(finite[0]) / 10 if finite else 0.0
    return ends(whole, error), chance(bar.p_value), *([chance(bar.p_adjusted)] if several else [])


def chance(p_value: float | None) -> str:
    """A p-value as text.

    Example:
        >>> chance(0.0123), chance(1e-9), chance(None)
        ('0.012', '<0.0001', '')
    """
    if p_value is None or not math.isfinite(p_value):
        return ""
    return f"<{LEAST:.4f}" if p_value < LEAST else f"{p_value:.2g}"


WARNINGS = {
    BoundsWarning.MANY_BEYOND: "Warning: these are many",
    BoundsWarning.HIDDEN_TAIL: "Warning: noise may hide larger values",
}


def bounds_note(bounds: FoundBounds) -> str:
    """Bounds that were found, how many people may have values beyond them, and how much of the values is cut off.

    Example:
        >>> bounds_note(FoundBounds("cost", 0.0, 2048.0, "bought", 0.0123))
        'cost was bounded by 0 and 2048, found privately; at most 1.3 % of people have values beyond.'
    """
    ends = f"{bounds.lower:g} and {bounds.upper:g}"
    beyond = f"at most {percent_above(bounds.beyond)} of people have values beyond."
    return f"{on_one_line(bounds.of)} was bounded by {ends}, found privately; {beyond}{_bounds_warning(bounds)}"


def _bounds_warning(bounds: FoundBounds) -> str:
    """Return a sentence for a warning, with the amount that no interval contains."""
    if bounds.warning is None:
        return ""
    amount = "" if bounds.clipped is None else f" (up to {rounded_up(bounds.clipped)} of the sum over all rows)"
    return f" {WARNINGS[bounds.warning]}, and no interval contains what the bounds cut off of them{amount}."


def rounded_up(amount: float) -> str:
    """An upper limit of an amount with two digits, rounded up.

    Example:
        >>> rounded_up(34123.0), rounded_up(0.0101), rounded_up(0.0)
        ('35,000', '0.011', '0')
    """
    if amount <= 0:
        return "0"
    unit = Decimal(10) ** (Decimal(amount).adjusted() - 1)
    return f"{(Decimal(amount) / unit).to_integral_value(ROUND_CEILING) * unit:,f}"


def percent_above(share: float) -> str:
    """An upper limit of a share in per cent, rounded up.

    Example:
        >>> percent_above(0.0123), percent_above(0.00004), percent_above(0.1401), percent_above(1.0)
        ('1.3 %', '0.1 %', '15 %', '100 %')
    """
    tenths = max(math.ceil(share * 1000), 1)
    return f"{tenths / 10:g} %" if tenths < 100 else f"{math.ceil(share * 100)} %"


MOST_ROWS = 200
"""Maximum number of rows shown to people; programs get all of them."""


def notes(
    answer: ReleasedTable,
    only: Collection[str] | None = None,
    *,
    whole: bool = False,
    for_readers: bool = False,
) -> list[str]:
    """Return the notes below a table: on the answer, on its error bars (each once, with its columns), on populations.

    Args:
        answer: The answer.
        only: The columns whose error bars are shown, where these are not all.
        whole: Return all notes on the answer, in full; by default the short ones.
        for_readers: Return the short ones, and leave out advice on how to ask.
    """
    columns: dict[str, dict[str, None]] = {}
    for row in answer.intervals:
        for name, bar in row.items():
            note = (for_readers and bar.for_readers) or bar.note
            if note and (only is None or name in only):
                columns.setdefault(note, {})[on_one_line(name)] = None
    by_column = [f"{', '.join(names)}: {note}" for note, names in columns.items()]
    people = [MEANING] if about_people(answer) else []
    if whole:
        shown = [note for note in answer.notes if note.kind is not NoteKind.EMPTY or not len(answer)]
        of_answer = [note.short or "" if note.kind is NoteKind.EMPTY else note.text for note in shown]
    else:
        of_answer = [(for_readers and note.for_readers) or note.short or "" for note in short_notes(answer)]
    return [*of_answer, *by_column, *people, *([ADJUSTED] if are_several(answer) else [])]


def short_notes(answer: ReleasedTable) -> list[Note]:
    """Return the notes on an answer that have a line below its table.

    The note on an empty answer replaces that on missing groups where no row is shown, and is left out elsewhere.
    """
    hidden = NoteKind.EMPTY if len(answer) else NoteKind.MISSING_GROUPS
    return [note for note in answer.notes if note.short is not None and note.kind is not hidden]


def caption(answer: ReleasedTable) -> str:
    """Return one line below the table: the meaning of ±, and the price."""
    rows = "" if len(answer) <= MOST_ROWS else f"the first {MOST_ROWS} of {len(answer):,} rows; "
    if answer.receipt.id is None and not answer.receipt.reused:
        return f"{rows}public data: exact, free"
    charge = answer.receipt.charge
    price = f"epsilon {charge.epsilon:g}, delta {charge.delta:g}, {answer.receipt.share:.2%} of the budget"
    if answer.receipt.payments:
        whole = answer.receipt.share or 1.0
        shares: dict[str, float] = {}
        for paid in answer.receipt.payments:
            shares[paid.purpose] = shares.get(paid.purpose, 0.0) + paid.share
        parts = ", ".join(f"{purpose} {share / whole:.0%}" for purpose, share in shares.items())
        price = f"{price} ({parts} of that)"
    if answer.receipt.together > 1:
        price = f"{price} for all {answer.receipt.together} answers"
    if answer.receipt.alone is not None:
        price = f"{price}; alone this one would have cost epsilon {answer.receipt.alone.epsilon:.3g}"
    price = "free: answered before" if answer.receipt.reused else price
    return f"{rows}± at {answer.confidence:.10g} confidence; {price}"
