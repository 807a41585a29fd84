"""Identity of a question: the private part and everything that bounds it, but not the post-processing."""

import hashlib

from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.recently_used import once_per_plan


def fingerprint(plan: PrivatePlan) -> str:
    """Return a hash of the rows, keys, limits and minimum frequency of a statement.

    Statements with equal hashes differ at most in their aggregates, budget and post-processing. Column bounds are part
    of the expressions.
    """
    release = plan.release
    parts = (release.source, release.where, release.owner, release.keys, plan.keys, plan.bounding, plan.minimum)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@once_per_plan
def statement_fingerprint(statement: PrivateStatement) -> str:
    """Return the hash of one release, or of several together."""
    names = [fingerprint(part) for part in statement.parts]
    return names[0] if len(names) == 1 else hashlib.sha256("+".join(names).encode()).hexdigest()
