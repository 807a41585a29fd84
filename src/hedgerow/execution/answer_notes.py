"""What an answer as a whole has to say: which groups may be missing from it, and from its totals.

Privacy: the words follow from the plan, and from which rows were released; never from what was not.
"""

from collections.abc import Iterator, Sequence

from hedgerow.error_bars.provenance.noisy_columns import picks_rows
from hedgerow.expressions.nodes import Window
from hedgerow.plan.cutting import rows_kept
from hedgerow.plan.nodes import Grouped, LogicalPlan, Release, Released, Select, inside
from hedgerow.privacy.keys import KeyRule
from hedgerow.release import Estimator
from hedgerow.release.absent import fewest_people

FEW = 1_000
"""Rows of one person in one table that somebody may well have more of."""


def remarks(logical: LogicalPlan, estimators: Sequence[Estimator], rows: int) -> tuple[str, ...]:
    """The notes on the answer as a whole, where `rows` rows are shown."""
    by_release = dict(zip(logical.releases, estimators, strict=True))
    incomplete = [estimator for estimator in estimators if _may_lack_groups(estimator)]
    combined = [by_release[release] for release in _combined(logical)]
    lacking = [estimator for estimator in combined if _may_lack_groups(estimator)]
    found = []
    if rows == 0:
        found.append(_empty(incomplete, picks=picks_rows(logical.root)))
    if lacking:
        found.append(
            "Totals, shares, ranks and comparisons of rows leave out groups that were held back or not shown, "
            f"usually those of fewer than {_sizes(lacking)}."
        )
    kept = {table: most for release in logical.releases for table, most in rows_kept(release).items()}
    found += [
        f"Of each person at most {most:,} rows of {table!r} take part in the joins."
        for table, most in sorted(kept.items())
        if most < FEW
    ]
    return tuple(found)


def _may_lack_groups(estimator: Estimator) -> bool:
    """Whether groups may be missing. Where the keys are public, it can be seen in the rows whether any is."""
    if estimator.plan.selection is None or estimator.plan.keys.rule is KeyRule.ONE:
        return False
    return estimator.plan.keys.rule is KeyRule.SELECTED or not estimator.noisy.shown.all()


def _combined(logical: LogicalPlan) -> Iterator[Release]:
    """The releases of which several rows are put together, by an aggregate or a window."""
    nodes = [node for node in inside(logical.root) if isinstance(node, Grouped | Select)]
    sources = [node.source for node in nodes if isinstance(node, Grouped) or _has_window(node)]
    yield from dict.fromkeys(node.release for node in inside(tuple(sources)) if isinstance(node, Released))


def _has_window(select: Select) -> bool:
    return any(isinstance(part, Window) for part in inside((select.columns, select.order, select.where)))


def _empty(incomplete: Sequence[Estimator], *, picks: bool) -> str:
    reasons = []
    if incomplete:
        reasons.append(f"groups of fewer than {_sizes(incomplete)} are usually not shown (a larger epsilon shows more)")
    if picks or not incomplete:
        reasons.append("no row fulfilled the conditions on the released numbers, and none that is held back does")
    return f"No row is shown: {'; or '.join(reasons)}."


def _sizes(estimators: Sequence[Estimator]) -> str:
    found = dict.fromkeys(fewest_people(estimator.plan) for estimator in estimators)
    return " or ".join(size for size in found if size is not None)
