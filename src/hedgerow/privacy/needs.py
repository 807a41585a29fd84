"""The sums that the aggregates of a release are made of."""

from hedgerow.aggregates import Need, lookup
from hedgerow.errors import InternalError
from hedgerow.plan.nodes import Release


def needs_of(release: Release) -> list[Need]:
    """One need for each aggregate, in order."""
    needs = []
    for call in release.calls:
        known = lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} was bound but is not an aggregate.")
        needs.append(known.need(call.arguments, where=call.filter, distinct=call.distinct))
    return needs
