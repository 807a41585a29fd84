"""Publish a report: ask its queries together, and write the answers with a certificate."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from hedgerow.catalog.model import DeclaredTable
from hedgerow.execution.request import Options
from hedgerow.execution.session import Session, notice
from hedgerow.expressions.facts import declared_values
from hedgerow.plan.nodes import LogicalPlan, Release, scans_of
from hedgerow.privacy.levels import shown_levels
from hedgerow.privacy.marginals import rows_of
from hedgerow.publication.contents import ALL, ALL_OR_NONE, NONE, report_of
from hedgerow.publication.folder import require_writable
from hedgerow.publication.keys import OwnerKey, new_key, public_file, read_key
from hedgerow.publication.publication import Publication, publish_report
from hedgerow.session.batch import ask_batch
from hedgerow.session.bound_batch import Weights, naming
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
    *,
    add_up: bool,
) -> Publication:
    """Ask the queries of a report together, and write the answers with a certificate.

    Predictable errors are raised before anything is paid for. Publishing again is free and gives the same files.
    """
    report = Report.of(queries)
    require_writable(Path(folder), session.ledger.id)
    owner = _first_key(_key_file(session)) if key is None else read_key(Path(key))
    plans = _bound(session, report, options)
    answers = ask_batch(session, report, weights, minimise, options, add_up=add_up or None)
    contents = report_of(
        dict(answers.items()),
        title=report.title or f"Tables about {session.catalog.dataset}",
        text=report.text,
        source=report.source or ";\n".join(query.sql for query in report.queries) + ";\n",
        titles={query.name: query.title for query in report.queries},
        texts={query.name: query.text for query in report.queries},
        dataset=session.catalog.dataset,
        version=session.catalog.version,
        sources=_sources(session, plans.values()),
        no_values={name: _no_value(plan) for name, plan in plans.items()},
        same_rows=_same_rows(plans),
    )
    return publish_report(contents, session.ledger, Path(folder), owner)


def _key_file(session: Session) -> Path:
    """Return the key next to the catalog, or one named after the dataset in the current folder."""
    catalog = session.catalog
    return Path(f"{catalog.dataset}.key") if catalog.path is None else catalog.path.with_suffix(".key")


def _first_key(path: Path) -> OwnerKey:
    """Return the owner's key; the first release makes it. Where its public half is left, it is lost, not missing."""
    if path.exists() or public_file(path).exists():
        return read_key(path)
    key = new_key(path)
    notice(f"Made a new key at {path}. It signs releases: keep a copy of it, and publish {public_file(path)}.")
    return key


def _bound(session: Session, report: Report, options: Options) -> dict[str, LogicalPlan]:
    """Return the plans of the queries by name."""
    query_options = {name: value for name, value in options.items() if name != "within"}
    plans = {}
    for query in report.queries:
        with naming(report, query):
            plans[query.name] = bind_statement(session, query.sql, None, query_options).logical  # type: ignore[arg-type]
    return plans


def _same_rows(plans: Mapping[str, LogicalPlan]) -> list[tuple[str, ...]]:
    """Return the names of queries about the same rows by different keys, group by group."""
    groups: dict[Release, dict[str, frozenset[object]]] = {}
    for name, plan in plans.items():
        for release in plan.releases:
            groups.setdefault(rows_of(release), {})[name] = frozenset(key.expr for key in release.keys)
    return [tuple(keys) for keys in groups.values() if len(set(keys.values())) > 1]


def _sources(session: Session, plans: Iterable[LogicalPlan]) -> list[DeclaredTable]:
    """Return the private tables that the queries read, as the owner declares them."""
    names: dict[str, None] = {}
    for plan in plans:
        names |= dict.fromkeys(sorted(scan.table for scan in scans_of(plan.releases)))
    declared = (session.catalog.table(name) for name in names)
    return [table for table in declared if table is not None and not table.public]


def _no_value(plan: LogicalPlan) -> str:
    """Return what a key without a value means: in a total, all of its values."""
    keys = [key.expr for release in plan.releases if shown_levels(plan, release) for key in release.keys]
    if not keys:
        return NONE
    return ALL if all(declared_values(key) is not None for key in keys) else ALL_OR_NONE
