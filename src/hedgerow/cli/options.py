"""The options that several commands share, each said once."""

from typing import Annotated

import typer

Db = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="HEDGEROW_DB",
        metavar="PATH",
        help="The database: a file, a folder of files, or a URL (postgresql://…).",
    ),
]
OptionalDb = Annotated[
    str | None,
    typer.Option("--db", envvar="HEDGEROW_DB", metavar="PATH", help="The database, for --plan; else not needed."),
]
CatalogFile = Annotated[
    str,
    typer.Option(
        "--catalog", envvar="HEDGEROW_CATALOG", metavar="FILE", help="The YAML file that says what is protected."
    ),
]
LedgerFile = Annotated[
    str | None,
    typer.Option("--ledger", metavar="FILE", help="The record of what was spent; by default beside the catalog."),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

Statement = Annotated[str, typer.Argument(metavar="SELECT…", help="The statement; - reads it from standard input.")]
Param = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="The value of :name in the statement; may be repeated."),
]
Analyst = Annotated[str | None, typer.Option("--analyst", metavar="NAME", help="Who asks; taken on trust.")]
Epsilon = Annotated[
    float | None, typer.Option("--epsilon", metavar="E", help="The most this statement may cost; else the catalog's.")
]
Delta = Annotated[
    float | None,
    typer.Option("--delta", metavar="D", help="The probability that goes with epsilon; else the catalog's."),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="W",
        help="The error asked for: 5% (or 0.05) of the value, abs:100 of its unit, 5%@1000 in groups of 1 000 or more. "
        "The least that reaches it is spent; --epsilon is then the most.",
    ),
]
Confidence = Annotated[
    float | None, typer.Option("--confidence", metavar="C", help="How often an error bar holds, such as 0.95.")
]
Mechanism = Annotated[str, typer.Option("--mechanism", metavar="M", help="The noise: auto, gaussian or laplace.")]
OptionalMechanism = Annotated[
    str | None, typer.Option("--mechanism", metavar="M", help="The noise: auto, gaussian or laplace.")
]
MinFrequency = Annotated[
    int | None,
    typer.Option("--min-frequency", metavar="K", help="Show no group of fewer people; it can only be raised."),
]
MaxRows = Annotated[
    int | None, typer.Option("--max-rows", metavar="N", help="A person counts like at most this many rows.")
]
MaxGroups = Annotated[
    int | None, typer.Option("--max-groups", metavar="N", help="A person counts in at most this many groups.")
]
Bounds = Annotated[
    str | None,
    typer.Option(
        "--bounds", metavar="auto", help="auto: find bounds that nobody stated, privately, for a part of epsilon."
    ),
]
Dialect = Annotated[
    str | None,
    typer.Option("--dialect", metavar="NAME", help="The SQL that the statement is written in; else DuckDB's."),
]
