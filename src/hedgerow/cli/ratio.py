"""hedgerow ratio: comparison of two groups, from counts or from a private table; and the design of experiments."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from hedgerow.answer import Answer
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import tell, write_json
from hedgerow.cli.ratio_page import (
    check_picture,
    counts_json,
    counts_page,
    draw_counts,
    draw_table,
    plan_page,
    table_page,
)
from hedgerow.cli.statements import asking, given_options
from hedgerow.distributions import Noise
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio import count_noise, detectable_ratio, epsilon_needed, lift, plan_experiment
from hedgerow.session.job import wait_for

Group = tuple[float, float]
EPSILONS = (0.05, 0.1, 0.5, 1.0)
STATISTICS = {"lift": "LIFT", "relative_risk": "RELATIVE_RISK", "risk_difference": "RISK_DIFFERENCE"}

Treatment = Annotated[
    str | None, typer.Option("--treatment", metavar="X/N", help="Successes and people in the treatment group.")
]
Control = Annotated[
    str | None, typer.Option("--control", metavar="Y/M", help="Successes and people in the control group.")
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="M",
        help="Method of the intervals of --treatment and --control: auto, classic, published, conservative, log, "
        "fieller or bootstrap.",
    ),
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Draw the relative risk with both intervals: .png, .svg, .pdf, .html."),
]
OptionalDb = Annotated[
    str | None, typer.Option("--db", envvar="HEDGEROW_DB", metavar="PATH", help="The database, for --table.")
]
OptionalCatalog = Annotated[
    str | None,
    typer.Option(
        "--catalog", envvar="HEDGEROW_CATALOG", metavar="FILE", help="The catalog of the database, for --table."
    ),
]
Table = Annotated[
    str | None, typer.Option("--table", metavar="T", help="The experiment's table, queried privately and charged.")
]
Outcome = Annotated[
    str | None, typer.Option("--outcome", metavar="SQL", help="What counts as a success: a condition on a row.")
]
TreatmentIs = Annotated[
    str | None, typer.Option("--treatment-is", metavar="SQL", help="Who was treated: a condition on a row.")
]
By = Annotated[
    str | None,
    typer.Option("--by", metavar="SQL", help="A column to group by; each group is compared in a row of its own."),
]

ratio = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@ratio.callback()
def _ratio() -> None:
    """Compare two groups of people, and plan experiments that can detect a difference.

    `ab` estimates the effect of a treatment, with intervals that account for sampling and for the noise of privacy;
    `plan` computes the number of people and the epsilon that it takes to detect an effect. Both take --json.

    Example: hedgerow ratio ab --treatment 540/4000 --control 460/4000 --epsilon 0.5
    """


@dataclass(frozen=True, slots=True)
class _Experiment:
    """A table with an experiment: three SQL expressions, and optionally a column to group by."""

    table: str
    outcome: str
    treated: str
    by: str | None

    @property
    def statement(self) -> str:
        """Return the question: three statistics of the same four counts, which are released once."""
        columns = [f"{name}({self.outcome}, {self.treated}) AS {alias}" for alias, name in STATISTICS.items()]
        keys = [] if self.by is None else [self.by]
        tail = "" if self.by is None else " GROUP BY 1 ORDER BY 1"
        return f"SELECT {', '.join([*keys, *columns])} FROM {self.table}{tail}"


@ratio.command("ab")
def ab(
    *,
    treatment: Treatment = None,
    control: Control = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="E", help="The noise in the two counts; with --table, the most to spend."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", metavar="D", help="Use Gaussian noise in the two counts, with this delta."),
    ] = None,
    confidence: options.Confidence = None,
    method: Method = None,
    table: Table = None,
    outcome: Outcome = None,
    treatment_is: TreatmentIs = None,
    by: By = None,
    db: OptionalDb = None,
    catalog: OptionalCatalog = None,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    mechanism: options.OptionalMechanism = None,
    min_frequency: options.MinFrequency = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Compare a treatment with a control: lift, relative risk, difference, p-value.

    From two counts, with --treatment and --control: nothing is read and nothing is spent. With --epsilon the successes
    are noisy, as two counts of different people that cost that much together; the people are public numbers.

    From a private table, with --table, --outcome and --treatment-is: the question is asked in SQL, and charged. All
    three statistics come from the same four counts, for the price of one. Each has an interval about the noise and, if
    a row is a person, one about the population.

    Example from a table: hedgerow ratio ab --table patients --outcome "age > 64" --treatment-is smoker --by region
    --epsilon 0.5 --db demo/hospital.duckdb --catalog demo/hospital.yaml

    Example: hedgerow ratio ab --treatment 540/4000 --control 460/4000 --epsilon 0.5
    """
    experiment = _experiment(table, outcome, treatment_is, by)
    if experiment is None:
        noise = _noise(epsilon, delta)
        _from_counts(_groups(treatment, control, noise), noise, confidence, method, plot, as_json=as_json)
        return
    if treatment is not None or control is not None or method is not None:
        raise UsageError(
            "--treatment, --control and --method cannot be combined with --table, which queries the counts.",
            hint="Leave them out, or leave --table out.",
        )
    if db is None or catalog is None:
        raise UsageError("--table needs --db and --catalog.", hint="See `hedgerow ratio ab --help`.")
    query_options = given_options(
        epsilon=epsilon, delta=delta, confidence=confidence, mechanism=mechanism, min_frequency=min_frequency
    )
    if plot is not None:
        check_picture(plot)
    text = experiment.statement
    tell(f"Asking: {text}")
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=None) as database:
        answer = wait_for(partial(database.sql, text, **query_options))
    _from_table(answer, plot, as_json=as_json)


