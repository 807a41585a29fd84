"""Lines with a comment at the side."""

_MARGIN = 38


def remark(line: str, comment: str) -> str:
    """`line` with `comment` beside it, in a column of its own where the line is short enough."""
    return f"{line:<{_MARGIN}}  # {comment}"
