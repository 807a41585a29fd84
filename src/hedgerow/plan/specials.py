"""What may stand in an expression besides functions of one row: nested queries and window functions."""

from dataclasses import dataclass

from sqlglot import exp

from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.plan.nested import Nester, is_nested
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.syntax import span_of
from hedgerow.plan.windows import Windows


@dataclass
class Specials:
    """Asked first about every node. Without `windows`, none may stand here (WHERE, ON, GROUP BY)."""

    nester: Nester
    windows: Windows | None = None
    binder: ScalarBinder | None = None

    def __call__(self, node: exp.Expr) -> Expr | None:
        """The nested query or the window, if the node is one."""
        if self.binder is None:
            raise InternalError("An expression was bound before its scope was ready.")
        if is_nested(node):
            return self.nester.nested(node, self.binder.bind)
        if isinstance(node, exp.Window):
            if self.windows is None:
                raise UnsupportedSQLError(
                    "A window function cannot stand here.",
                    code="misplaced-window",
                    hint="Use QUALIFY, or compute it in a CTE.",
                    span=span_of(node),
                )
            return self.windows.bind(node, self.binder)
        return None