@ratio.command("plan")
def plan(
    *,
    rate: Annotated[float, typer.Option("--rate", metavar="P", help="The rate of success without treatment.")],
    ratio_to_see: Annotated[
        float | None, typer.Option("--ratio", metavar="R", help="The relative risk to detect, such as 1.2.")
    ] = None,
    people: Annotated[
        str | None,
        typer.Option("--people", metavar="N,M", help="People in treatment and control; one number for both."),
    ] = None,
    epsilon: Annotated[
        list[float] | None,
        typer.Option("--epsilon", metavar="E", help="What the two counts may cost together. Repeatable."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="Use Gaussian noise, with this delta.")
    ] = None,
    target: Annotated[
        float, typer.Option("--target", metavar="T", help="Power: the probability that the effect is detected.")
    ] = 0.8,
    confidence: Annotated[
        float,
        typer.Option("--confidence", metavar="C", help="One minus the false-positive rate."),
    ] = 0.95,
    balance: Annotated[
        float, typer.Option("--balance", metavar="B", help="People treated for each one in the control, for --ratio.")
    ] = 1.0,
    as_json: options.Json = False,
) -> None:
    """Compute the people and the epsilon that it takes to detect an effect, and the detectable effect.

    With --ratio: the number of people for each epsilon, and without privacy. With --people: the smallest effect that
    these people can show, for each epsilon. With both: also the smallest sufficient epsilon. Nothing is read and
    nothing is spent.

    Example: hedgerow ratio plan --ratio 1.2 --rate 0.1 --people 4000 --epsilon 0.1 --epsilon 0.5
    """
    if ratio_to_see is None and people is None:
        raise UsageError("plan requires --ratio, --people, or both.")
    test = {"target": target, "confidence": confidence}
    epsilons = list(EPSILONS) if epsilon is None else epsilon
    plan: dict[str, Any] = {"ratio": ratio_to_see, "rate": rate, "delta": delta, **test}
    if ratio_to_see is not None:
        plan["needed"] = _needed(ratio_to_see, epsilons, rate=rate, delta=delta, balance=balance, **test)
    if people is not None:
        sizes = _sizes(people)
        plan["people"] = list(sizes)
        plan["detectable"] = _detectable(epsilons, sizes, rate, delta, test)
        if ratio_to_see is not None:
            plan |= _epsilon(ratio_to_see, sizes, rate, delta, test)
    if as_json:
        write_json(plan)
    else:
        plan_page(plan)


def _experiment(table: str | None, outcome: str | None, treated: str | None, by: str | None) -> _Experiment | None:
    if table is not None and outcome is not None and treated is not None:
        return _Experiment(table, outcome, treated, by)
    if (table, outcome, treated, by) == (None, None, None, None):
        return None
    raise UsageError("An experiment in a table needs --table, --outcome and --treatment-is.")


