"""The terminal of the shell: editing, history, highlighting and completion, with prompt_toolkit.

Completions are tables, columns and declared keys, functions and keywords. No row is read.
"""

import os
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from hedgerow.cli.shell_session import COMMANDS, DEFAULT, SETTINGS, text_formats
from hedgerow.session.tables import TableInfo, TableList
from hedgerow.sql.function_help import AGGREGATES, SCALARS
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
        prompt: PromptSession[str] = PromptSession(f"{question} [y/N] ", history=InMemoryHistory())
        try:
            return prompt.prompt().strip().lower() in {"y", "yes"}
        except EOFError:
            return False


FUNCTIONS = (*(known.name for known in (*AGGREGATES, *SCALARS)), "ROW_NUMBER", "RANK", "LAG", "LEAD")
KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "WITH", "AS", "JOIN", "LEFT JOIN", "ON"),
    *("USING", "UNION ALL", "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "IN", "BETWEEN"),
    *("LIKE", "IS NULL", "IS NOT NULL", "FILTER (WHERE", "OVER (", "PARTITION BY", "WITHIN GROUP (", "ASC", "DESC"),
    *("ROLLUP", "CUBE", "DATE", "INTERVAL", "TRUE", "FALSE", "NULL"),
)

WORD_CHARACTERS = f"{string.ascii_letters}{string.digits}_$"
_QUALIFIER = re.compile(r"""(?:"((?:[^"]|"")*)"|([\w$]+))\.\Z""")
_AFTER_FROM = re.compile(r"\b(?:FROM|JOIN)\s+\Z", re.IGNORECASE)
_COMPARED = re.compile(
    r"""(?:"((?:[^"]|"")*)"|([\w$]+))\s*(?:=|<>|!=|\bNOT\s+IN\s*\(|\bIN\s*\()\s*(?:'(?:[^']|'')*'\s*,\s*)*\Z""",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"""\b(?:FROM|JOIN)\s+(?:"((?:[^"]|"")*)"|([\w$.]+))(?:\s+(?:AS\s+)?(?!ON\b|WHERE\b|GROUP\b|JOIN\b|LEFT\b|USING\b)([\w$]+))?""",
    re.IGNORECASE,
)
_TEXTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_][\w$]*\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion: its text, the number of characters before the cursor that it replaces, and its kind."""

    text: str
    replaces: int
    kind: str


def complete_sql(before: str, statement: str, tables: TableList) -> list[Candidate]:
    """Return completions at the cursor of a statement; `before` is its part up to the cursor."""
    code = _TEXTS.sub(lambda match: " " * len(match[0]), before)
    if (start := code.rfind("'")) >= 0:
        return list(_keys(before[:start], before[start + 1 :], statement, tables))
    head = code.rstrip(WORD_CHARACTERS)
    word = code[len(head) :]
    return [
        Candidate(text, len(word), kind)
        for text, kind in _names(head, statement, tables)
        if text.strip('"').lower().startswith(word.lower()) and (word or kind != "keyword")
    ]


def _names(head: str, statement: str, tables: TableList) -> Iterator[tuple[str, str]]:
    """Yield the names that fit after `head`, the most probable first."""
    sources = dict(_sources(statement, tables))
    if qualifier := _QUALIFIER.search(head):
        table = sources.get((qualifier[1] or qualifier[2]).lower())
        yield from ((quoted(column.name), column.type) for column in (() if table is None else table.columns))
        return
    listed = [(quoted(table.name), "public table" if table.public else "table") for table in tables]
    if _AFTER_FROM.search(head):
        yield from listed
        return
    columns = [column for table in (_distinct(sources.values()) or tables) for column in table.columns]
    yield from dict.fromkeys((quoted(column.name), column.type) for column in columns)
    yield from listed
    yield from ((f"{name}(", "function") for name in FUNCTIONS)
    yield from ((name, "keyword") for name in KEYWORDS)


def _sources(statement: str, tables: TableList) -> Iterator[tuple[str, TableInfo]]:
    """Yield the tables that a statement reads, by name and by alias; the names are folded."""
    known = {table.name.lower(): table for table in tables}
    for match in _SOURCE.finditer(_TEXTS.sub(" ", statement)):
        table = known.get((match[1] or match[2]).lower())
        if table is not None:
            yield table.name.lower(), table
            if match[3]:
                yield match[3].lower(), table


def _keys(head: str, begun: str, statement: str, tables: TableList) -> Iterator[Candidate]:
    """Yield the declared keys of the column that is compared with the text at the cursor."""
    compared = _COMPARED.search(head)
    if compared is None:
        return
    name = (compared[1] or compared[2]).lower()
    sources = _distinct(dict(_sources(statement, tables)).values()) or tables
    columns = [column for table in sources for column in table.columns if column.name.lower() == name]
    values = dict.fromkeys(value for column in columns for value in column.values or ())
    for key in [value for value in values if isinstance(value, str)]:
        if key.lower().startswith(begun.lower()):
            escaped = key.replace("'", "''")
            yield Candidate(f"{escaped}'", len(begun), "key")


def _distinct(tables: Iterable[TableInfo]) -> list[TableInfo]:
    return list({table.name: table for table in tables}.values())


def quoted(name: str) -> str:
    """Return a name as SQL writes it: in quotes where it is no plain word."""
    escaped = name.replace('"', '""')
    return name if _PLAIN.match(name) else f'"{escaped}"'
