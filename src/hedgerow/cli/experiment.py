"""hedgerow experiment: several metrics of an A/B experiment in a private table, and power before the purchase."""

from functools import partial
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hedgerow.answer import Answer, caption, notes
from hedgerow.answer.captions import are_several, cells
from hedgerow.answer.plain import on_one_line, shown
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, show_table, tell, write_json
from hedgerow.cli.ratio_page import empty_columns, epsilon_text, number_columns
from hedgerow.cli.statements import asking, given_options
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio import Metric, detectable_lift, experiment_sql, lift_epsilon, lift_people
from hedgerow.session.job import wait_for

EPSILONS = (0.1, 0.5, 1.0)

Metrics = Annotated[
    list[str] | None,
    typer.Option("--rate", metavar="NAME=SQL", help="A share of people to compare: a condition. Repeatable."),
]
Averages = Annotated[
    list[str] | None,
    typer.Option("--average", metavar="NAME=SQL", help="An average to compare: a number, not negative. Repeatable."),
]

experiment = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@experiment.callback()
def _experiment() -> None:
    """Compare the arms of an A/B experiment by several metrics, and plan one before it is paid for.

    `ask` puts one question to a private table and prints the lift of each metric, with intervals and p-values that
    account for sampling, for the noise of privacy, and for the number of metrics. `plan` computes the people and the
    epsilon that it takes to find a lift. Both take --json.

    Example: hedgerow experiment plan --rate 0.1 --lift 2% --people 200000
    """


@experiment.command("ask")
def ask(
    *,
    table: Annotated[str, typer.Option("--table", metavar="T", help="The table, with a row for each person.")],
    treated: Annotated[
        str, typer.Option("--treated", metavar="SQL", help="Who was treated: a condition, such as \"arm = 'B'\".")
    ],
    rate: Metrics = None,
    average: Averages = None,
    by: Annotated[str | None, typer.Option("--by", metavar="COLUMN", help="A column to group by.")] = None,
    where: Annotated[
        str | None, typer.Option("--where", metavar="SQL", help="Who counts: a condition on a person.")
    ] = None,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    confidence: options.Confidence = None,
    mechanism: options.OptionalMechanism = None,
    as_json: options.Json = False,
) -> None:
    """Ask for the lift of each metric: one question, charged once.

    Example: hedgerow experiment ask --table patients --treated smoker --rate "old=age > 64" --average "age=age"
    --epsilon 0.5 --db demo/hospital.duckdb --catalog demo/hospital.yaml
    """
    text = experiment_sql(table, treated, rates=_named(rate), averages=_named(average), by=by, where=where)
    tell(f"Asking: {text}")
    query_options = given_options(epsilon=epsilon, delta=delta, confidence=confidence, mechanism=mechanism)
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=None) as database:
        answer = wait_for(partial(database.sql, text, **query_options))
    if as_json:
        write_json({**answer.to_dict(), "query": answer.receipt.query})
    else:
        _print_answer(answer, keys=0 if by is None else 1)


@experiment.command("plan")
def plan(
    *,
    lift: Annotated[
        str | None, typer.Option("--lift", metavar="L", help="The lift to find, such as 2% or 0.02.")
    ] = None,
    people: Annotated[
        str | None, typer.Option("--people", metavar="N,M", help="People treated and others; one number for both.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="P", help="The metric is a share of people: that of the control.")
    ] = None,
    average: Annotated[
        float | None, typer.Option("--average", metavar="A", help="The metric is an average: that of the control.")
    ] = None,
    stddev: Annotated[
        float | None, typer.Option("--stddev", metavar="S", help="Its standard deviation between people.")
    ] = None,
    lower: Annotated[float, typer.Option("--lower", metavar="X", help="The lower bound of its values.")] = 0.0,
    upper: Annotated[float | None, typer.Option("--upper", metavar="X", help="The upper bound of its values.")] = None,
    metrics: Annotated[int, typer.Option("--metrics", metavar="K", help="Metrics in the same question.")] = 1,
    epsilon: Annotated[
        list[float] | None, typer.Option("--epsilon", metavar="E", help="What the question may cost. Repeatable.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="Use Gaussian noise, with this delta.")
    ] = None,
    target: Annotated[float, typer.Option("--target", metavar="T", help="Power: how often the lift is found.")] = 0.8,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="C", help="One minus the false-positive rate of all metrics.")
    ] = 0.95,
    as_json: options.Json = False,
) -> None:
    """Compute the people and the epsilon that it takes to find a lift. Nothing is read and nothing is spent.

    With --lift: the number of people, for each epsilon and without privacy. With --people: the smallest lift that they
    can show. With both: also the smallest epsilon that is enough.

    Example: hedgerow experiment plan --average 20 --stddev 14 --upper 200 --lift 2% --people 25000
    """
    if lift is None and people is None:
        raise UsageError("plan requires --lift, --people, or both.")
    metric = _metric(rate, average, stddev, lower, upper)
    test: dict[str, Any] = {"delta": delta, "metrics": metrics, "target": target, "confidence": confidence}
    design: dict[str, Any] = {"lift": None if lift is None else _share(lift), **test}
    epsilons = [None, *(EPSILONS if epsilon is None else epsilon)]
    if lift is not None:
        needed = [(one, lift_people(metric, _share(lift), epsilon=one, **test)) for one in epsilons]
        design["needed"] = [{"epsilon": one, "treated": sizes[0], "control": sizes[1]} for one, sizes in needed]
    if people is not None:
        sizes = _sizes(people)
        design["people"] = list(sizes)
        design["detectable"] = [
            {"epsilon": one, "lift": _or_none(detectable_lift, metric, *sizes, epsilon=one, **test)} for one in epsilons
        ]
        if lift is not None:
            design["epsilon_needed"] = _or_none(lift_epsilon, metric, _share(lift), *sizes, **test)
    if as_json:
        write_json(design)
    else:
        _print_plan(design)


