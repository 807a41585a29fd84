"""One shell: an open database, its settings, and the last answer. It asks, shows and exports."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hedgerow.answer import Answer
from hedgerow.cli.errors import INTERRUPTED, UsageError, guarded, in_words_of_shell, pointing
from hedgerow.cli.formats import BINARY, FORMATS, Output
from hedgerow.cli.output import say, show_table, tell, waiting
from hedgerow.cli.query import show_answer
from hedgerow.figures import percent
from hedgerow.session.database import Database
from hedgerow.session.job import wait_for
from hedgerow.session.page import quote_page, spending

Confirm = Callable[[str], bool]
"""A question with yes or no as its answer."""

DEFAULT = "default"
"""The value that unsets a setting."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of `.set`: how its text is read, and what it is for."""

    read: Callable[[str], object]
    kind: str
    summary: str


def read_switch(text: str) -> bool:
    """Return True for on, and False for off."""
    switches = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}
    return switches[text.lower()]


SETTINGS: dict[str, Setting] = {
    "epsilon": Setting(float, "a number", "the most that one statement may cost"),
    "delta": Setting(float, "a number", "the delta of a statement"),
    "within": Setting(str, "a text", "the target error, such as 5%"),
    "confidence": Setting(float, "a number", "coverage of an error bar, such as 0.95"),
    "min_frequency": Setting(int, "a whole number", "minimum number of people in a group"),
    "mechanism": Setting(str, "a text", "the noise: auto, gaussian or laplace"),
    "max_rows": Setting(int, "a whole number", "maximum number of rows of one person"),
    "max_groups": Setting(int, "a whole number", "maximum number of groups of one person"),
    "bounds": Setting(str, "a text", "auto: find missing bounds privately"),
    "confirm": Setting(read_switch, "on or off", "show the price before a question is paid, and ask"),
}
"""Everything that `.set` knows."""


@dataclass
class ShellSession:
    """The state of one shell.

    Attributes:
        database: The open database.
        catalog: The file of the catalog.
        ledger: The ledger's file or URL; None if it is next to the catalog.
        confirm: Asks yes or no on a terminal; None where nobody can be asked.
        mode: The format of answers.
        values: The settings in force, by name.
        statement: The statement that was asked or quoted last.
        answer: The last answer.
        status: The exit code of the first failure; 0 if there was none.
        finished: True if the shell is to end.
        depth: Number of files that are being read, one inside the other.
    """

    database: Database
    catalog: str
    ledger: str | None = None
    confirm: Confirm | None = None
    mode: str = "table"
    values: dict[str, Any] = field(default_factory=dict)
    statement: str | None = None
    answer: Answer | None = None
    status: int = 0
    finished: bool = False
    depth: int = 0

    @property
    def options(self) -> dict[str, Any]:
        """Return the settings that are options of a statement."""
        return {name: value for name, value in self.values.items() if name != "confirm"}

    def guard(self, action: Callable[[], None]) -> None:
        """Run an action; report its failure as the command line does, and go on.

        An interrupt stops the action and keeps a shell on a terminal; it ends one that reads from a pipe. A reader of
        our output who has gone ends the shell, so that nothing is paid for that nobody sees.
        """

        def run() -> None:
            try:
                action()
            except BrokenPipeError:
                self.finished = True
                raise

        status = guarded(run, as_json=self.mode == "json", words=in_words_of_shell)
        self.status = self.status or status
        if status == INTERRUPTED and self.confirm is None:
            self.finished = True

    def ask(self, statement: str) -> None:
        """Ask a statement, pay for it, and show its answer."""
        self.statement = statement
        with pointing(catalog=self.catalog, query=statement):
            if self.values.get("confirm") and not self._agreed(statement):
                tell("Not asked; nothing was paid.")
                return
            with waiting("asking the database"):
                self.answer = wait_for(partial(self.database.sql, statement, **self.options))
        if self.mode == "table":
            show_answer(self.answer, words=in_words_of_shell)
        else:
            Output(self.mode, None).write(self.answer)

    def _agreed(self, statement: str) -> bool:
        """Show the price, and ask; True where the question is free, would be refused, or nobody can be asked."""
        quote = self.database.quote(statement, **self.options)
        if quote.remaining is None or quote.reused or not quote.fits:
            return True
        price = f"price {spending(quote.charge)}: {percent(quote.share)} of the budget"
        if self.confirm is not None:
            return self.confirm(f"{price}. Pay?")
        tell(price)
        return True

    def quote(self, statement: str | None) -> None:
        """Show the price of a statement, or of the last one."""
        text = statement or self.statement
        if text is None:
            raise UsageError("There is no statement to quote yet.", hint="Write .quote SELECT …")
        self.statement = text
        with pointing(catalog=self.catalog, query=text):
            quote = self.database.quote(text, **self.options)
        for block in quote_page(quote):
            if isinstance(block, str):
                say(block)
            else:
                show_table(block)

    def set_mode(self, name: str) -> None:
        """Choose the format of answers."""
        if name not in FORMATS:
            raise UsageError(f"There is no format {name}.", hint=f"There are: {', '.join(text_formats())}.")
        if name in BINARY:
            raise UsageError(
                f"{name} cannot be printed on a terminal.", hint="Write the last answer with .export file."
            )
        self.mode = name

    def set_value(self, name: str, text: str) -> None:
        """Set a setting, or unset it with `default`."""
        setting = SETTINGS.get(name)
        if setting is None:
            raise UsageError(f"There is no setting {name}.", hint=f"There are: {', '.join(SETTINGS)}.")
        if text == DEFAULT:
            self.values.pop(name, None)
            return
        try:
            self.values[name] = setting.read(text)
        except (ValueError, KeyError):
            raise UsageError(
                f"{name} must be {setting.kind}.", hint=f"Write .set {name} value, or .set {name} default."
            ) from None


def text_formats() -> list[str]:
    """Return the formats that a terminal can show."""
    return [name for name in FORMATS if name not in BINARY]
