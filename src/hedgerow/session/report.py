"""The report file: named queries, with the error that each should have, or its weight.

    -- title: Visits of the year
    -- name: visits_by_ward
    -- within 5%
    SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward;

A comment above a statement that begins with one of `DIRECTIVES`, in small letters or capitals, sets a property of the
statement. `title` and `text` above the first name describe the whole report. Other comments are ignored.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.errors import ParameterError, ParseError, Span
from hedgerow.execution.request import ErrorTarget, error_target, real
from hedgerow.sql.statements import split_statements

DIRECTIVES = ("name", "within", "weight", "title", "text")
ABOUT_REPORT = ("title", "text")

WEIGHTS = (1e-3, 1e3)
"""Smallest and largest weight of a query."""

MOST_QUERIES = 1000
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")

_COMMENT = rf"--[ \t]*(?P<word>{'|'.join(DIRECTIVES)})(?P<colon>[ \t]*:|[ \t]+)(?P<value>[^\n]*)$"
_DIRECTIVE = re.compile(rf"^[ \t]*{_COMMENT}", re.MULTILINE | re.IGNORECASE)
_ANYWHERE = re.compile(_COMMENT, re.MULTILINE | re.IGNORECASE)
_END = re.compile(r"(?:\s|--[^\n]*|/\*.*?\*/)*;", re.DOTALL)
"""Comments behind the last word of a statement, and its semicolon."""

_WITHOUT_COLON = ("within", "weight")
_AMOUNT = re.compile(r"[\d.]|abs:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """One query of a report.

    Attributes:
        name: Its name, which is also that of its answer.
        sql: The statement.
        within: The error that it should have at most; None where none is stated.
        weight: Its importance beside the others.
        title: A title for people.
        text: What people should know about it.
        line: The line of the file in which the statement begins.
        start: The character of the file at which it begins.
    """

    name: str
    sql: str
    within: ErrorTarget | None = None
    weight: float = 1.0
    title: str = ""
    text: str = ""
    line: int = 1
    start: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Named queries that are asked together.

    Attributes:
        queries: The queries, in order.
        title: The title of the report.
        text: What people should know about it.
        source: The whole text of the file.
    """

    queries: tuple[ReportQuery, ...]
    title: str = ""
    text: str = ""
    source: str = field(default="", repr=False, compare=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Report":
        """Read a report file, in UTF-8."""
        return cls.parse(report_text(path))

    @classmethod
    def parse(cls, text: str) -> "Report":
        r"""Parse the text of a report file.

        Example:
            >>> report = Report.parse("-- name: all\n-- within 5%\nSELECT COUNT(*) FROM visits;")
            >>> [(query.name, str(query.within), query.line) for query in report.queries]
            [('all', '5 %', 3)]
        """
        return _ReportReader(text).report()

    @classmethod
    def of(cls, queries: "Queries") -> "Report":
        """Make a report of a list of statements, or of statements by name."""
        if isinstance(queries, Report):
            return queries
        if isinstance(queries, str) or not isinstance(queries, Mapping | Sequence):
            raise ParameterError(
                "A batch takes a list of statements, statements by name, or a report.",
                code="bad-batch",
                hint='Pass ["SELECT …", "SELECT …"], or {"name": "SELECT …"}.',
            )
        named = (
            queries.items()
            if isinstance(queries, Mapping)
            else ((f"query_{number}", sql) for number, sql in enumerate(queries, start=1))
        )
        listed = tuple(ReportQuery(_checked_name(name), _text(sql)) for name, sql in named)
        _require_several(listed)
        if len({query.name.lower() for query in listed}) < len(listed):
            raise ParameterError("Two queries have the same name.", code="report-name", hint="Choose another one.")
        return cls(listed)

    def to_text(self) -> str:
        """Return the text of a file that `parse` reads as this report."""
        return self.source or "\n".join(_lines(self))


def _lines(report: Report) -> Iterator[str]:
    for word, value in (("title", report.title), ("text", report.text)):
        if value:
            yield f"-- {word}: {' '.join(value.split())}"
    for query in report.queries:
        yield f"-- name: {query.name}"
        if query.within is not None:
            amount, size = f"{query.within.amount!r}", query.within.size
            yield f"-- within {'abs:' if query.within.absolute else ''}{amount}{'' if size is None else f'@{size}'}"
        if query.weight != 1:
            yield f"-- weight {query.weight!r}"
        for word, value in (("title", query.title), ("text", query.text)):
            if value:
                yield f"-- {word}: {' '.join(value.split())}"
        yield query.sql.rstrip().removesuffix(";")
        yield ";"  # on a line of its own: the statement may end with a comment


def report_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a report file."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"The report {os.fspath(path)} cannot be read.",
            code="report-unreadable",
            hint="It is a text file, in UTF-8.",
        ) from None


Queries = Report | Mapping[str, str] | Sequence[str]
"""Queries of a batch: a list of statements, statements by name, or a report."""


def _text(sql: object) -> str:
    if not isinstance(sql, str):
        raise ParseError("The query must be text.", code="not-text", hint="Pass the SQL as a string.")
    return sql


def _checked_name(name: object, span: Span | None = None, text: str | None = None) -> str:
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise _refused(
        f"{str(name)!r} is not a name for a query.",
        "report-name",
        "A name has letters, digits, _ and -, begins with a letter, and has 63 characters at most.",
        span,
        text,
    )


