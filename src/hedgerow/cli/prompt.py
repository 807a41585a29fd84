"""The terminal of the shell: editing, history, highlighting and completion, with prompt_toolkit."""

import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from hedgerow.cli.dot_commands import COMMANDS
from hedgerow.cli.shell_session import DEFAULT, SETTINGS, text_formats
from hedgerow.cli.sql_completion import complete_sql, quoted
from hedgerow.session.tables import TableList
from hedgerow.sql.statements import ends_statement

FILES = (".read", ".export")
"""Commands that take the name of a file."""


class ShellCompleter(Completer):
    """Completes commands that begin with a dot, their arguments, and SQL."""

    def __init__(self, tables: TableList) -> None:
        self._tables = tables
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions at the cursor."""
        before = document.text_before_cursor
        if not before.lstrip().startswith("."):
            for candidate in complete_sql(before, document.text, self._tables):
                yield Completion(candidate.text, -candidate.replaces, display_meta=candidate.kind)
            return
        name, space, words = before.lstrip().partition(" ")
        if not space:
            known = {command: COMMANDS[command].summary for command in COMMANDS}
        elif name in FILES:
            yield from self._paths.get_completions(Document(words), complete_event)
            return
        elif name == ".quote":
            for candidate in complete_sql(words, words, self._tables):
                yield Completion(candidate.text, -candidate.replaces, display_meta=candidate.kind)
            return
        else:
            known = self._arguments(name, words)
        word = (words if space else name).rpartition(" ")[2]
        for text, meaning in known.items():
            if text.lower().startswith(word.lower()):
                yield Completion(text, -len(word), display_meta=meaning)

    def _arguments(self, command: str, words: str) -> dict[str, str]:
        if command == ".schema":
            return {quoted(table.name): "table" for table in self._tables}
        if command == ".mode":
            return dict.fromkeys(text_formats(), "format")
        if command == ".set" and " " not in words:
            return {name: setting.summary for name, setting in SETTINGS.items()}
        if command == ".set":
            switches = ("on", "off") if words.startswith("confirm ") else ()
            return dict.fromkeys((*switches, DEFAULT), "value")
        return {}


def is_complete(text: str, document: Document) -> bool:
    """Return True if Enter runs the text: a command, a statement with its semicolon, or an empty line at its end."""
    if text.lstrip().startswith(".") or ends_statement(text):
        return True
    return document.is_cursor_at_the_end and not document.current_line.strip()


def _key_bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif is_complete(buffer.text, buffer.document):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def history_file() -> Path:
    """Return the file of the history, in the user's state folder."""
    if os.name == "nt":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return folder / "hedgerow" / "shell_history"


def open_history(path: Path) -> History:
    """Return the history of inputs, which only the user can read; one in memory where no file can be written.

    It keeps what was typed, never an answer.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class PromptTerminal:
    """Reads inputs, and yes or no, from a terminal."""

    def __init__(self, tables: TableList, history: History) -> None:
        self._prompt: PromptSession[str] = PromptSession(
            "hedgerow> ",
            multiline=True,
            prompt_continuation="     ...> ",
            lexer=PygmentsLexer(SqlLexer),
            completer=ShellCompleter(tables),
            complete_while_typing=False,
            history=history,
            key_bindings=_key_bindings(),
            enable_history_search=False,
        )

    def read(self) -> str:
        """Return the next input. Ctrl-D raises EOFError, and Ctrl-C KeyboardInterrupt."""
        return self._prompt.prompt()

    def confirm(self, question: str) -> bool:
        """Ask yes or no; anything but y and yes is no, and so is Ctrl-D."""
        asked: PromptSession[str] = PromptSession(f"{question} [y/N] ", history=InMemoryHistory())
        try:
            return asked.prompt().strip().lower() in {"y", "yes"}
        except EOFError:
            return False
