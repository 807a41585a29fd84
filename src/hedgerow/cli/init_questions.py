"""Questions of `hedgerow init`: who is the person of each table, and how many questions must the budget carry?

They are asked about names and types; no value of a table is read or shown.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hedgerow.accounting import gaussian_mu
from hedgerow.backends.csv_types import Types
from hedgerow.catalog import BudgetPolicy, fold, single_keys, unit_candidates
from hedgerow.catalog.draft import USUAL_ROWS
from hedgerow.catalog.load_budget import DELTAS, EPSILONS, LARGEST_EPSILON
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import tell
from hedgerow.errors import ParameterError
from hedgerow.execution.request import real
from hedgerow.expressions.types import Type
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.schema import Schema, SchemaTable

Read = TypeVar("Read")
Ask = Callable[[str, str], str]
"""Asks a question with a default, and returns the answer."""

ROW, NOBODY = "row", "none"
"""Answers about a table whose rows are each another person, and about one whose rows are not about people."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Epsilon of all answers, the part of it for Laplace noise, and the share of it that one question costs."""

    epsilon: float
    laplace: float
    share: float
    reason: str


PRESETS = {
    "handful": Preset(
        1.0,
        1.0,
        1 / 10,
        "Laplace, the more accurate for a single question; it adds up fast, and suits a handful",
    ),
    "dozens": Preset(3.0, 0.0, 1 / 10, "Gaussian, which adds up slowly and suits many questions"),
    "thousands": Preset(3.0, 0.0, 1 / 60, "Gaussian, which adds up slowly and suits many questions"),
}
USUAL = "dozens"


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """A budget, and the price of a question that states none."""

    policy: BudgetPolicy
    price: tuple[float, float]
    reason: str

    @property
    def questions(self) -> int:
        """Return how many ungrouped questions at the default price fit."""
        epsilon, delta = self.price
        if self.policy.pure_epsilon >= self.policy.epsilon:
            return int(self.policy.pure_epsilon / epsilon * (1 + 1e-9))
        return int(float(LedgerTerms.of(self.policy).caps.cost.gaussian) / gaussian_mu(epsilon, delta) ** 2)

    def sentences(self) -> Iterator[str]:
        """Yield what was chosen, and why."""
        policy, (epsilon, delta) = self.policy, self.price
        yield f"Budget     epsilon {policy.epsilon:g}, delta {policy.delta:g}, for all answers together"
        yield f"Price      epsilon {epsilon:g}, delta {delta:g} by default; about {self.questions:,} fit"
        yield f"Noise      {self.reason} (pure_epsilon {policy.pure_epsilon:g}; it cannot be changed later)"


def choose_budget(
    questions: str | None, epsilon: float | None, delta: float, pure_epsilon: float | None, ask: Ask | None
) -> BudgetChoice:
    """Choose budget, kind of noise and default price by the number of questions; what was stated in advance holds."""
    if questions is None and ask is not None:
        tell("\nHow many questions must the budget carry: a handful (ten), dozens (a hundred), or thousands?")
        questions = _ask_until_valid(ask, "Questions", USUAL, _preset)
    preset = PRESETS[_preset(questions or USUAL)]
    whole = preset.epsilon if epsilon is None else epsilon
    laplace = whole * preset.laplace if pure_epsilon is None else pure_epsilon
    policy = _policy(whole, delta, laplace)
    epsilon, delta = float(f"{whole * preset.share:.2g}"), float(f"{delta / 100:.1g}")
    price = min(max(epsilon, EPSILONS[0]), EPSILONS[1]), max(delta, DELTAS[0])
    return BudgetChoice(policy, price, preset.reason if pure_epsilon is None else "as you said")


def _policy(epsilon: float, delta: float, pure_epsilon: float) -> BudgetPolicy:
    whole = real("epsilon", epsilon, EPSILONS[0], LARGEST_EPSILON)
    if not (math.isfinite(pure_epsilon) and 0 <= pure_epsilon <= whole):
        raise ParameterError(
            "pure_epsilon is the part of epsilon that is kept for Laplace noise.",
            code="bad-pure-epsilon",
            hint=f"It lies between 0 and {whole:g}.",
        )
    return BudgetPolicy(whole, real("delta", delta, *DELTAS), float(pure_epsilon))


def _preset(answer: str) -> str:
    names = [name for name in PRESETS if answer.strip() and name.startswith(answer.strip().lower())]
    if len(names) != 1:
        raise UsageError(f"{answer!r} is not one of the choices.", hint=f"Choose {', '.join(PRESETS)}.")
    return names[0]