def _require_several(queries: Sequence[ReportQuery]) -> None:
    if not queries:
        raise ParameterError("There is no statement.", code="report-empty", hint="Separate statements by semicolons.")
    if len(queries) > MOST_QUERIES:
        raise ParameterError(f"A batch has at most {MOST_QUERIES:,} statements.", code="bad-batch")


def _refused(message: str, code: str, hint: str, span: Span | None, text: str | None) -> ParameterError:
    if span is not None:
        message = f"Line {span.line}: {message}"
    error = ParameterError(message, code=code, hint=hint, span=span)
    error.text = text
    return error


class _ReportReader:
    """Reads one text. Every error names its line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._names: dict[str, int] = {}

    def report(self) -> Report:
        queries: list[ReportQuery] = []
        about: dict[str, str] = {}
        end = 0
        for number, statement in enumerate(split_statements(self._text), start=1):
            comments, of_report = self._comments(end, statement.start, first=number == 1)
            about |= of_report
            last = statement.start + len(statement.text)
            semicolon = _END.match(self._text, last)
            end = last if semicolon is None else semicolon.end()
            self._refuse(self._directives(statement.start, end), "is inside a statement", ABOUT_REPORT)
            line_end = self._text.find("\n", end)
            behind = self._directives(last, len(self._text) if line_end < 0 else line_end, _ANYWHERE)
            self._refuse(behind, "is behind a statement")
            queries.append(self._query(statement.text, statement.start, comments, number))
        self._refuse(self._directives(end, len(self._text)), "is not above a statement", ABOUT_REPORT)
        _require_several(queries)
        return Report(tuple(queries), about.get("title", ""), about.get("text", ""), self._text)

    def _comments(self, start: int, end: int, *, first: bool) -> tuple[dict[str, tuple[str, Span]], dict[str, str]]:
        """Return what the comments above a statement say about it, and about the report."""
        comments: dict[str, tuple[str, Span]] = {}
        of_report: dict[str, str] = {}
        directives = list(self._directives(start, end))
        opening = next((index for index, (word, _, _) in enumerate(directives) if word == "name"), 0) if first else 0
        for index, (word, value, span) in enumerate(directives):
            if index < opening and word in ABOUT_REPORT:
                of_report[word] = f"{of_report[word]} {value}" if word in of_report else value
            elif word == "text" and word in comments:
                comments[word] = f"{comments[word][0]} {value}", comments[word][1]
            elif word in comments:
                raise self._error(
                    f"-- {word} is stated twice.", code="report-directive", hint="Leave one of them out.", span=span
                )
            else:
                comments[word] = value, span
        return comments, of_report

    def _directives(
        self, start: int, end: int, pattern: re.Pattern[str] = _DIRECTIVE
    ) -> Iterator[tuple[str, str, Span]]:
        for match in pattern.finditer(self._text, start, end):
            word, value = match["word"].lower(), match["value"].strip()
            is_prose = word not in _WITHOUT_COLON or (match["word"] != word and not _AMOUNT.match(value))
            if ":" not in match["colon"] and is_prose:
                continue  # a comment that happens to begin with the word
            first = match.start("word")
            span = Span(first, match.end(), self._line(first))
            if not value:
                raise self._error(
                    f"-- {word} has no value.", code="report-directive", hint=f"Write -- {word}: …", span=span
                )
            yield word, value, span

    def _query(self, sql: str, start: int, comments: Mapping[str, tuple[str, Span]], number: int) -> ReportQuery:
        name, span = comments.get("name", (f"query_{number}", Span(start, start + 1, self._line(start))))
        _checked_name(name, span, self._text)
        known = self._names.setdefault(name.lower(), span.line)
        if known != span.line:
            raise self._error(
                f"{name} is the name of another query, in line {known}.", "report-name", "Choose another one.", span
            )
        return ReportQuery(
            name,
            sql,
            self._within(comments),
            self._weight(comments),
            comments.get("title", ("", None))[0],
            comments.get("text", ("", None))[0],
            self._line(start),
            start,
        )

    def _within(self, comments: Mapping[str, tuple[str, Span]]) -> ErrorTarget | None:
        if "within" not in comments:
            return None
        value, span = comments["within"]
        try:
            return error_target(value)
        except ParameterError as error:
            raise self._error(error.message, error.code, error.hint or "", span) from None

    def _weight(self, comments: Mapping[str, tuple[str, Span]]) -> float:
        if "weight" not in comments:
            return 1.0
        value, span = comments["weight"]
        try:
            return real("weight", float(value), *WEIGHTS)
        except (ValueError, ParameterError):
            hint = f"A weight is a number from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, such as 2."
            raise self._error(f"{value!r} is not a weight.", "bad-weight", hint, span) from None

    def _refuse(self, directives: Iterator[tuple[str, str, Span]], where: str, spared: Sequence[str] = ()) -> None:
        """Refuse directives that would be read as plain comments, or as directives of the next statement."""
        for word, _, span in directives:
            if word not in spared:
                hint = f"Write -- {word} on a line of its own, above the statement that it is about."
                raise self._error(f"-- {word} {where}.", code="report-directive", hint=hint, span=span)

    def _line(self, index: int) -> int:
        return self._text.count("\n", 0, index) + 1

    def _error(self, message: str, code: str, hint: str, span: Span) -> ParameterError:
        return _refused(message, code, hint, span, self._text)
