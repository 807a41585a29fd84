"""The owner's limits on time, memory and rows of one statement. All of them are public."""

from dataclasses import dataclass

BYTES_OF_A_ROW = 400
"""Upper estimate of the memory for one row of a join that an engine has to keep."""

MAX_POSTPROCESS_MEMORY = 10**9
"""The maximum number of bytes for the post-processing."""

BYTES_OF_A_THREAD = 64 * 10**6
"""Bytes for each thread of an engine in this process: each has buffers of its own, which the engine does not count."""


@dataclass(frozen=True, slots=True)
class StatementLimits:
    """The `limits` of a catalog.

    Attributes:
        seconds: The time that the database may spend on one statement.
        memory: The bytes by which the statements of a database may make this process grow.
        rows: The maximum number of rows in an answer.
        joined_rows: The maximum number of rows that the joins of a statement may produce at the declared sizes.
        rows_per_person: The maximum number of rows that the joins of a statement may produce from one person's rows.
    """

    seconds: float = 900.0
    memory: int = 4 * 10**9
    rows: int = 1_000_000
    joined_rows: int = 10**11
    rows_per_person: int = 10**7

    @property
    def max_rows_of_one_person(self) -> int:
        """`rows_per_person`, or as many rows as fit into the memory of an engine if that is less."""
        return max(1, min(self.rows_per_person, self.engine // BYTES_OF_A_ROW))

    @property
    def engine(self) -> int:
        """The bytes that an engine in this process may count for its statements."""
        return self.memory // 2

    @property
    def result(self) -> int:
        """The bytes of one statement's result, as it comes from the engine."""
        return self.memory // 4

    @property
    def postprocess_memory(self) -> int:
        """The bytes for the post-processing."""
        return min(MAX_POSTPROCESS_MEMORY, self.memory // 4)

    @property
    def threads(self) -> int:
        """The maximum number of threads of an engine in this process."""
        return max(1, self.memory // BYTES_OF_A_THREAD)

    @property
    def temporary(self) -> int:
        """The bytes of temporary files that an engine in this process may write."""
        return 4 * self.memory


UNDECLARED = StatementLimits()
"""Limits of a catalog that states none."""