@dataclass(frozen=True, slots=True)
class People:
    """Tables by what their rows are about.

    Attributes:
        columns: The column that names the person, by table.
        numbered: Tables whose rows are each another person, and need a number.
        public: Tables whose rows are not about people.
        max_rows: Rows of one person that count in full; None if nobody said.
    """

    columns: dict[str, str]
    numbered: frozenset[str]
    public: frozenset[str]
    max_rows: int | None


def choose_people(schema: Schema, types: Types, names: Sequence[str], max_rows: int | None, ask: Ask | None) -> People:
    """Return who the person of each table is, from what was stated in advance, and from answers."""
    columns: dict[str, str] = {}
    numbered: set[str] = set()
    public: set[str] = set()
    used: set[str] = set()
    for table in schema.tables.values():
        answer = _named_column(table, names, used)
        if answer is None and ask is not None:
            answer = _ask_person(table, types.get(table.name, {}), ask)
        if answer == ROW and single_keys(table):
            columns[table.name] = single_keys(table)[0]
        elif answer == ROW:
            numbered.add(table.name)
        elif answer == NOBODY:
            public.add(table.name)
        elif answer is not None:
            columns[table.name] = answer
    if unused := [name for name in names if name not in used]:
        names = ", ".join(_visible(name) for table in schema.tables.values() for name in table.columns)
        hint = f"There are: {names}." if names else "The database has no table."
        raise UsageError(f"No table has a column {unused[0]}.", code="no-person", hint=hint)
    several = [name for name, column in columns.items() if column not in single_keys(schema.tables[name])]
    if several and max_rows is None:
        max_rows = USUAL_ROWS
        if ask is not None:
            tell("How many rows does one person have, usually at most? A person with more counts as that many.")
            max_rows = _ask_until_valid(ask, "Rows", str(USUAL_ROWS), _whole)
    return People(columns, frozenset(numbered), frozenset(public), max_rows)


def _named_column(table: SchemaTable, names: Sequence[str], used: set[str]) -> str | None:
    """Return the column that was stated for a table, as the table spells it."""
    spelled = {fold(name): name for name in table.columns}
    for name in names:
        column = name.removeprefix(f"{table.name}.")
        if fold(column) in spelled:
            used.add(name)
            return spelled[fold(column)]
    if ROW in names:
        used.add(ROW)
        return ROW
    return None


def _ask_person(table: SchemaTable, types: Mapping[str, Type], ask: Ask) -> str | None:
    """Ask for the column of the person; None leaves it open in the catalog."""
    candidates = unit_candidates(table)
    listed = [*candidates, *(name for name in table.columns if name not in candidates)]
    tell(f"\n{table.name}: which column names the person that a row is about?")
    width = max(len(name) for name in listed)
    for number, name in enumerate(listed, start=1):
        mark = "  (by its name)" if name in candidates else ""
        tell(f"  {number:>2}  {name:{width}}  {types.get(name, table.columns[name].type).value}{mark}")
    tell(
        f"Its name or number; {ROW}: each row is another person; {NOBODY}: rows are not about people; ?: decide later."
    )
    default = candidates[0] if len(candidates) == 1 else "?"
    return _ask_until_valid(ask, "Person", default, lambda answer: _read_person(answer.strip(), table, listed))


def _read_person(answer: str, table: SchemaTable, listed: Sequence[str]) -> str | None:
    spelled = {fold(name): name for name in listed}
    if answer.isdigit() and 1 <= int(answer) <= len(listed):
        return listed[int(answer) - 1]
    if fold(answer) in spelled:
        return spelled[fold(answer)]
    if answer.lower() in {ROW, NOBODY}:
        return answer.lower()
    if answer in {"?", ""}:
        return None
    names = ", ".join(map(_visible, listed))
    raise UsageError(f"{table.name} has no column {answer}.", code="no-person", hint=f"It has: {names}.")


def _visible(name: str) -> str:
    """Return a name in quotes if it begins or ends with a space, which has to be typed, too."""
    return name if name == name.strip() else f'"{name}"'


def _ask_until_valid(ask: Ask, question: str, default: str, read: Callable[[str], Read]) -> Read:
    """Ask again until an answer can be read."""
    while True:
        try:
            return read(ask(question, default))
        except UsageError as error:
            tell(f"{error.message} {error.hint}")


def _whole(answer: str) -> int:
    if not answer.strip().isdigit() or int(answer) < 1:
        raise UsageError(f"{answer!r} is not a number of rows.", hint="Write a whole number, such as 10.")
    return int(answer)
