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
from hedgerow.demo import CLOSING, REFUSED, AnsweredChapter, HospitalFiles, Sizes, Story, build, existing, run_story
from hedgerow.figures import figure, percent
from hedgerow.session.page import spending
from hedgerow.session.project import write_project


def demo(
    *,
    folder: Annotated[str, typer.Option("--folder", metavar="PATH", help="The folder of the files.")] = "demo",
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an earlier demo.")] = False,
    as_json: options.Json = False,
) -> None:
    """Generate a hospital's data, ask it a few questions, and keep the files.

    Each private answer is next to the exact one, which in practice only the owner could see. It takes a few seconds.

    Example: hedgerow demo --folder demo
    """
    files = HospitalFiles.of(Path(folder))
    if existing(files) and not force:
        raise UsageError(
            f"There is already a hospital in {folder}.",
            code="demo-exists",
            hint="Begin afresh with --force, or name another --folder.",
        )
    sizes = make_hospital(files)
    story = run_story(files)
    if as_json:
        write_json(demo_json(files, sizes, story))
    else:
        demo_page(files, sizes, story)


def make_hospital(files: HospitalFiles) -> Sizes:
    """Generate the data, and write the project file that names them."""
    tell("Making up a hospital …")
    folder = files.catalog.parent
    try:
        sizes = build(files)
    except (OSError, duckdb.Error):
        raise UsageError(
            f"The folder {folder} cannot be written.", code="demo-unwritable", hint="Name another."
        ) from None
    write_project(folder, database=str(files.database), catalog=files.catalog, ledger=files.ledger)
    return sizes


EXACT = "exact"


def demo_page(files: HospitalFiles, sizes: Sizes, story: Story) -> None:
    """Print the story."""
    _heading("A generated hospital")
    show(
        f"{sizes.patients:,} patients and {sizes.visits:,} visits. The demo prints the exact answer, dimmed, next "
        "to each answer of hedgerow. It reads the exact one directly from the data, which only the owner could do. "
        "Exact means before the noise: the answer over the rows within the catalog's limits."
    )
    for number, answered in enumerate(story.chapters, start=1):
        _chapter(number, answered)
    _heading(f"{len(story.chapters) + 1}. A question that is refused")
    show("A query that would show a person is refused. A refusal costs nothing, and says what to write instead.")
    error, held = story.refusal, story.held
    show(Text(f"refused: {error.message}", style="red"))
    show(excerpt(REFUSED, error.span) if error.span else Text(REFUSED))
    if error.hint:
        show(f"hint: {error.hint}")
    _heading("What is left")
    say(story.left)
    show(
        f"{held.bounded} of {held.bars} error bars contain the exact answer over bounded data; 95 % are promised, each "
        f"on its own. {held.without_limits} contain the answer without limits, which is not promised."
    )
    _heading("Next")
    where = f"--db {files.database} --catalog {files.catalog}"
    for query in CLOSING:
        say(f'hedgerow query "{query}" {where}')
    say(f'hedgerow quote "{CLOSING[0]}" {where}')
    say(f"hedgerow budget --catalog {files.catalog} --history")
    say(f"cd {files.catalog.parent} && hedgerow serve")


def _heading(text: str) -> None:
    show(Text(f"\n{text}", style="bold"))


def _chapter(number: int, answered: AnsweredChapter) -> None:
    _heading(f"{number}. {answered.chapter.title}")
    show(answered.chapter.text)
    show(Padding(Text(answered.chapter.query, style="cyan"), (0, 0, 0, 2)))
    if (quote := answered.quote) is not None:
        show(f"the quote: {spending(quote.charge)}, {percent(quote.share)} of the budget; in a group of")
        for size in (1_000, 10_000):
            errors = ", ".join(f"{name} ±{figure(errors[size])}" for name, errors in quote.errors.items())
            show(f"  {size:>6,} patients: {errors}")
    show(_side_by_side(answered))
    receipt = answered.answer.receipt
    show(
        f"price: {spending(receipt.charge)}, {percent(receipt.share)} of the budget" if receipt.id else "price: nothing"
    )


def _side_by_side(answered: AnsweredChapter) -> Table:
    """Return one table: keys, and for every number the released and the exact value."""
    names = answered.answer.columns
    keys, measures = names[: answered.chapter.keys], names[answered.chapter.keys :]
    table = Table(*keys)
    for name in measures:
        table.add_column(name, justify="right")
        table.add_column(Text(EXACT, style="dim"), justify="right", style="dim")
    for row, exact in answered.beside:
        table.add_row(*_cells(answered, row, exact))
    return table


def _cells(answered: AnsweredChapter, row: int | None, exact: tuple[Any, ...] | None) -> Iterator[str]:
    """Return one row: of the answer (`row`), of the exact answer, or of both."""
    names, keys = answered.answer.columns, answered.chapter.keys
    values = list(exact or ()) if row is None else [answered.answer[name][row] for name in names]
    bars = {} if row is None else answered.answer.intervals[row]
    yield from (shown(value, None) for value in values[:keys])
    for index, name in enumerate(names[keys:], start=keys):
        yield "not shown" if row is None else shown(values[index], bars.get(name))
        yield "" if exact is None else _exact(exact[index])


def _exact(value: Any) -> str:  # noqa: ANN401 - whatever DuckDB returns
    number = plain(value)
    if isinstance(number, float):
        return f"{number:,.1f}" if number >= 10 else f"{number:.4g}"
    return f"{number:,}" if isinstance(number, int) else shown(number, None)


def demo_json(files: HospitalFiles, sizes: Sizes, story: Story) -> dict[str, Any]:
    """The story for programs."""
    held = story.held
    return {
        "files": {"database": str(files.database), "catalog": str(files.catalog), "ledger": str(files.ledger)},
        "rows": {"patients": sizes.patients, "visits": sizes.visits},
        "queries": [_chapter_json(answered) for answered in story.chapters],
        "refused": {"query": REFUSED, "error": story.refusal.to_dict()},
        "error_bars": {"count": held.bars, "held": held.bounded, "held_without_limits": held.without_limits},
        "budget": story.budget.to_dict(),
    }


def _chapter_json(answered: AnsweredChapter) -> dict[str, Any]:
    return {
        "title": answered.chapter.title,
        "query": answered.chapter.query,
        "quote": None if answered.quote is None else answered.quote.to_dict(),
        "answer": answered.answer.to_dict(),
        "exact": [[plain(value) for value in row] for row in answered.exact],
        "bounded": [[plain(value) for value in row] for row in answered.bounded],
    }