def _groups(treatment: str | None, control: str | None, noise: Noise | None) -> tuple[Group, Group]:
    if treatment is None or control is None:
        raise UsageError(
            "ab requires --treatment and --control, or --table.",
            hint="For instance --treatment 540/4000 --control 460/4000: successes and people.",
        )
    groups = _group("--treatment", treatment), _group("--control", control)
    if noise is None and any(not 0 <= successes <= people for successes, people in groups):
        raise ParameterError(
            "Counts without noise must be between 0 and the number of people.",
            code="parameter-range",
            hint="With --epsilon the counts are noisy, and may lie outside.",
        )
    return groups


def _group(option: str, text: str) -> Group:
    try:
        successes, people = (float(part) for part in text.split("/"))
    except ValueError:
        raise ParameterError(
            f"{option} takes successes and people with a slash between them, such as 540/4000.", code="parameter-pair"
        ) from None
    return successes, people


def _noise(epsilon: float | None, delta: float | None) -> Noise | None:
    if epsilon is None and delta is not None:
        raise UsageError("--delta requires --epsilon.")
    return None if epsilon is None else count_noise(epsilon, delta=delta)


def _from_counts(
    groups: tuple[Group, Group],
    noise: Noise | None,
    confidence: float | None,
    method: str | None,
    plot: str | None,
    *,
    as_json: bool,
) -> None:
    level = 0.95 if confidence is None else confidence
    estimate = lift(*groups, noise=noise, confidence=level, method=method or "auto")  # type: ignore[arg-type]
    if plot is not None:
        draw_counts(plot, groups, estimate, noise, level)
        tell(f"The relative risk is drawn in {plot}.")
    if as_json:
        write_json(counts_json(groups, estimate, noise, level))
    else:
        counts_page(groups, estimate, noise, level)


def _from_table(answer: Answer, plot: str | None, *, as_json: bool) -> None:
    if as_json:
        write_json({**answer.to_dict(), "query": answer.receipt.query})
    else:
        table_page(answer)
    if plot is not None:
        draw_table(plot, answer)
        tell(f"The relative risk is drawn in {plot}.")


def _needed(ratio_to_see: float, epsilons: list[float], **test: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - handed on
    """Number of people needed without privacy, and for each epsilon."""
    rows = plan_experiment(ratio_to_see, epsilons, **test).to_pylist()
    exact = {"epsilon": None, "treatment": rows[0]["n_x_exact"], "control": rows[0]["n_y_exact"], "price": 1.0}
    named = [
        {"epsilon": row["epsilon"], "treatment": row["n_x"], "control": row["n_y"], "price": row["price"]}
        for row in rows
    ]
    return [exact, *named]


def _detectable(
    epsilons: list[float], sizes: Group, rate: float, delta: float | None, test: dict[str, float]
) -> list[dict[str, Any]]:
    """Return the smallest detectable relative risk without privacy, and for each epsilon; None if there is none."""
    rows = []
    for epsilon in (None, *epsilons):
        noise = None if epsilon is None else count_noise(epsilon, delta=delta)
        try:
            smallest: float | None = detectable_ratio(rate, *sizes, noise=noise, **test)
        except ConditionNotMet:
            smallest = None
        rows.append({"epsilon": epsilon, "ratio": smallest, "lift": None if smallest is None else smallest - 1})
    return rows


def _epsilon(
    ratio_to_see: float, sizes: Group, rate: float, delta: float | None, test: dict[str, float]
) -> dict[str, Any]:
    try:
        smallest = epsilon_needed(ratio_to_see, rate=rate, n_x=sizes[0], n_y=sizes[1], delta=delta, **test)
    except ConditionNotMet as refusal:
        return {"epsilon_needed": None, "unmet": refusal.condition}
    return {"epsilon_needed": smallest, "unmet": None}


def _sizes(text: str) -> Group:
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) not in {1, 2}:
        raise ParameterError("--people takes a number, or two with a comma between them.", code="parameter-number")
    return parts[0], parts[-1]
