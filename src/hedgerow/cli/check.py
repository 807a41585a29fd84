"""hedgerow check."""

from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from hedgerow.backends import Backend, connect_backend
from hedgerow.catalog import Finding, check_catalog, load_catalog
from hedgerow.cli import options
from hedgerow.cli.errors import pointing
from hedgerow.cli.output import stdout, tell, write_json
from hedgerow.owners_log import beside, keep

SYMBOLS = {"ok": "✓", "warning": "!", "error": "✗", "unknown": "?"}
STYLES = {"ok": "green", "warning": "yellow", "error": "bold red", "unknown": "dim"}
MEANINGS = "✓ verified   ! possibly a problem   ✗ false   ? only you can know"
BASES = {"database": "[the database]", "owner": "[your declaration]", "data": "[the data at present]"}
OWNERS = "For the owner: this command read the data without noise. Do not show its output to analysts."
WRONG = 2


def check(*, db: options.Db, catalog: options.CatalogFile, as_json: options.Json = False) -> None:
    """Verify what can be verified about a catalog, and list what cannot. The owner's command.

    It reads the data itself (to see whether keys are unique), without noise and without a charge: its output is not for
    analysts. The exit code is 2 if the catalog contradicts the database.

    Example: hedgerow check --db demo/hospital.duckdb --catalog demo/hospital.yaml
    """
    with pointing(catalog=catalog):
        findings = _look(db, catalog)
    wrong = any(finding.level == "error" for finding in findings)
    if as_json:
        listed = [
            {
                "level": finding.level,
                "subject": finding.subject,
                "message": finding.message,
                "basis": finding.basis,
            }
            for finding in findings
        ]
        tell(OWNERS)
        write_json({"ok": not wrong, "findings": listed})
    else:
        _show(findings)
    raise typer.Exit(WRONG if wrong else 0)


def _look(db: str, catalog: str) -> list[Finding]:
    declared = load_catalog(catalog)
    keep(beside(Path(catalog).with_suffix(".ledger")))
    backend = connect_backend(db, declared=declared.tables)
    try:
        findings = check_catalog(declared, backend.schema(), is_unique=backend.is_unique)
        return [*findings, _connection(backend)]
    finally:
        backend.close()


def _connection(backend: Backend) -> Finding:
    """Return the finding about the settings of this connection: locked, or another program's."""
    if backend.handed_in:
        return Finding(
            "warning", "connection", "This connection was passed in, so hedgerow does not lock its settings."
        )
    said = "hedgerow opened this database itself: read-only, with its settings locked."
    return Finding("ok", "connection", said, "database")


def _show(findings: list[Finding]) -> None:
    console = stdout()
    for subject in dict.fromkeys(finding.subject for finding in findings):
        console.print(subject, style="bold")
        for finding in findings:
            if finding.subject == subject:
                line = Table.grid(padding=(0, 1))
                said = Text(finding.message).append(f" {BASES[finding.basis]}", style="dim")
                line.add_row("", Text(SYMBOLS[finding.level], style=STYLES[finding.level]), said)
                stdout().print(line)
    console.print(f"\n{MEANINGS}\n{OWNERS}")
