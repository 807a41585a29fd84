"""hedgerow demo."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hedgerow.answer.plain import plain, shown
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, excerpt
from hedgerow.cli.output import say, show, tell, write_json
from hedgerow.cli.project import write_project
from hedgerow.demo import CLOSING, REFUSED, HospitalFiles, Sizes, Tale, Told, build, existing, tell_story
from hedgerow.figures import figure, percent
from hedgerow.session.page import spending
from hedgerow.session.quote import Quote


def demo(
    *,
    folder: Annotated[str, typer.Option("--folder", metavar="PATH", help="The folder of the files.")] = "demo",
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an earlier demo.")] = False,
    as_json: options.Json = False,
) -> None:
    """Generate a hospital's data, ask it a few questions, and keep the files for you to continue with.

    Each private answer is next to the exact one, which in practice only the owner could see. It takes a few seconds.

    Example: hedgerow demo --folder demo
    """
    files = HospitalFiles.of(Path(folder))
    if existing(files) and not force:
        raise UsageError(
            f"There is a hospital in {folder} already.",
            code="demo-exists",
            hint="Begin afresh with --force, or name another --folder.",
        )
    tell("Making up a hospital …")
    try:
        sizes = build(files)
    except (OSError, duckdb.Error):
        raise UsageError(
            f"The folder {folder} cannot be written.", code="demo-unwritable", hint="Name another."
        ) from None
    write_project(files.catalog.parent, database=str(files.database), catalog=files.catalog, ledger=files.ledger)
    tale = tell_story(files)
    if as_json:
        write_json(demo_json(files, sizes, tale))
    else:
        demo_page(files, sizes, tale)


EXACT = "exact"


def demo_page(files: HospitalFiles, sizes: Sizes, tale: Tale) -> None:
    """Print the story."""
    _heading("A hospital that never was")
    show(
        f"{sizes.patients:,} patients and {sizes.visits:,} visits, all made up. Each answer of hedgerow stands beside "
        "the exact one in dim print, which the demo reads past hedgerow: in earnest, only the owner could. Exact is "
        "what the noise was added to: the answer over rows that keep the catalog's limits."
    )
    for number, told in enumerate(tale.told, start=1):
        _chapter(number, told)
    _refusal(len(tale.told) + 1, tale)
    _budget(tale)
    _closing(files)


def _heading(text: str) -> None:
    show(Text(f"\n{text}", style="bold"))


def _query(text: str) -> None:
    show(Padding(Text(text, style="cyan"), (0, 0, 0, 2)))


def _chapter(number: int, told: Told) -> None:
    _heading(f"{number}. {told.chapter.title}")
    show(told.chapter.text)
    _query(told.chapter.query)
    if told.quote is not None:
        _quote(told.quote)
    show(_side_by_side(told))
    receipt = told.answer.receipt
    show(
        f"price: {spending(receipt.charge)}, {percent(receipt.share)} of the budget" if receipt.id else "price: nothing"
    )


def _quote(quote: Quote) -> None:
    sizes = (1_000, 10_000)
    show(f"the quote: {spending(quote.charge)}, {percent(quote.share)} of the budget; in a group of")
    for size in sizes:
        errors = ", ".join(f"{name} ±{figure(errors[size])}" for name, errors in quote.errors.items())
        show(f"  {size:>6,} patients: {errors}")


def _side_by_side(told: Told) -> Table:
    """Return one table: keys, and for every number the released and the exact value."""
    names = told.answer.columns
    keys, measures = names[: told.chapter.keys], names[told.chapter.keys :]
    table = Table(*keys)
    for name in measures:
        table.add_column(name, justify="right")
        table.add_column(Text(EXACT, style="dim"), justify="right", style="dim")
    for row, exact in told.beside:
        table.add_row(*_cells(told, row, exact))
    return table


def _cells(told: Told, row: int | None, exact: tuple[Any, ...] | None) -> Iterator[str]:
    """Return one row: of the answer (`row`), of the exact answer, or of both."""
    names, keys = told.answer.columns, told.chapter.keys
    values = list(exact or ()) if row is None else [told.answer[name][row] for name in names]
    bars = {} if row is None else told.answer.intervals[row]
    yield from (shown(value, None) for value in values[:keys])
    for index, name in enumerate(names[keys:], start=keys):
        yield "not shown" if row is None else shown(values[index], bars.get(name))
        yield "" if exact is None else _exact(exact[index])


def _exact(value: Any) -> str:  # noqa: ANN401 - whatever DuckDB returns
    number = plain(value)
    if isinstance(number, float):
        return f"{number:,.1f}" if number >= 10 else f"{number:.4g}"
    return shown(number, None)


def _refusal(number: int, tale: Tale) -> None:
    _heading(f"{number}. A question that is refused")
    show("Nothing that would show a person passes. A refusal costs nothing, and says what to write instead.")
    error = tale.refusal
    show(Text(f"refused: {error.message}", style="red"))
    show(excerpt(REFUSED, error.span) if error.span else Text(REFUSED))
    if error.hint:
        show(f"hint: {error.hint}")


def _budget(tale: Tale) -> None:
    held = tale.held
    _heading("What is left")
    say(tale.left)
    show(
        f"{held.bounded} of {held.bars} error bars held the exact answer over bounded data; 95 % are promised, each on "
        f"its own. {held.without_limits} hold the answer without limits, which is not promised."
    )


def _closing(files: HospitalFiles) -> None:
    where = f"--db {files.database} --catalog {files.catalog}"
    _heading("Go on yourself")
    for query in CLOSING:
        say(f'hedgerow query "{query}" {where}')
    say(f'hedgerow quote "{CLOSING[0]}" {where}')
    say(f"hedgerow budget --catalog {files.catalog} --history")
    say(f"cd {files.catalog.parent} && hedgerow serve")


def demo_json(files: HospitalFiles, sizes: Sizes, tale: Tale) -> dict[str, Any]:
    """The story for programs."""
    held = tale.held
    return {
        "files": {"database": str(files.database), "catalog": str(files.catalog), "ledger": str(files.ledger)},
        "rows": {"patients": sizes.patients, "visits": sizes.visits},
        "queries": [_told_json(told) for told in tale.told],
        "refused": {"query": REFUSED, "error": tale.refusal.to_dict()},
        "error_bars": {"count": held.bars, "held": held.bounded, "held_without_limits": held.without_limits},
        "budget": tale.budget.to_dict(),
    }


def _told_json(told: Told) -> dict[str, Any]:
    return {
        "title": told.chapter.title,
        "query": told.chapter.query,
        "quote": None if told.quote is None else told.quote.to_dict(),
        "answer": told.answer.to_dict(),
        "exact": [[plain(value) for value in row] for row in told.exact],
        "bounded": [[plain(value) for value in row] for row in told.bounded],
    }
