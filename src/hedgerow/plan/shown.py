"""SELECT lists: stars spelled out, names given."""

from dataclasses import dataclass

from sqlglot import exp

from hedgerow.errors import UnknownNameError, UnsupportedSQLError
from hedgerow.plan.scope import Item, RowScope, fold
from hedgerow.plan.syntax import span_of, text_of


@dataclass(frozen=True)
class Shown:
    """One column of a SELECT list: its name and its syntax."""

    name: str
    node: exp.Expr


def shown_columns(select: exp.Select, scope: RowScope) -> list[Shown]:
    """Name and syntax of every column shown; a star stands for all columns that may be seen."""
    shown: list[Shown] = []
    for node in select.expressions:
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star):
            shown += _star(inner, scope.items, scope)
        elif isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            items = tuple(item for item in scope.items if fold(item.name) == fold(inner.table))
            if not items:
                raise UnknownNameError(
                    f"There is no table {inner.table!r} in this query.",
                    code="unknown-table",
                    hint=f"FROM names {', '.join(item.name for item in scope.items) or 'none'}.",
                    span=span_of(node),
                )
            shown += _star(inner.this, items, None)
        else:
            shown.append(Shown(node.alias or inner.output_name or text_of(inner).lower(), inner))
    return shown


def _star(star: exp.Star, items: tuple[Item, ...], scope: RowScope | None) -> list[Shown]:
    extra = [name for name, value in star.args.items() if name not in {"except_", "except"} and value]
    if extra or not items:
        raise UnsupportedSQLError(
            "This form of * is not available.", code="star", hint="Name the columns.", span=span_of(star)
        )
    left_out = {fold(node.name) for node in star.args.get("except_") or star.args.get("except") or []}
    found: dict[tuple[str, str], Shown] = {}
    for item in items:
        for name, spelling in item.shown.items():
            merged = scope is not None and name in scope.merged
            if name in left_out or (name not in item.columns):
                continue
            column = exp.column(exp.to_identifier(spelling, quoted=True), None if merged else _quoted(item.name))
            column.this.meta.update(star.meta)
            found.setdefault(("" if merged else item.name, name), Shown(spelling, column))
    return list(found.values())


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