def _named(metrics: list[str] | None) -> dict[str, str]:
    """Read metrics of the form NAME=SQL; a plain column is its own name."""
    named = {}
    for metric in metrics or []:
        name, sign, text = metric.partition("=")
        plain = name.strip().isidentifier() and not text.startswith("=")
        if not plain or (sign and not text.strip()):
            raise UsageError("A metric has the form NAME=SQL.", hint='For instance --rate "bought=orders > 0".')
        named[name.strip()] = text.strip() if sign else name.strip()
    return named


def _metric(
    rate: float | None, average: float | None, stddev: float | None, lower: float, upper: float | None
) -> Metric:
    if rate is not None and (average, stddev, upper) == (None, None, None):
        return Metric.rate(rate)
    if rate is None and average is not None and stddev is not None and upper is not None:
        return Metric.average(average, stddev, lower=lower, upper=upper)
    raise UsageError("plan requires --rate, or --average with --stddev and --upper.")


def _share(text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ParameterError("--lift takes a share, such as 2% or 0.02.", code="parameter-range") from None


def _sizes(text: str) -> tuple[float, float]:
    try:
        sizes = [float(part) for part in text.split(",")]
        treated, control = sizes * 2 if len(sizes) == 1 else sizes
    except ValueError:
        raise ParameterError("--people takes one number or two, such as 4000,6000.", code="parameter-pair") from None
    return treated, control


def _or_none(compute: Any, *words: Any, **options: Any) -> float | None:  # noqa: ANN401 - handed on
    try:
        return float(compute(*words, **options))
    except ConditionNotMet:
        return None


def _print_answer(answer: Answer, keys: int) -> None:
    """Print a row for each metric (and group): lift, interval in the population, p-values, and a word."""
    several = are_several(answer)
    groups, metrics = answer.columns[:keys], answer.columns[keys:]
    table = Table()
    for name in (*groups, "metric"):
        table.add_column(Text(on_one_line(name)))
    for heading in ("lift", "population", "p", *(["p adjusted"] if several else [])):
        table.add_column(heading, justify="right")
    table.add_column("")
    for index, bars in enumerate(answer.intervals):
        for name in metrics:
            bar = bars.get(name)
            decides = None if bar is None else bar.p_adjusted if several else bar.p_value
            word = "" if decides is None else "finding" if decides < 1 - answer.confidence else "may be chance"
            key = [shown(answer[group][index], None) for group in groups]
            row = [*key, name, shown(answer[name][index], bar), *cells(bars, name, several=several), word]
            table.add_row(*map(Text, row))
    show_table(table)
    say(caption(answer))
    for note in (*notes(answer), *empty_columns(answer)):
        say(f"note: {note}")


def _print_plan(design: dict[str, Any]) -> None:
    chances = f"found in {design['target']:.4g} of experiments, at {design['confidence']:.10g} confidence"
    if "needed" in design:
        say(f"People needed for a lift of {design['lift']:.4g} to be {chances}:")
        table = number_columns("epsilon", "treated", "control")
        for row in design["needed"]:
            table.add_row(epsilon_text(row), f"{row['treated']:,}", f"{row['control']:,}")
        show_table(table)
    if "detectable" in design:
        people = " and ".join(f"{size:,.10g}" for size in design["people"])
        say(f"The smallest lift that is {chances}, with {people} people:")
        table = number_columns("epsilon", "lift")
        for row in design["detectable"]:
            table.add_row(epsilon_text(row), "none" if row["lift"] is None else f"{row['lift']:.4g}")
        show_table(table)
    if "epsilon_needed" in design:
        epsilon_needed = design["epsilon_needed"]
        if epsilon_needed is None:
            say(f"A lift of {design['lift']:.4g} cannot be found with these people, even without privacy.")
        else:
            say(f"A lift of {design['lift']:.4g} is found from epsilon {epsilon_needed:g} on.")
