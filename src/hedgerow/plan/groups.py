"""Groups: those of one person stay exact, those that mix several people are released.

Privacy: groups whose keys determine the owner are one person's, and stay private and exact (the owner is added to the
keys, so that this holds whatever the data). All others are the border: they become a `Release`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.exact_aggregates import TOTAL
from hedgerow.expressions.nodes import Column, Expr, Nested, Window, columns_of, columns_read, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.aggregate_calls import has_aggregate
from hedgerow.plan.aggregated import AggregatedScope, Groups, Mode, unit_shown
from hedgerow.plan.clauses import Shown, grouping_sets
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Facts, shown_as
from hedgerow.plan.nodes import (
    AggregateCall,
    From,
    Grouped,
    Join,
    Named,
    Release,
    Released,
    Select,
    canonical,
)
from hedgerow.plan.ownership import (
    Ownership,
    Privacy,
    determines_owner,
    in_fixed,
    is_owner,
    is_settled,
    one_row_each,
    owner_column,
)
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope
from hedgerow.plan.syntax import span_of, text_of


def public_keys(source: From, where: Sequence[Expr], keys: Sequence[Named], public: frozenset[str]) -> Select | None:
    """The query for all groups of the public side, with or without people in them; None where keys are not public.

    Plain SQL shows a group for each row of the side that an outer join keeps. If keys and conditions read only that
    side, and it is public, those groups are public knowledge.
    """
    side = _kept(source, public)
    if side is None or not keys:
        return None
    aliases = _aliases(side)
    if not all(_reads_only(expr, aliases) for expr in (*where, *(key.expr for key in keys))):
        return None
    return Select(side, tuple(where), tuple(keys), distinct=True)


def _kept(source: From, public: frozenset[str]) -> From | None:
    """Return the part of the tree that outer joins always keep, if it is public."""
    if not isinstance(source, Join) or source.kind != "left":
        return None
    return _kept(source.left, public) or (source.left if _aliases(source.left) <= public else None)


def _aliases(source: From) -> frozenset[str]:
    if isinstance(source, Join):
        return _aliases(source.left) | _aliases(source.right)
    return frozenset({source.alias})


def _reads_only(expr: Expr, aliases: frozenset[str]) -> bool:
    parts = list(walk(expr))
    if any(isinstance(part, Nested | Window) for part in parts):
        return False
    return all(part.table in aliases for part in parts if isinstance(part, Column))


@dataclass(frozen=True)
class Relation:
    """The rows below a SELECT list: a tree, their owner, and their privacy."""

    source: From | None
    where: tuple[Expr, ...]
    ownership: Ownership | None
    privacy: Privacy


def is_grouped(select: exp.Select, shown: Sequence[Shown]) -> bool:
    """Return True if there is a GROUP BY, or an aggregate anywhere above the rows."""
    order, qualify = select.args.get("order"), select.args.get("qualify")
    clauses = [select.args.get("having"), qualify, *(order.expressions if order else []), *(s.node for s in shown)]
    return bool(select.args.get("group")) or any(has_aggregate(node) for node in clauses if node is not None)


class GroupBinder:
    """Binds the groups of one SELECT."""

    def __init__(
        self,
        context: Context,
        scope: RowScope,
        rows: ScalarBinder,
        below: Relation,
        public: frozenset[str] = frozenset(),
    ) -> None:
        self._context = context
        self._scope = scope
        self._rows = rows
        self._below = below
        self._public = public

    def groups(self, select: exp.Select, shown: Sequence[Shown], *, distinct: bool) -> Groups:
        """Return the keys and the mode of the groups. `distinct`: all output columns are keys."""
        if distinct:
            sets = [[column.node for column in shown]]
        elif select.args.get("group") is not None and select.args["group"].args.get("all"):
            sets = [[column.node for column in shown if not has_aggregate(column.node)]]
        else:
            sets = grouping_sets(select.args.get("group"), lambda node: self._resolve(node, shown))
        bound = [[self._key(node) for node in nodes] for nodes in sets]
        keys = list(dict.fromkeys(key for group in bound for key in group if _varies(key)))
        indexes = tuple(tuple(sorted({keys.index(key) for key in group if _varies(key)})) for group in bound)
        named = tuple(Named(f"k{i}", key) for i, key in enumerate(keys))
        mode = Mode.EXACT
        if self._below.ownership is not None:
            of_one = determines_owner(keys, self._below.ownership, self._context)
            mode = Mode.PERSON if of_one else Mode.RELEASE
        if mode is Mode.RELEASE:
            self._check_release(sets)
        whole = len(indexes) == 1
        if not whole and mode is Mode.PERSON:
            raise UnsupportedSQLError(
                "ROLLUP, CUBE and GROUPING SETS are not available for groups of one person.",
                code="grouping-sets",
                hint="GROUP BY plain expressions here.",
                span=span_of(select.args["group"]),
            )
        return Groups(self._context.alias(), named, mode, self._below.ownership, None if whole else indexes)

    def scope(self, groups: Groups) -> AggregatedScope:
        """The names above the groups."""
        return AggregatedScope(self._rows, self._scope, groups, self._context)

    def relation(self, groups: Groups, scope: AggregatedScope, having: tuple[Expr, ...]) -> Relation:
        """Return the groups as a relation, once all aggregates are known."""
        source = self._below.source
        if source is None:
            raise UnsupportedSQLError("The query reads no table.", code="no-from", hint="Write SELECT … FROM table.")
        calls = tuple(scope.calls)
        if groups.mode is Mode.RELEASE:
            self._check_alone()
        if groups.mode is Mode.RELEASE and groups.ownership is not None:
            return Relation(self._released(source, groups, calls), having, None, Privacy.RELEASED)
        if groups.mode is Mode.PERSON and groups.ownership is not None:
            return self._person(source, groups, calls, having, groups.ownership)
        grouped = Grouped(source, self._below.where, groups.keys, calls, groups.alias, groups.sets)
        return Relation(grouped, having, None, self._below.privacy)

    def _key(self, node: exp.Expr) -> Expr:
        if node.find(exp.Window) is not None:
            raise UnsupportedSQLError(
                "Window functions are not allowed in GROUP BY.",
                code="misplaced-window",
                hint="Compute it in a CTE first.",
                span=span_of(node),
            )
        bound = self._rows.bind(node)
        if bound.type in {Type.INTERVAL, Type.NULL} and _varies(bound):
            raise UnsupportedSQLError(
                f"GROUP BY cannot use {text_of(node)}.",
                code="type-mismatch",
                hint="Convert it with CAST, for instance to VARCHAR or BIGINT.",
                span=span_of(node),
            )
        return bound

    def _resolve(self, node: exp.Expr, shown: Sequence[Shown]) -> exp.Expr:
        """Return a GROUP BY term: a position, an alias of SELECT, or an expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit() or not 1 <= int(node.this) <= len(shown):
                raise UnsupportedSQLError(
                    f"There is no column number {node.this}.",
                    code="bad-position",
                    hint=f"The SELECT list has {len(shown)}; GROUP BY 1 means the first of them.",
                    span=span_of(node),
                )
            return shown[int(node.this) - 1].node
        if isinstance(node, exp.Column) and not node.table and not self._scope.has(fold(node.name)):
            for column in shown:
                if fold(column.name) == fold(node.name):
                    return column.node
        return node

    def _check_release(self, sets: Sequence[Sequence[exp.Expr]]) -> None:
        ownership = self._below.ownership
        if ownership is None:
            return
        self._check_alone()
        nodes = [node for group in sets for node in group]
        owners = columns_of(ownership.owner)
        for node in nodes:
            bound = self._rows.bind(node)
            if any(part.id in owners or is_owner(part, ownership, self._context) for part in columns_read(bound)):
                raise unit_shown(ownership.owner, node)

    def _check_alone(self) -> None:
        """Refuse a release that depends on the outer row."""
        if self._scope.outer:
            raise UnsupportedSQLError(
                "A subquery over private rows refers to the outer row, so it would be released once for each row.",
                code="correlated-release",
                hint="Group by the column instead, and join the results.",
            )

    def _released(self, source: From, groups: Groups, calls: Sequence[AggregateCall]) -> From:
        ownership = groups.ownership
        if ownership is None:
            raise UnsupportedSQLError("Nobody owns these rows.", code="internal")
        noisy = tuple(call for call in calls if call.function != "GROUPING")
        limits, keys = ownership.limits, groups.keys
        if limits.max_groups != 1 and keys and all(in_fixed(key.expr, ownership) for key in keys):
            # Keys that are constant for a unit put it in one group, whatever limits are declared.
            limits = replace(limits, max_groups=1, inferred=True)
        domain = public_keys(source, self._below.where, groups.keys, self._public)
        settled = tuple(key.expr for key in groups.keys if is_settled(key.expr, source, ownership))
        numbered = Release(source, self._below.where, ownership.owner, limits, groups.keys, noisy, domain, settled)
        release = canonical(numbered, self._context.prefix)
        if groups.sets is None:
            return Released(release, groups.alias)
        alias = self._context.alias()
        in_one = limits.one_row or all(in_fixed(key.expr, ownership) for key in groups.keys)
        if not in_one and any(call.distinct for call in noisy):
            raise UnsupportedSQLError(
                "COUNT(DISTINCT unit) does not add up over groups: one person can be in several.",
                code="rollup-people",
                hint="Count rows, or ask for each level of totals in a query of its own.",
            )
        shown = [Column(key.name, key.expr.type, table=alias, collated=False) for key in groups.keys]
        keys = tuple(Named(column.name, column) for column in shown)
        totals = tuple(_total(call, groups, keys, alias) for call in calls)
        return Grouped(Released(release, alias), (), keys, totals, groups.alias, groups.sets)

    def _person(
        self,
        source: From,
        groups: Groups,
        calls: tuple[AggregateCall, ...],
        having: tuple[Expr, ...],
        ownership: Ownership,
    ) -> Relation:
        """Groups of one person's rows. The owner is always one of their keys, even if the text does not name it."""
        keys = groups.keys if ownership.pinned else (*groups.keys, Named("o", ownership.owner))
        grouped = Grouped(source, self._below.where, keys, calls, groups.alias)
        return Relation(grouped, having, self.person(groups, ownership), Privacy.OWNED)

    def person(self, groups: Groups, ownership: Ownership) -> Ownership:
        """Return the ownership of groups of one person's rows."""
        if ownership.pinned:
            return ownership
        keys = (*groups.keys, Named("o", ownership.owner))
        owner = owner_column(groups.alias, ownership.owner)
        shown = shown_as(groups.alias, [(key.name, key.expr) for key in keys])
        facts = ownership.facts.plus(Facts((), (), frozenset({groups.alias})), shown)
        alone = all(is_owner(key.expr, ownership, self._context) for key in groups.keys)
        limits = one_row_each(ownership.limits, ownership.owner)
        fixed = frozenset({groups.alias}) if alone or ownership.limits.max_rows == 1 else frozenset()
        return replace(ownership, owner=owner, facts=facts, limits=limits if alone else ownership.limits, fixed=fixed)


def _varies(expr: Expr) -> bool:
    """Return True if the expression reads a column at all; a constant makes no groups."""
    return any(isinstance(part, Column) for part in walk(expr))


def _total(call: AggregateCall, groups: Groups, keys: Sequence[Named], alias: str) -> AggregateCall:
    """A total over released groups: the sum of their numbers."""
    if call.function == "GROUPING":
        indexes = [next(i for i, k in enumerate(groups.keys) if k.expr == a) for a in call.arguments]
        return replace(call, arguments=tuple(keys[i].expr for i in indexes))
    released = Column(call.name, call.type, table=alias)
    adds = TOTAL if call.function == "COUNT" else "SUM"
    return AggregateCall(call.name, adds, (released,), None, distinct=False, type=call.type)
