"""The quick depth: the exact integers are read once, and what is repeated is the release alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hedgerow.audit.watch import WatchedPurchase
from hedgerow.backends import Backend, Snapshot
from hedgerow.backends.base import failure
from hedgerow.compiled import Program, Query
from hedgerow.errors import HedgerowError
from hedgerow.execution.run import compile_steps, first_pass, release
from hedgerow.release import Estimator
from hedgerow.schema import SchemaTable


class Kept:
    """A backend that asks the database each question once. What it keeps stays sealed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.dialect = backend.dialect
        self.handed_in = backend.handed_in
        self._answers: dict[tuple[str, str], Any] = {}
        self._tables: dict[str, SchemaTable | None] = {}

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """What was read before; the database, where it was not. Whatever goes wrong is what a backend says of it."""
        try:
            yield _KeptSnapshot(self._backend, self._answers, self._tables)
        except HedgerowError:
            raise
        except Exception as error:  # noqa: BLE001 - as in a backend: it may quote an exact value
            raise failure(error) from None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else is the backend's own
        return getattr(self._backend, name)


class _KeptSnapshot:
    """Answers by question and by the tables that were handed in for it."""

    def __init__(
        self, backend: Backend, answers: dict[tuple[str, str], Any], tables: dict[str, SchemaTable | None]
    ) -> None:
        self._backend = backend
        self._answers = answers
        self._tables = tables
        self._loaded: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        if name not in self._tables:
            with self._backend.snapshot() as snapshot:
                self._tables[name] = snapshot.table(name)
        return self._tables[name]

    def load(self, name: str, table: pa.Table) -> None:
        self._loaded[name] = table

    def run(self, query: Query) -> Any:  # noqa: ANN401 - sealed; only `release` opens it
        question = (query.sql, repr([(name, table.to_pydict()) for name, table in self._loaded.items()]))
        if question not in self._answers:
            with self._backend.snapshot() as snapshot:
                for name, table in self._loaded.items():
                    snapshot.load(name, table)
                self._answers[question] = snapshot.run(query)
        return self._answers[question]


@dataclass(frozen=True)
class Repeated:
    """What is released again and again, on either database: the purchase, and its statements under one nonce.

    People of many groups choose among them by the nonce. With one for each database, all of them would have chosen
    anew, and not the newcomer alone.
    """

    purchase: WatchedPurchase
    steps: Sequence[Program]

    @classmethod
    def of(cls, purchase: WatchedPurchase, backend: Backend) -> "Repeated":
        """With a nonce of its own."""
        return cls(purchase, compile_steps(purchase.private, backend))


class Repeater:
    """Releases one purchase again and again: same plan, same receipt, same exact integers, new noise."""

    def __init__(self, repeated: Repeated, backend: Backend) -> None:
        self._purchase, self._steps = repeated.purchase, repeated.steps
        self._backend: Any = Kept(backend)

    def again(self) -> tuple[Sequence[Estimator], None]:
        """What is released this time; there is no answer made of it."""
        bought = self._purchase
        with self._backend.snapshot() as snapshot:
            exact = first_pass(self._steps, bought.private, bought.receipt, snapshot)
            noisy = release(exact, self._steps, bought.private, bought.receipt, snapshot)
        return [Estimator(table, part) for table, part in zip(noisy, bought.private.parts, strict=True)], None
