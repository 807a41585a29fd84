"""Publishing a report: its answers are asked together, and written with a certificate."""

import os
from pathlib import Path

from hedgerow.catalog.model import DeclaredTable
from hedgerow.execution.request import Options
from hedgerow.execution.session import Session
from hedgerow.plan.nodes import scans_of
from hedgerow.publication.contents import report_of
from hedgerow.publication.folder import require_writable
from hedgerow.publication.keys import read_key
from hedgerow.publication.publication import Publication, publish_report
from hedgerow.session.batch import Weights, ask_batch
from hedgerow.session.corridor import bind_statement
from hedgerow.session.report import Queries, Report


def publish_batch(
    session: Session,
    queries: Queries,
    folder: str | os.PathLike[str],
    key: str | os.PathLike[str] | None,
    weights: Weights,
    minimise: str,
    options: Options,
) -> Publication:
    """Ask the queries of a report together, and write the answers with a certificate.

    What can be known to fail fails before anything is paid for. Publishing again is free and gives the same files.
    """
    report = Report.of(queries)
    owner = read_key(_key_file(session) if key is None else Path(key))
    require_writable(Path(folder), session.ledger.id)
    sources = _sources(session, report, options)
    answers = ask_batch(session, report, weights, minimise, options)
    contents = report_of(
        dict(answers.items()),
        title=report.title or f"Tables about {session.catalog.dataset}",
        text=report.text,
        source=report.source or ";\n".join(query.sql for query in report.queries) + ";\n",
        titles={query.name: query.title for query in report.queries},
        texts={query.name: query.text for query in report.queries},
        dataset=session.catalog.dataset,
        version=session.catalog.version,
        sources=sources,
    )
    return publish_report(contents, session.ledger, Path(folder), owner)


def _key_file(session: Session) -> Path:
    """Return the key next to the catalog, or one named after the dataset in the current folder."""
    catalog = session.catalog
    return Path(f"{catalog.dataset}.key") if catalog.path is None else catalog.path.with_suffix(".key")


def _sources(session: Session, report: Report, options: Options) -> list[DeclaredTable]:
    """Return the private tables that the queries read, as the owner declares them."""
    stated = {name: value for name, value in options.items() if name != "within"}
    names: dict[str, None] = {}
    for query in report.queries:
        logical = bind_statement(session, query.sql, None, stated).logical  # type: ignore[arg-type]
        names |= dict.fromkeys(sorted(scan.table for scan in scans_of(logical.releases)))
    declared = (session.catalog.table(name) for name in names)
    return [table for table in declared if table is not None and not table.public]
