"""An expression in words close to SQL, for receipts: names and constants of the query, nothing else."""

from hedgerow.expressions.nodes import Column, Expr, Literal, Nested

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "and": "AND",
    "or": "OR",
    "like": "LIKE",
}
LONGEST = 80


def describe(expr: Expr) -> str:
    """The expression as short text.

    Example:
        >>> from hedgerow.expressions.types import Type
        >>> describe(Column("income", Type.FLOAT))
        'income'
    """
    text = _text(expr)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _text(expr: Expr) -> str:
    if isinstance(expr, Column):
        return expr.name
    if isinstance(expr, Literal):
        return "NULL" if expr.value is None else str(expr.value)
    if isinstance(expr, Nested):
        return f"{expr.kind}(…)"
    name = expr.function.removesuffix("_whole")
    arguments = [_text(argument) for argument in expr.arguments]
    if name in INFIX and len(arguments) == 2:
        return f"({arguments[0]} {INFIX[name]} {arguments[1]})"
    return f"{name}({', '.join(arguments)})"
