"""A dashboard as one file of HTML that anybody can open, without a network, a script or an account."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from hedgerow.answer import Answer, notes
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.render import ColumnScale, scale_of
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.markup import Markup, element, joined
from hedgerow.service.access.dashboards import Dashboard, Tile, TileView
from hedgerow.service.console.charts import chart_picture

MOST_ROWS = 1000
"""Number of rows of a table; beyond them the table says how many are left out."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""Nothing is loaded, and no script runs, wherever the file is opened."""

STYLE = """
:root { color-scheme: light dark; --text: #1d2521; --quiet: #57625b; --bg: #fafaf7; --card: #fff; --line: #e3e6df;
  --bar: #3f6ea6; --soft: #3f6ea62e; --accent: #1f6f43 }
@media (prefers-color-scheme: dark) { :root { --text: #e5eae7; --quiet: #a1aca5; --bg: #101412; --card: #171c19;
  --line: #29322d; --bar: #8fb6e4; --soft: #8fb6e433; --accent: #79cba2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--bg); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main, header, footer { max-width: 84rem; margin: 0 auto; padding: 1rem clamp(1rem, 3vw, 2.5rem) }
header { padding-top: 2rem }
h1 { margin: 0 0 .3rem; font-size: 1.75rem; letter-spacing: -.01em }
h2 { margin: 0; font-size: 1.1rem }
p { margin: .3rem 0; white-space: pre-line; overflow-wrap: anywhere; max-width: 75ch }
.quiet { color: var(--quiet); font-size: .875rem }
.tiles { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1rem }
.tile { display: flex; flex-direction: column; gap: .6rem; min-width: 0; padding: 1.1rem 1.25rem; border-radius: .5rem;
  background: var(--card); border: 1px solid var(--line); break-inside: avoid }
.w2 { grid-column: span 2 } .w3 { grid-column: span 3 }
@media (max-width: 1000px) { .tiles { grid-template-columns: 1fr } .w2, .w3 { grid-column: auto } }
.scroll, figure { overflow-x: auto; margin: 0; max-width: 100% }
figure svg { max-width: 100%; height: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9375rem }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.scroll { position: relative }
th, td { padding: .35rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top;
  font-weight: 400 }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 500 }
.number { text-align: right; white-space: nowrap }
.track { display: block; position: relative; height: .5rem; margin-top: .15rem; min-width: 6rem }
.track i { position: absolute; top: 0; bottom: 0 }
.fill { background: var(--soft) } .interval { background: var(--bar); opacity: .55 }
.tick { width: 2px; background: var(--text) }
details { font-size: .875rem } summary { cursor: pointer; color: var(--quiet) }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; margin: .4rem 0 }
ul { margin: .3rem 0; padding-left: 1.1rem; color: var(--quiet); font-size: .875rem }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
@media print { body { background: none } .tile { border-color: #bbb } }
"""


def export_dashboard(board: Dashboard, answers: Mapping[str, tuple[str, Answer]]) -> bytes:
    """Return the file.

    Args:
        board: The dashboard.
        answers: Question and answer of each tile, by the answer's identifier; a tile whose answer is missing says so.
    """
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        Markup('<meta name="referrer" content="no-referrer"><meta name="generator" content="hedgerow">'),
        element("title", board.title),
        element("style", Markup(STYLE)),
    )
    text = [element("p", board.text)] if board.text else []
    tiles = [_tile(tile, index, answers.get(tile.answer)) for index, tile in enumerate(board.tiles)]
    origin = (
        f"{board.dataset}, by {board.owner}; exported {datetime.now(UTC):%Y-%m-%d %H:%M} UTC with hedgerow. Each "
        "number is differentially private, and its interval says how wrong it may be because of that."
    )
    body = element(
        "body",
        element("header", element("h1", board.title), *text),
        element("main", element("div", *tiles, **{"class": "tiles"})),
        element("footer", element("p", origin, **{"class": "quiet"})),
    )
    return joined([Markup("<!doctype html>"), element("html", head, body, lang="en"), "\n"]).encode()


