"""Publication: from a report's answers to a signed folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.errors import ParameterError
from hedgerow.ledger import Ledger
from hedgerow.publication.certificate import CHAIN, FILE, certify, chain_file, proved, terms_of
from hedgerow.publication.charts import charts, standalone
from hedgerow.publication.contents import PublishedReport, file_stem
from hedgerow.publication.folder import write_folder
from hedgerow.publication.keys import OwnerKey, PublicKey
from hedgerow.publication.metadata import DICTIONARY, PACKAGE, dictionary_file, package_file
from hedgerow.publication.page import page_file
from hedgerow.publication.page_text import ReleaseFacts

PAGE, SOURCE = "index.html", "report.sql"


@dataclass(frozen=True, slots=True)
class Publication:
    """A published folder: its files, the guarantee of the release, and the key that signed it.

    `written` is False if the folder held just these files already. `together` names the tables that were measured
    together: those about the same rows add up. `apart` names those that are about the same rows as another table and
    add up to none.
    """

    folder: Path
    files: tuple[str, ...]
    guarantee: Spending
    key: PublicKey
    written: bool
    together: tuple[str, ...]
    apart: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "folder": str(self.folder),
            "files": list(self.files),
            "guarantee": {"epsilon": self.guarantee.epsilon, "delta": self.guarantee.delta},
            "key": {"public": str(self.key), "fingerprint": self.key.fingerprint},
            "written": self.written,
            "tables": {"together": list(self.together), "apart": list(self.apart)},
        }


def publish_report(report: PublishedReport, ledger: Ledger, folder: Path, key: OwnerKey) -> Publication:
    """Write the files of a report and their certificate, completely or not at all.

    Privacy: the files are a function of the answers, the catalog and the ledger's chain, all of which were released or
    are public. No row is read.
    """
    if not report.charges:
        raise ParameterError(
            "Every table of the report is public data: there is nothing to certify.",
            code="nothing-private",
            hint="Ask about a private table.",
        )
    excerpt, program = ledger.excerpt(report.charges), f"hedgerow {version('hedgerow')}"
    guarantee, terms = proved(excerpt.charges), terms_of(excerpt.links)
    files = data_files(report)
    drawings = _charts(report)
    files |= {name: standalone(chart) for by_column in drawings.values() for name, chart in by_column.values()}
    files |= {SOURCE: report.source.encode(), CHAIN: chain_file(excerpt)}
    files[DICTIONARY] = dictionary_file(report)
    files[PACKAGE] = package_file(report, files, excerpt.time)
    facts = ReleaseFacts(
        guarantee["epsilon"],
        guarantee["delta"],
        Spending(terms.epsilon, terms.delta),
        terms.refresh,
        excerpt.time,
        program,
        excerpt.links[-1].hash,
    )
    files[PAGE] = page_file(report, drawings, key.public, facts)
    files[FILE] = certify(report, excerpt, files, key, program)
    written = write_folder(folder, files, ledger.id)
    spent = Spending(facts.epsilon, facts.delta)
    together = tuple(name for names in report.together for name in names)
    return Publication(folder, tuple(sorted(files)), spent, key.public, written, together, report.apart)


def data_files(report: PublishedReport) -> dict[str, bytes]:
    """Return the CSV and Parquet files."""
    files = {}
    for table in report.tables:
        files[f"data/{table.stem}.csv"] = table.data.csv()
        files[f"data/{table.stem}.parquet"] = table.data.parquet()
    return files


def _charts(report: PublishedReport) -> dict[str, Mapping[str, tuple[str, Any]]]:
    drawn: dict[str, Mapping[str, tuple[str, Any]]] = {}
    taken: set[str] = set()
    for table in report.tables:
        drawn[table.name] = {
            name: (f"charts/{file_stem(f'{table.stem} {name}', taken)}.svg", chart)
            for name, chart in charts(table.answer, table.title, table.no_value).items()
        }
    return drawn
