"""How much one statement may take: the owner's limits on time, memory and rows. All of them are public."""

from dataclasses import dataclass

BYTES_OF_A_ROW = 400
"""What a row of a join may take where an engine has to remember it."""


@dataclass(frozen=True, slots=True)
class StatementLimits:
    """The `limits` of a catalog.

    Attributes:
        seconds: The time that the database may spend on one statement.
        memory: The bytes that an engine in this process may use for its statements.
        rows: The most rows of an answer.
        joined_rows: The most rows that the joins of a statement may make at the declared sizes.
        rows_per_person: The most rows that the joins of a statement may make of one person's rows.
    """

    seconds: float = 900.0
    memory: int = 4 * 10**9
    rows: int = 1_000_000
    joined_rows: int = 10**11
    rows_per_person: int = 10**7

    @property
    def most_of_one_person(self) -> int:
        """`rows_per_person`, or as many rows as fit into the memory if that is less."""
        return max(1, min(self.rows_per_person, self.memory // BYTES_OF_A_ROW))

    @property
    def temporary(self) -> int:
        """The bytes of temporary files that an engine in this process may write."""
        return 4 * self.memory


UNDECLARED = StatementLimits()
"""What holds where the owner says nothing."""