def _tile(tile: Tile, index: int, known: tuple[str, Answer] | None) -> Markup:
    name = f"tile-{index}"
    parts = [element("h2", tile.title, id=name)]
    if tile.text:
        parts.append(element("p", tile.text))
    if known is None:
        parts.append(element("p", "The answer of this tile is no longer stored.", **{"class": "quiet"}))
    else:
        parts += _content(tile, *known)
    return element("section", *parts, **{"class": f"tile w{tile.width}", "aria-labelledby": name})


def _content(tile: Tile, sql: str, answer: Answer) -> list[Markup]:
    parts = []
    if tile.view is not TileView.TABLE:
        parts.append(chart_picture(answer, narrow=tile.width == 1))
    table = static_table(answer, tile.title)
    if tile.view is TileView.CHART:
        table = element("details", element("summary", "The numbers"), table)
    said = notes(answer, whole=True)
    listed = [element("ul", *(element("li", note) for note in said))] if said else []
    question = element("pre", element("code", sql))
    return [
        *parts,
        table,
        element("details", element("summary", "Question and notes"), question, *listed),
        element("p", f"± at {answer.confidence:g} confidence", **{"class": "quiet"}),
    ]


def static_table(answer: Answer, title: str) -> Markup:
    """Return an answer as a table: every noisy number with ± and a drawing of its interval, in words for readers."""
    columns = {name: answer[name][:MOST_ROWS] for name in answer.columns}
    intervals: Sequence[Mapping[str, Interval]] = answer.intervals[:MOST_ROWS]
    scales = {name: scale_of(columns[name], [row.get(name) for row in intervals]) for name in answer.noisy}
    heads = [
        element("th", on_one_line(name), scope="col", **({"class": "number"} if name in answer.noisy else {}))
        for name in columns
    ]
    rows = []
    for index, bars in enumerate(intervals):
        cells = [
            _cell(values[index], bars.get(name), scales.get(name), heading=position == 0 and name not in answer.noisy)
            for position, (name, values) in enumerate(columns.items())
        ]
        rows.append(element("tr", *cells))
    left_out = len(answer) - len(rows)
    more = [element("p", f"The first {len(rows):,} of {len(answer):,} rows.", **{"class": "quiet"})] if left_out else []
    head = element("thead", element("tr", *heads))
    table = element("table", element("caption", title), head, element("tbody", *rows))
    place = {"class": "scroll", "aria-label": f"Table: {title}"}
    return joined([element("div", table, tabindex="0", role="region", **place), *more])


def _cell(value: object, bar: Interval | None, scale: ColumnScale | None, *, heading: bool) -> Markup:
    said = on_one_line(shown(value, bar))
    if bar is None:
        return element("th", said, scope="row") if heading else element("td", said)
    words = f"from {bar.lower:,.10g} to {bar.upper:,.10g}".replace("-inf", "−∞").replace("inf", "∞")
    title = f"{words}; {bar.note}" if bar.note else words
    return element("td", said, _drawing(number(value), bar, scale), title=title, **{"class": "number"})


def _drawing(value: float | None, bar: Interval, scale: ColumnScale | None) -> Markup:
    if value is None or scale is None:
        return Markup()
    low, high, at = (scale.place(end) for end in (bar.lower, bar.upper, value))
    zero = scale.place(0.0) if scale.low <= 0 <= scale.high else None
    fill = [] if zero is None else [_stretch("fill", min(zero, at), max(zero, at))]
    interval = _stretch("interval", low, high) if math.isfinite(low) and math.isfinite(high) else Markup()
    tick = element("i", style=f"left:{at:.1f}%", **{"class": "tick"})
    return element("span", *fill, interval, tick, **{"class": "track", "aria-hidden": "true"})


def _stretch(kind: str, left: float, right: float) -> Markup:
    return element("i", style=f"left:{left:.1f}%;width:{max(right - left, 0.5):.1f}%", **{"class": kind})
