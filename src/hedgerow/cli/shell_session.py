"""One shell: an open database, its settings, and the last answer. It asks, shows and exports.

The commands that begin with a dot are all in one table, at the end.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from hedgerow.answer import Answer
from hedgerow.cli.budget import budget
from hedgerow.cli.errors import INTERRUPTED, UsageError, guarded, in_words_of_shell, pointing
from hedgerow.cli.output import printable, say, show_table, stdout, tell, waiting
from hedgerow.cli.query import BINARY, FORMATS, Output, output, show_answer
from hedgerow.figures import percent
from hedgerow.session.database import Database
from hedgerow.session.job import wait_for
from hedgerow.session.page import quote_page, spending
from hedgerow.session.tables import TableList
from hedgerow.sql.statements import ends_statement, split_statements

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


DEEPEST = 10
"""Number of files that may read each other with `.read`."""

SHOWN = 20
"""Number of questions that `.history` shows."""

LONGEST_LINE = 100


@dataclass(frozen=True, slots=True)
class DotCommand:
    """One command: its usage, its purpose, and the function that takes the words after its name."""

    usage: str
    summary: str
    run: Callable[[ShellSession, str], None]


def run_input(session: ShellSession, text: str) -> None:
    """Run one input: a command that begins with a dot, or statements separated by semicolons."""
    stripped = text.strip()
    if stripped.startswith("."):
        session.guard(lambda: run_command(session, stripped))
        return
    for statement in split_statements(text):
        if session.finished:
            return
        session.guard(lambda query=statement.text: session.ask(query))  # type: ignore[misc]


def run_command(session: ShellSession, line: str) -> None:
    """Run one command of the table; anything else is refused."""
    name, _, words = line.partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        [closest] = difflib.get_close_matches(name.lower(), COMMANDS, 1) or [""]
        hint = f"Did you mean {closest}?" if closest else "See .help."
        raise UsageError(f"There is no command {printable(name, 40)}.", hint=hint)
    command.run(session, words.strip().removesuffix(";").strip())


def inputs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the inputs of a text: each line that begins with a dot, and statements up to their semicolon."""
    pending = ""
    for line in lines:
        if not pending.strip() and line.lstrip().startswith("."):
            yield line
            continue
        pending += line
        if ends_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def run_lines(session: ShellSession, lines: Iterable[str]) -> None:
    """Run the inputs of a text one after the other; a failed one is reported, and the next one runs."""
    for text in inputs(lines):
        run_input(session, text)
        if session.finished:
            return


def _help(_: ShellSession, __: str) -> None:
    width = max(len(command.usage) for command in COMMANDS.values())
    for command in COMMANDS.values():
        say(f"{command.usage:{width}}  {command.summary}")
    say("\nAnything else is SQL. A statement ends with a semicolon, or with Enter on an empty line.")


def _tables(session: ShellSession, _: str) -> None:
    for table in session.database.tables:
        comment = "" if table.comment is None else f": {printable(table.comment, LONGEST_LINE)}"
        say(f"{table.name}{' (public)' if table.public else ''}{comment}")


def _schema(session: ShellSession, words: str) -> None:
    tables = session.database.tables
    say(str(tables if not words else TableList((tables[words],))))


def _quote(session: ShellSession, words: str) -> None:
    session.quote(words or None)


def _budget(session: ShellSession, _: str) -> None:
    budget(catalog=session.catalog, ledger=session.ledger, as_json=session.mode == "json")


def _history(session: ShellSession, _: str) -> None:
    charges = [entry for entry in session.database.budget.history if "events" in entry.charge]
    for entry in charges[-SHOWN:]:
        start = f"{entry.time[:10]} {entry.time[11:16]}  epsilon {entry.charge['epsilon']:<6.4g}  "
        say(start + printable(entry.question, max(stdout().width - len(start), 40)))
    if not charges:
        say("Nothing was charged yet.")


def _mode(session: ShellSession, words: str) -> None:
    if words:
        session.set_mode(words.lower())
    else:
        say(f"{session.mode} (of {', '.join(text_formats())})")


def _export(session: ShellSession, words: str) -> None:
    if not words:
        raise UsageError("Name a file.", hint="Write .export file.csv")
    if session.answer is None:
        raise UsageError("There is no answer to export yet.", hint="Ask a question first.")
    target = output(None, words, as_json=False, otherwise="Choose an extension such as .csv, .parquet or .xlsx.")
    if target is not None:
        target.write(session.answer)
        tell(f"Wrote the last answer to {words}")


def _set(session: ShellSession, words: str) -> None:
    name, _, value = words.partition(" ")
    if value.strip():
        session.set_value(name.lower(), value.strip())
        return
    width = max(len(known) for known in SETTINGS)
    for known, setting in SETTINGS.items():
        if name.lower() in {"", known}:
            current = session.values.get(known, "default")
            shown = {True: "on", False: "off"}.get(current, current) if isinstance(current, bool) else current
            say(f"{known:{width}}  {shown!s:<8}  {setting.summary}")
    if name and name.lower() not in SETTINGS:
        session.set_value(name.lower(), "")


def _read(session: ShellSession, words: str) -> None:
    if not words:
        raise UsageError("Name a file of statements.", hint="Write .read file.sql")
    if session.depth >= DEEPEST:
        raise UsageError("Files read each other too deeply.", hint="Remove a .read from them.")
    try:
        text = Path(words).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{words} cannot be read as text.", code="file-unreadable", hint="Check its name.") from None
    session.depth += 1
    try:
        run_lines(session, text.splitlines(keepends=True))
    finally:
        session.depth -= 1


def _quit(session: ShellSession, _: str) -> None:
    session.finished = True


COMMANDS: dict[str, DotCommand] = {
    ".help": DotCommand(".help", "list these commands", _help),
    ".tables": DotCommand(".tables", "list the tables", _tables),
    ".schema": DotCommand(".schema [table]", "list columns: types, bounds and declared keys", _schema),
    ".quote": DotCommand(".quote [sql]", "price a statement, or the last one, for free", _quote),
    ".budget": DotCommand(".budget", "show what is spent and what remains", _budget),
    ".history": DotCommand(".history", f"list the last {SHOWN} questions that were charged", _history),
    ".mode": DotCommand(".mode [format]", "choose the format of answers", _mode),
    ".export": DotCommand(".export file", "write the last answer to a file, in the format of its ending", _export),
    ".set": DotCommand(".set [name value]", "set epsilon, confirm and more; `default` unsets", _set),
    ".read": DotCommand(".read file", "run the statements and commands of a file", _read),
    ".quit": DotCommand(".quit", "leave (also Ctrl-D)", _quit),
}
"""All commands; nothing else that begins with a dot is run."""
