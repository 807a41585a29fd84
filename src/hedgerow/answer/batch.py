"""Answers that were asked together and paid for with one charge."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from hedgerow.accounting.budget import Spending
from hedgerow.answer.captions import notes
from hedgerow.answer.plain import on_one_line
from hedgerow.answer.released import Summary
from hedgerow.answer.render import html_table, rich_table, table_text
from hedgerow.answer.table import Answer
from hedgerow.markup import Markup, element, joined, paragraph


@dataclass(frozen=True, slots=True)
class Savings:
    """Saving of a batch against its statements one by one, with the same errors.

    Attributes:
        together: The charge of the batch.
        apart: The sum of what its answers would have cost by themselves.
        share_together: The part of the budget that the batch took.
        share_apart: The part of the budget that its statements would have taken one by one.
    """

    together: Spending
    apart: Spending
    share_together: float
    share_apart: float

    def __str__(self) -> str:
        return (
            f"epsilon {self.together.epsilon:.4g} for all, {self.apart.epsilon:.4g} one by one with the same errors; "
            f"{self.share_together:.2%} of the budget instead of {self.share_apart:.2%}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        apart = {"epsilon": self.apart.epsilon, "delta": self.apart.delta, "share": self.share_apart}
        return {"apart": apart, "epsilon": self.apart.epsilon - self.together.epsilon}


class Batch(Sequence[Answer]):
    """Answers that were asked together, in order and by name.

    `batch[0]` and `batch["name"]` are answers, and so is what iterating yields; `keys`, `values` and `items` are those
    of a mapping.

    Attributes:
        names: The names, in order.
        titles: The titles of a report's queries, by name; empty where none is stated.
        texts: The texts of a report's queries, by name; likewise.
        receipt: The one charge.
        savings: What the batch saved; None if it was answered before, or reads public data alone.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer],
        receipt: Summary,
        savings: Savings | None = None,
        titles: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self._answers = dict(answers)
        self.names = tuple(answers)
        self.receipt = receipt
        self.savings = savings
        self.titles = dict(titles or {})
        self.texts = dict(texts or {})

    @overload
    def __getitem__(self, key: int | str) -> Answer: ...
    @overload
    def __getitem__(self, key: slice) -> list[Answer]: ...
    def __getitem__(self, key: int | str | slice) -> Answer | list[Answer]:
        """An answer by its name or number, or several by a slice."""
        if isinstance(key, str):
            return self._answers[key]
        return list(self._answers.values())[key]

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers.values())

    def __contains__(self, key: object) -> bool:
        """Return True for the name of an answer, and for an answer."""
        return key in self._answers if isinstance(key, str) else any(key is answer for answer in self)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._answers.keys()

    def values(self) -> Iterable[Answer]:
        """The answers."""
        return self._answers.values()

    def items(self) -> Iterable[tuple[str, Answer]]:
        """The names and the answers."""
        return self._answers.items()

    def __repr__(self) -> str:
        return "\n\n".join([*(self._text(name) for name in self.names), self.caption])

    def _repr_html_(self) -> str:
        parts = [joined([element("h4", self._heading(name)), Markup(html_table(self[name]))]) for name in self.names]
        return joined([*parts, paragraph(self.caption)])

    @property
    def caption(self) -> str:
        """One line on the price of all answers."""
        charge, number = self.receipt.charge, "1 answer" if len(self) == 1 else f"{len(self)} answers"
        if self.receipt.reused:
            return f"{number}, free: answered before"
        if self.receipt.id is None:
            return f"{number} from public data: exact, free"
        price = f"epsilon {charge.epsilon:.4g}, delta {charge.delta:g}, {self.receipt.share:.2%} of the budget"
        paid = f"{number} for {price}"
        if self.savings is None:
            return paid
        apart = f"epsilon {self.savings.apart.epsilon:.4g}, {self.savings.share_apart:.2%} of the budget"
        return f"{paid}; one by one, as accurately, they would have cost {apart}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return {
            "id": self.receipt.id,
            "answers": {name: answer.to_dict() for name, answer in self.items()},
            **self.receipt.to_dict(),
            **({} if self.savings is None else {"savings": self.savings.to_dict()}),
        }

    def _heading(self, name: str) -> str:
        return on_one_line(f"{name}: {self.titles[name]}" if self.titles.get(name) else name)

    def _text(self, name: str) -> str:
        answer = self[name]
        lines, alone = [self._heading(name), table_text(rich_table(answer))], answer.receipt.alone
        if alone is not None:
            lines.append(f"alone it would have cost epsilon {alone.epsilon:.3g}")
        return "\n".join([*filter(None, lines), *(f"note: {note}" for note in notes(answer))])
