"""The page of a release: one HTML file with tables, charts, methods and limits. No script, nothing loaded.

It is made of elements that escape every text put into them. The order of its parts, its headings and the header cells
of its tables are meant for screen readers, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from hedgerow.answer.captions import MOST_ROWS, about_people, are_several, cells, headings, notes
from hedgerow.answer.plain import on_one_line, shown
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.figures import figure
from hedgerow.markup import Markup, element, joined
from hedgerow.publication import page_text
from hedgerow.publication.charts import STYLE as CHART_STYLE
from hedgerow.publication.contents import NONE, PublishedReport, PublishedTable
from hedgerow.publication.keys import PublicKey
from hedgerow.publication.metadata import meaning
from hedgerow.publication.page_text import ReleaseFacts

STYLE = files("hedgerow.publication").joinpath("page.css").read_text(encoding="utf-8")
"""Style of the page: light, dark, narrow and on paper. The contrast of all text is at least 4.5."""

Charts = Mapping[str, Mapping[str, tuple[str, Markup]]]
"""File and drawing of each chart, by table and column."""


def page_file(report: PublishedReport, charts: Charts, key: PublicKey, facts: ReleaseFacts) -> bytes:
    """Return the page."""
    head = joined(
        [
            Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", on_one_line(report.title)),
            Markup(f"<style>\n{STYLE}{CHART_STYLE}</style>"),
        ]
    )
    top = element(
        "header",
        element("h1", report.title),
        *([_classed("p", "lead", report.text)] if report.text else []),
        _at_a_glance(report, facts),
        _contents(report),
    )
    main = element(
        "main",
        *(_table(table, charts[table.name]) for table in report.tables),
        _methods(report, facts),
        _limits(report),
        _dictionary(report),
        _certificate(key, facts),
        id="content",
    )
    skip = element("a", "Skip to the tables", href="#content", **{"class": "skip"})
    footer = element("footer", element("p", f"Made with {facts.program}. No script runs on this page."))
    body = element("body", skip, top, main, footer)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body}</html>\n'.encode()


def _classed(name: str, kind: str, *parts: str) -> Markup:
    return element(name, *parts, **{"class": kind})


def _contents(report: PublishedReport) -> Markup:
    parts = [
        *((table.stem, on_one_line(table.title)) for table in report.tables),
        ("methods", "How the numbers were made"),
        ("limits", "What to keep in mind"),
        ("dictionary", "Data dictionary"),
        ("certificate", "Certificate"),
    ]
    links = [element("li", element("a", text, href=f"#{target}")) for target, text in parts]
    return element("nav", element("ul", *links), aria_label="Contents")


def _at_a_glance(report: PublishedReport, facts: ReleaseFacts) -> Markup:
    confidences = sorted({f"{table.answer.confidence:.10g}" for table in report.tables if table.charges})
    version = f" ({report.version})" if report.version else ""
    entries = [
        ("Protected", f"every person ({report.people})"),
        ("Dataset", f"{report.dataset}{version}"),
        ("Epsilon of this release", f"{facts.epsilon:g}"),
        ("Delta of this release", f"{facts.delta:g}, or {page_text.odds(facts.delta)}"),
        ("Smallest group shown", f"{report.min_frequency} people" if report.min_frequency > 1 else "no minimum"),
        ("Margins of error hold at", ", ".join(confidences)),
        ("Released", facts.time[:10]),
    ]
    boxes = [
        _classed("div", "wide" if name == "Protected" else "box", element("dt", name), element("dd", on_one_line(text)))
        for name, text in entries
    ]
    return _classed("dl", "facts", *boxes)


def _table(table: PublishedTable, charts: Mapping[str, tuple[str, Markup]]) -> Markup:
    drawings = [
        element(
            "figure",
            element(
                "figcaption", f"{on_one_line(name)} (", element("a", f"SVG of {on_one_line(name)}", href=file), ")"
            ),
            _focusable("sideways", "group", f"Chart of {on_one_line(name)}", chart),
        )
        for name, (file, chart) in charts.items()
    ]
    remarks = [
        element("li", text) for text in (*page_text.TOTALS[table.no_value], *notes(table.answer, for_readers=True))
    ]
    data = [element("a", f"{kind} file", href=f"data/{table.stem}.{kind.lower()}") for kind in ("CSV", "Parquet")]
    sql = element("pre", element("code", table.sql))
    return element(
        "section",
        element("h2", table.title, id=f"{table.stem}.title"),
        *([element("p", table.text)] if table.text else []),
        *drawings,
        _grid(table),
        *([element("h3", "Notes"), element("ul", *remarks)] if remarks else []),
        _classed("p", "quiet", "Data with margins of error: ", data[0], ", ", data[1]),
        element("details", element("summary", "The question, in SQL"), sql),
        id=table.stem,
        aria_labelledby=f"{table.stem}.title",
    )


def _focusable(kind: str, role: str, label: str, content: Markup) -> Markup:
    """Return a part that can be scrolled, also with the keyboard."""
    return element("div", content, tabindex="0", role=role, aria_label=label, **{"class": kind})


def _grid(table: PublishedTable) -> Markup:
    answer, people, several = table.answer, about_people(table.answer), are_several(table.answer)
    head: list[Markup] = []
    for name in answer.columns:
        side = {"class": "number"} if name in answer.noisy else {}
        texts = (name, *(headings(name, several=several) if name in people else ()))
        head += [element("th", on_one_line(text), scope="col", **side) for text in texts]
    rows = [_row(table, *pair) for pair in zip(list(answer)[:MOST_ROWS], answer.intervals, strict=False)]
    cut = "" if len(answer) <= MOST_ROWS else f" The first {MOST_ROWS} of {len(answer):,} rows; the files have all."
    said = (
        f"± is the margin of error at {answer.confidence:.10g} confidence." if answer.noisy else "Exact: public data."
    )
    title = on_one_line(table.title)
    sentence = title if title.endswith((".", "?", "!")) else f"{title}."
    return _focusable("scroll", "region", f"Table: {title}", _listing(f"{sentence} {said}{cut}", head, rows))


def _listing(caption: str, head: Sequence[Markup], rows: Iterable[Markup]) -> Markup:
    return element(
        "table", element("caption", caption), element("thead", element("tr", *head)), element("tbody", *rows)
    )


def _row(table: PublishedTable, values: Iterable[object], bars: Mapping[str, Interval]) -> Markup:
    answer, people, several = table.answer, about_people(table.answer), are_several(table.answer)
    row = []
    for position, (name, value) in enumerate(zip(answer.columns, values, strict=True)):
        is_total = value is None and name not in answer.noisy and table.no_value != NONE
        text = table.no_value if is_total else on_one_line(shown(value, bars.get(name)))
        kinds = (["number"] if name in answer.noisy else []) + (["missing"] if value is None else [])
        attributes = {"class": " ".join(kinds)} if kinds else {}
        if position == 0 and name not in answer.noisy:
            row.append(element("th", text, scope="row", **attributes))
        else:
            row.append(element("td", text, **attributes))
        beside = cells(bars, name, several=several) if name in people else ()
        row += [_classed("td", "number", on_one_line(more)) for more in beside]
    return element("tr", *row)


def _methods(report: PublishedReport, facts: ReleaseFacts) -> Markup:
    rows = [
        element(
            "tr",
            element("th", table.title, scope="row"),
            element("td", mechanism.measure),
            element("td", mechanism.kind),
            _classed("td", "number", figure(mechanism.scale)),
            _classed("td", "number", figure(mechanism.sensitivity)),
        )
        for table in report.tables
        for mechanism in table.answer.receipt.mechanisms
    ]
    names = ("Table", "Measure", "Noise", "Scale of the noise", "Most that one person changes it")
    head = [
        element("th", name, scope="col", **({"class": "number"} if at > 2 else {})) for at, name in enumerate(names)
    ]
    first, *others = (element("p", text) for text in page_text.methods(report, facts))
    bounds = element("ul", *(element("li", text) for text in page_text.bounds(report)))
    noise = _focusable("scroll", "region", "Noise of every measure", _listing("Noise of every measure.", head, rows))
    return element("section", element("h2", "How the numbers were made"), first, bounds, *others, noise, id="methods")


def _limits(report: PublishedReport) -> Markup:
    points = element("ul", *(element("li", text) for text in page_text.limits(report)))
    return element("section", element("h2", "What to keep in mind"), points, id="limits")


def _dictionary(report: PublishedReport) -> Markup:
    parts = []
    for table in report.tables:
        head = [element("th", name, scope="col") for name in ("Column", "Meaning")]
        rows = [
            element(
                "tr",
                element("th", element("code", on_one_line(column.name)), scope="row"),
                element("td", meaning(column, table.no_value)),
            )
            for column in table.data.columns
        ]
        listing = _listing(f"data/{table.stem}.csv and data/{table.stem}.parquet", head, rows)
        scrolled = _focusable("scroll", "region", f"Columns of {on_one_line(table.title)}", listing)
        parts.append(element("details", element("summary", table.title), scrolled))
    links = [element("a", name, href=name) for name in ("dictionary.csv", "datapackage.json")]
    files = element("p", page_text.DICTIONARY, links[0], " and ", links[1], " (Frictionless Data Package).")
    return element("section", element("h2", "Data dictionary"), files, *parts, id="dictionary")


def _certificate(key: PublicKey, facts: ReleaseFacts) -> Markup:
    names = ("certificate.json", "ledger.jsonl", "report.sql")
    files = [part for name in names for part in (", ", element("a", name, href=name))][1:]
    public, fingerprint = element("code", str(key)), element("code", key.fingerprint)
    return element(
        "section",
        element("h2", "Certificate"),
        element("p", page_text.CERTIFICATE),
        element("pre", element("code", "pip install hedgerow\nhedgerow verify FOLDER --key OWNERS.pub")),
        element("p", "Files: ", *files),
        element("p", "Public key: ", public, ", fingerprint ", fingerprint, page_text.COMPARE),
        element("p", "Last entry of the ledger: ", element("code", facts.head)),
        id="certificate",
    )
