"""Questions of our own about the rows of a release: which keys enough people share, how much each person has.

Privacy: they are plans like any other, and are priced, charged, bounded and released like any other. Rows of a release
belong to its owner, and what is made of the rows of one owner, one row each, belongs to that owner, too.
"""

from collections.abc import Sequence
from dataclasses import replace

from hedgerow.expressions.nodes import Column, Expr
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.nodes import AggregateCall, Grouped, LogicalPlan, Named, Release, Released, Select, inside
from hedgerow.plan.ownership import one_row_each, owner_column
from hedgerow.plan.rewrite import canonical

OWNER, AMOUNT = "o", "a0"


def histogram(release: Release, bucket: Expr, present: Sequence[Expr], groups: int) -> LogicalPlan:
    """How many people have a row in each bucket: each in at most `groups` of them, once in each.

    `present` are conditions that rows must satisfy to count.
    """
    most = min(limit for limit in (groups, release.limits.max_rows, release.limits.max_groups) if limit is not None)
    limits = replace(release.limits, max_rows=most, max_rows_per_group=None, max_groups=most)
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=True, type=Type.INTEGER)
    made = replace(
        release,
        where=(*release.where, *present),
        limits=limits,
        keys=(Named("k0", bucket),),
        calls=(counted,),
        domain=None,
    )
    return shown(made)


def asked(release: Release, calls: Sequence[AggregateCall]) -> LogicalPlan:
    """Other aggregates over all rows of a release, without groups."""
    named = tuple(replace(call_, name=f"a{i}") for i, call_ in enumerate(calls))
    return shown(replace(release, keys=(), calls=named, domain=None))


def rows_each(release: Release) -> tuple[Release, Column]:
    """One row for each person, and in it how many rows of the release are that person's."""
    return _people(replace(release, keys=()))


def groups_each(release: Release) -> tuple[Release, Column]:
    """One row for each person, and in it how many groups of the release have a row of that person."""
    alias = _free(release)
    named = (*release.keys, Named(OWNER, release.owner))
    pairs = Grouped(release.source, release.where, named, (), alias)
    return _people(replace(release, source=pairs, where=(), owner=owner_column(alias, release.owner), keys=()))


def shown(release: Release) -> LogicalPlan:
    """The plan that shows a release as it is."""
    prefix = _prefix(release)
    released = canonical(release, prefix)
    alias = _free(released)
    keys = [Column(key.name, key.expr.type, table=alias) for key in release.keys]
    columns = [*keys, *(Column(made.name, made.type, table=alias) for made in released.calls)]
    named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
    root = Select(Released(released, alias), (), named)
    return LogicalPlan(root, (released,), tuple(column.name for column in columns))


def is_present(value: Expr) -> Expr:
    """The condition that a value is there."""
    return call("not", [call("is_null", [value])])


def _people(release: Release) -> tuple[Release, Column]:
    alias = _free(release)
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=False, type=Type.INTEGER)
    each = Grouped(release.source, release.where, (Named(OWNER, release.owner),), (counted,), alias)
    limits = one_row_each(release.limits, release.owner)
    made = replace(
        release,
        source=each,
        where=(),
        owner=owner_column(alias, release.owner),
        limits=limits,
        keys=(),
        calls=(),
        domain=None,
    )
    return made, Column(AMOUNT, Type.INTEGER, nullable=False, table=alias)


def _aliases(release: Release) -> list[str]:
    return [node.alias for node in inside(release) if hasattr(node, "alias")]


def _prefix(release: Release) -> str:
    """What the aliases of a bound release begin with: no column is called like one."""
    return _aliases(release)[0].rstrip("0123456789")


def _free(release: Release) -> str:
    """An alias that no relation in it has."""
    numbers = [int(alias.removeprefix(_prefix(release))) for alias in _aliases(release)]
    return f"{_prefix(release)}{max(numbers) + 1}"
