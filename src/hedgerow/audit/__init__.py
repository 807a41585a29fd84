"""The auditor: searches for leaks by running statements on pairs of neighbouring databases."""

from hedgerow.audit.pairs import KINDS
from hedgerow.audit.report import AuditReport, Claim, Judged, PairReport
from hedgerow.audit.run import audit

__all__ = ["KINDS", "AuditReport", "Claim", "Judged", "PairReport", "audit"]
