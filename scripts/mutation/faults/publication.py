"""Faults in certificates: statements that nobody checks, and texts that programs would run."""

from scripts.mutation.fault import Fault

VERIFY = "publication/test_verify.py"
RELEASE = "publication/test_release.py"

FAULTS = (
    Fault(
        "signature-not-checked",
        "publication/verification.py",
        "if not certificate.is_signed:",
        "if certificate.signature == b'':",
        (VERIFY,),
    ),
    Fault(
        "pinned-key-not-compared",
        "publication/verification.py",
        "if pinned is not None and pinned != certificate.key:",
        "if pinned is not None and pinned.digits == '':",
        (VERIFY,),
    ),
    Fault(
        "added-files-not-seen",
        "publication/verification.py",
        "if name not in listed:",
        "if name in listed and name not in listed:",
        (VERIFY,),
    ),
    Fault(
        "spelling-of-a-certificate-not-checked",
        "publication/certificate.py",
        "if expected != text:",
        "if expected == b'':",
        (VERIFY,),
    ),
    Fault(
        "fields-of-a-certificate-not-checked",
        "publication/certificate.py",
        "if not _has_shape(content, SHAPE):",
        "if expected == b'':",
        (VERIFY,),
    ),
    Fault(
        "entries-of-any-kind-accepted",
        "ledger/excerpt.py",
        "if kind not in KINDS or",
        "if",
        (VERIFY,),
    ),
    Fault(
        "lowered-budget-not-seen",
        "publication/verification.py",
        "if link.kind in {CHARGED, RAISED} or",
        "if link.kind == CHARGED or",
        (VERIFY,),
    ),
    Fault(
        "head-of-the-chain-not-compared",
        "publication/verification.py",
        'if last.hash != ledger["head"] or',
        "if",
        (VERIFY,),
    ),
    Fault(
        "budget-never-overrun",
        "publication/verification.py",
        "if terms.caps.overrun(period) or",
        "if",
        (VERIFY,),
    ),
    Fault(
        "price-not-bound-to-its-entry",
        "publication/verification.py",
        "or link.sealed != charge.sealed:",
        "or link.sealed == charge.salt:",
        (VERIFY,),
    ),
    Fault(
        "guarantee-taken-as-stated",
        "publication/verification.py",
        "if not recomputed[name] <= released[name] * (1 + 1e-9):",
        "if not released[name] <= released[name] * (1 + 1e-9):",
        (VERIFY,),
    ),
    Fault(
        "formulas-in-csv-files",
        "publication/data.py",
        'return f"\'{text}" if FORMULA.match(text) else text',
        "return text",
        (RELEASE,),
    ),
    Fault(
        "key-that-others-can-read",
        "publication/keys.py",
        "    if open_to_others:",
        "    if not content:",
        (RELEASE,),
    ),
    Fault(
        "folder-of-others-replaced",
        "publication/folder.py",
        "    if other := sorted(names - listed - {FILE}):",
        "    if other := sorted(listed - names - listed):",
        (RELEASE,),
    ),
)
