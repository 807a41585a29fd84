"""How large a statement may become."""

from hedgerow.errors import UnsupportedSQLError

MAX_RELATIONS = 100


def within_size(size: int) -> int:
    """Refuse a statement that reads too many relations, counted as often as they are used."""
    if size > MAX_RELATIONS:
        raise UnsupportedSQLError(
            f"The statement reads more than {MAX_RELATIONS} relations, counting each use of a CTE.",
            code="too-large",
            hint="Ask in several statements.",
        )
    return size
