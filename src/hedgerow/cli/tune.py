"""hedgerow tune: the three modes of the tuner, as tables, JSON and pictures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Annotated, Any

import typer
from rich.table import Table

from hedgerow import tuner
from hedgerow.arguments import MECHANISMS, chosen
from hedgerow.cli import options
from hedgerow.cli.output import say, show_table, tell, write_json
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.tuner import Advice, Tuning, advise, applicability
from hedgerow.tuner.regions import region_chart, save_chart

Ranges = Sequence[tuple[Any, Any]]
NAMES = {
    "epsilon_max": "budget",
    "epsilon_count": "epsilon of the count",
    "epsilon_sum": "epsilon of the sum",
    "epsilon_total": "in all",
    "noisy_count": "noisy count",
    "min_count": "rows needed",
    "size": "rows",
    "feasible": "enough",
    "unmet": "condition not met",
}
HIDDEN = {"delta_sum", "beta_sum"}


def tune_page(rows: list[dict[str, Any]], ranges: Ranges, advice: Sequence[Advice]) -> None:
    """Print the page."""
    show_table(_table(rows))
    for ends, advised in zip(ranges, advice, strict=True):
        for reason in advised.reasons:
            say(f"advice for {_values(ends)}: {reason}")


def draw(
    file: str, sizes: list[float], ranges: Ranges, axes: tuple[float, float], beta: float, noise: dict[str, Any]
) -> None:
    """Draw the budgets for which the conditions hold, one panel for each number of rows."""
    single = [pair for low, high in ranges for pair in _single(low, high)]
    regions = applicability(sizes, single, beta=beta, most=axes, **noise)
    save_chart(region_chart(regions, sizes=sizes, most=axes, title=f"gamma = {noise['gamma']:g}"), file)


def _table(rows: list[dict[str, Any]]) -> Table:
    columns = [name for name in rows[0] if name not in HIDDEN and any(row[name] is not None for row in rows)]
    table = Table()
    for name in columns:
        table.add_column(NAMES.get(name, name), justify="right")
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    return table


def _cell(value: Any) -> str:  # noqa: ANN401 - cells of several kinds
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(_cell(part) for part in value)
    return value if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _single(low: Any, high: Any) -> list[tuple[float, float]]:  # noqa: ANN401 - one number, or a pair of them
    return list(zip(low, high, strict=True)) if isinstance(low, tuple) else [(low, high)]


def _values(ends: tuple[Any, Any]) -> str:
    return " over ".join(f"{low:g} to {high:g}" for low, high in _single(*ends))


Lower = Annotated[
    str, typer.Option("--lower", metavar="A", help="The smallest value of a row; A1,A2 for a quotient of two sums.")
]
Uppers = Annotated[
    list[str],
    typer.Option("--upper", metavar="B", help="The largest value of a row; B1,B2 for a quotient. Repeatable."),
]
CountEpsilons = Annotated[
    list[float], typer.Option("--epsilon-count", metavar="E", help="Epsilon of the count. Repeatable.")
]
Betas = Annotated[list[float], typer.Option("--beta", metavar="B", help="Probability that a noise exceeds its bound.")]
WholeBeta = Annotated[
    float, typer.Option("--beta", metavar="B", help="Probability that the predicted error is exceeded.")
]
Gamma = Annotated[float, typer.Option("--gamma", metavar="G", help="Maximum noise, as a fraction of the value.")]
Delta = Annotated[float, typer.Option("--delta", metavar="D", help="The delta of each release.")]
WholeDelta = Annotated[
    float, typer.Option("--delta", metavar="D", help="The total delta; it is divided among the releases.")
]
Mechanisms = Annotated[str, typer.Option("--mechanism", metavar="M", help="The noise: laplace, gaussian or analytic.")]
Sizes = Annotated[list[float], typer.Option("--size", metavar="N", help="A guess of the number of rows. Repeatable.")]
PlotSizes = Annotated[list[float] | None, typer.Option("--size", metavar="N", help="Rows, for --plot. Repeatable.")]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Draw the budgets that meet the conditions: .png, .svg, .pdf, .html."),
]
Axes = Annotated[str, typer.Option("--axes", metavar="X,Y", help="The largest epsilons of --plot.")]

tune = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@tune.callback()
def _tune() -> None:
    """Compute the budgets and sizes for which the error of an average, or of a quotient of sums, can be predicted.

    Everything here is arithmetic: no database is read and nothing is spent. Each mode takes --json, and draws the
    applicable budgets with --plot.

    Example: hedgerow tune unknown-size --epsilon-count 0.05 --beta 0.05 --lower 1 --upper 10
    """


@dataclass(frozen=True, slots=True)
class _Question:
    """The options that all modes share, parsed."""

    ranges: tuple[tuple[Any, Any], ...]
    gamma: float
    delta: float
    mechanism: str
    plot: str | None
    axes: tuple[float, float]


@tune.command("unknown-size")
def unknown_size(
    *,
    epsilon_count: CountEpsilons,
    beta: Betas,
    lower: Lower,
    upper: Uppers,
    gamma: Gamma = 0.1,
    delta: Delta = 0.0,
    mechanism: Mechanisms = "laplace",
    plot: Plot = None,
    size: PlotSizes = None,
    axes: Axes = "1,10",
    as_json: options.Json = False,
) -> None:
    """Compute the number of rows and the budget of the sums before the size is known.

    Example: hedgerow tune unknown-size --epsilon-count 0.05 --beta 0.05 --lower 1 --upper 10
    """
    question = _read(lower, upper, gamma, delta, mechanism, plot, axes)
    rows = []
    for epsilon, chance, ends in product(epsilon_count, beta, question.ranges):
        tuning = tuner.unknown_size(epsilon_count=epsilon, beta=chance, **_shared(question, ends))
        rows.append({"epsilon_count": epsilon, "beta": chance, **_range(ends), **_tuning(tuning)})
    _finish(question, rows, sizes=size or [1_000.0, 1_000_000.0], beta=beta[0], as_json=as_json)


@tune.command("known-size")
def known_size(
    noisy_counts: Annotated[list[float], typer.Argument(metavar="COUNT…", help="Released counts.")],
    *,
    epsilon_count: CountEpsilons,
    beta: Betas,
    lower: Lower,
    upper: Uppers,
    gamma: Gamma = 0.1,
    delta: Delta = 0.0,
    mechanism: Mechanisms = "laplace",
    plot: Plot = None,
    axes: Axes = "1,10",
    as_json: options.Json = False,
) -> None:
    """Compute the budget of the sums once a noisy count was released.

    Example: hedgerow tune known-size 9971 --epsilon-count 0.05 --beta 0.05 --lower 1 --upper 100
    """
    question = _read(lower, upper, gamma, delta, mechanism, plot, axes)
    rows, refusals = [], []
    for epsilon, count, chance, ends in product(epsilon_count, noisy_counts, beta, question.ranges):
        row = {"epsilon_count": epsilon, "noisy_count": count, "beta": chance, **_range(ends)}
        tuning = _known(count, epsilon, chance, question, ends)
        if isinstance(tuning, ConditionNotMet):
            refusals.append(tuning)
            rows.append({**row, "epsilon_sum": None, "delta_sum": delta, "beta_sum": chance, "unmet": tuning.condition})
        else:
            rows.append({**row, **_tuning(tuning), "unmet": None})
    if len(refusals) == len(rows):
        raise refusals[0]
    for row in rows:
        row.pop("min_count", None)
    _finish(question, rows, sizes=noisy_counts, beta=beta[0], as_json=as_json)


@tune.command("split")
def split(
    *,
    size: Sizes,
    epsilon: Annotated[list[float], typer.Option("--epsilon", metavar="E", help="The most it may cost. Repeatable.")],
    beta: WholeBeta,
    lower: Lower,
    upper: Annotated[
        str, typer.Option("--upper", metavar="B", help="The largest value of a row; B1,B2 for a quotient.")
    ],
    gamma: Gamma = 0.1,
    delta: WholeDelta = 0.0,
    mechanism: Mechanisms = "laplace",
    plot: Plot = None,
    axes: Axes = "1,10",
    as_json: options.Json = False,
) -> None:
    """Split a budget between the count and the sums, for guessed sizes.

    Example: hedgerow tune split --size 10000 --size 100000 --epsilon 0.041 --beta 0.05 --lower 1 --upper 10
    """
    question = _read(lower, [upper], gamma, delta, mechanism, plot, axes)
    table = tuner.split_budget(size, epsilon, beta=beta, **_shared(question, question.ranges[0]))
    parts = 3 if isinstance(question.ranges[0][0], tuple) else 2
    _finish(replace(question, delta=delta / parts), table.to_pylist(), sizes=size, beta=beta / parts, as_json=as_json)


def _known(
    count: float, epsilon: float, beta: float, question: _Question, ends: tuple[Any, Any]
) -> Tuning | ConditionNotMet:
    try:
        return tuner.known_size(count, epsilon_count=epsilon, beta=beta, **_shared(question, ends))
    except ConditionNotMet as refusal:
        return refusal


def _read(
    lower: str, uppers: list[str], gamma: float, delta: float, mechanism: str, plot: str | None, axes: str
) -> _Question:
    low = _numbers("--lower", lower)
    ranges = tuple((low, _numbers("--upper", upper)) for upper in uppers)
    largest = _numbers("--axes", axes)
    if not isinstance(largest, tuple):
        raise ParameterError("--axes takes two numbers, such as 1,10.", code="parameter-pair")
    return _Question(ranges, gamma, delta, chosen("--mechanism", mechanism, MECHANISMS), plot, largest)


def _numbers(option: str, text: str) -> float | tuple[float, float]:
    """One number, or two with a comma between them."""
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in {1, 2}:
        raise ParameterError(f"{option} takes a number, or two with a comma between them.", code="parameter-number")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def _shared(question: _Question, ends: tuple[Any, Any]) -> dict[str, Any]:
    return {**_range(ends), **_noise(question)}


def _noise(question: _Question) -> dict[str, Any]:
    return {"mechanism": question.mechanism, "gamma": question.gamma, "delta": question.delta}


def _range(ends: tuple[Any, Any]) -> dict[str, Any]:
    return {"lower": ends[0], "upper": ends[1]}


def _tuning(tuning: Tuning) -> dict[str, Any]:
    return {
        "min_count": tuning.min_count,
        "epsilon_sum": tuning.epsilon_sum,
        "delta_sum": tuning.delta_sum,
        "beta_sum": tuning.beta_sum,
    }


def _finish(question: _Question, rows: list[dict[str, Any]], *, sizes: list[float], beta: float, as_json: bool) -> None:
    """Draw, if requested; then print the table and the advice."""
    if question.plot is not None:
        draw(question.plot, sizes, question.ranges, question.axes, beta, _noise(question))
        tell(f"The budgets that meet the conditions are drawn in {question.plot}.")
    advice = [advise(lower=low, upper=high) for low, high in question.ranges]
    if as_json:
        write_json({**_noise(question), "rows": rows, "advice": [asdict(advised) for advised in advice]})
    else:
        tune_page(rows, question.ranges, advice)
