"""hedgerow init."""

import sys
from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.foundation import Foundation, lay, places
from hedgerow.cli.output import say, tell, write_json

SPLIT = """\
Each answer gets noise of one of two kinds. Gaussian noise adds up slowly: it suits many questions. Laplace noise is the
more accurate for a single question, but adds up fast: it suits a handful. Epsilon is split between the two once, now.
  0 keeps all of it for Gaussian noise (a dataset that will be asked often);
  {epsilon:g} keeps all of it for Laplace noise (a handful of questions, and no more).
The split cannot be changed later without a new ledger."""


def init(
    database: Annotated[str, typer.Argument(metavar="DATABASE", help="A file, a folder of files, or a URL.")],
    *,
    catalog: Annotated[
        str | None, typer.Option("--catalog", metavar="OUT", help="The file to write; by default beside the database.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="By default the name of the database's file.")
    ] = None,
    epsilon: Annotated[float, typer.Option("--epsilon", metavar="E", help="How much all answers may reveal.")] = 3.0,
    delta: Annotated[float, typer.Option("--delta", metavar="D", help="The probability that they reveal more.")] = 1e-6,
    pure_epsilon: Annotated[
        float | None,
        typer.Option("--pure-epsilon", metavar="P", help="The part of epsilon kept for Laplace noise; else 0."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Begin again; an old catalog and ledger are kept under other names.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Write a first catalog from a database's schema, and make its ledger. The owner's command.

    Everything is private until you say otherwise. No row is read. Where only you can know something, the catalog
    says ???, and does not load until you have filled it in.

    Example: hedgerow init shop.duckdb --epsilon 3 --delta 1e-6
    """
    where = places(database, catalog)
    where.check_free(force=force)
    split = _ask_split(epsilon, as_json=as_json) if pure_epsilon is None else pure_epsilon
    made = lay(where, dataset=dataset, epsilon=epsilon, delta=delta, pure_epsilon=split, force=force)
    if as_json:
        write_json(made.to_dict())
    else:
        _tell_next(made, database)


def _ask_split(epsilon: float, *, as_json: bool) -> float:
    """How much is kept for Laplace noise; nothing, where nobody is there to be asked."""
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return 0.0
    tell(SPLIT.format(epsilon=epsilon))
    answer: float = typer.prompt("pure_epsilon", default=0.0, type=float, err=True)
    return answer


def _tell_next(made: Foundation, database: str) -> None:
    for kept in made.kept:
        tell(f"Kept what was there before as {kept}")
    say(f"Wrote {made.catalog} and its ledger {made.ledger}")
    say("Next:")
    if made.open_lines:
        listed = ", ".join(str(line) for line in made.open_lines)
        say(f"  fill in the ??? of the catalog (line {listed}), and read each guess")
    else:
        say("  read each guess in the catalog, and add bounds to what will be summed")
    say(f"  hedgerow check --db {database} --catalog {made.catalog}")
