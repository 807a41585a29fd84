"""The commands of the shell that begin with a dot, all in one table; and what is done with one input."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hedgerow.cli.budget import budget
from hedgerow.cli.errors import UsageError
from hedgerow.cli.formats import output
from hedgerow.cli.output import printable, say, stdout, tell
from hedgerow.cli.shell_session import SETTINGS, ShellSession, text_formats
from hedgerow.session.tables import TableList
from hedgerow.sql.statements import ends_statement, split_statements

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
