"""Weighted sums in one pass over the pairs of owner and key, by window functions.

For engines that would materialise or recompute a step to read it twice (`Dialect.windows`). The integers are those of
`weights`: the same caps, the same gaps below the full weight, the same choice of keys. What `weights` looks up among
heavy owners and light pairs is here a column of each pair.

Where the database enforces that an owner has one key (`Release.one_key`), a pair is all of its owner. Then a_g <= r is
within T and A, so that U is the full weight, every owner counts in its key, and no window is needed. All engines take
this way.
"""

from hedgerow.compile.caps import Names, by_hash, hashed, owner_cap, owner_size, pair_gap, people
from hedgerow.compile.rows import summed
from hedgerow.compiled import UNITS
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Step
from hedgerow.privacy.plan import PrivatePlan

OWNERS = "PARTITION BY o"


def window_steps(
    plan: PrivatePlan, dialect: Dialect, names: Names, nonce: str | None, result: str, *, owned: str = ""
) -> list[Step]:
    """Return the steps from `parts` to `result`; with a nonce, its columns include the bounded number of owners.

    `owned` is the condition of pairs that have an owner, where some have none (`crowded`): people are counted in these.
    """
    steps = _gaps(plan, dialect, names)
    turns = nonce is not None and not plan.release.one_key
    if nonce is not None and turns:
        steps.append(_turns(plan, dialect, names, nonce))
    source = "turns" if turns else "gaps"
    listed = [*names, *_totals(plan, dialect, owned)]
    if nonce is not None and not turns:
        listed.append(f"{dialect.counted(owned or None)} AS {UNITS}")
    elif nonce is not None:
        chosen = f"turn IS NULL OR turn <= {plan.bounding.groups}"
        listed.append(f"{dialect.counted(f'{owned} AND ({chosen})' if owned else chosen)} AS {UNITS}")
    weighted = f"SELECT {', '.join(listed)} FROM {source}{dialect.group_by(list(names))}"
    return [*steps, dialect.step(result, weighted, once=False)]


def _carried(plan: PrivatePlan, names: Names) -> str:
    """Columns of each pair: its keys, owner, and partial sums."""
    return ", ".join([*names, "o", *(f"p{i}" for i, _ in summed(plan))])


def _gaps(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[Step]:
    """Return the steps to `gaps`: each pair with its owner's cap `u` and number of keys, and its gap if it has one."""
    one, maximum, carried = 1 << plan.weight_bits, plan.bounding.rows_per_group, _carried(plan, names)
    if not names or plan.release.one_key:
        gap = f"CASE WHEN n > {maximum} THEN {pair_gap(plan, dialect, str(one))} END AS gap"
        return [dialect.step("gaps", f"SELECT {carried}, {one} AS u, {gap} FROM parts", once=False)]
    largest = maximum if plan.l1_weights else maximum * maximum
    sizes = f"COUNT(*) OVER ({OWNERS}) AS touched, {dialect.total_over(owner_size(plan), OWNERS, largest)} AS q"
    gap = f"CASE WHEN n > {maximum} OR u < {one} THEN {pair_gap(plan, dialect, 'u')} END AS gap"
    return [
        dialect.step("sizes", f"SELECT {carried}, n, {sizes} FROM parts", once=False),
        dialect.step("caps", f"SELECT {carried}, n, touched, {owner_cap(plan, dialect)} AS u FROM sizes", once=False),
        dialect.step("gaps", f"SELECT {carried}, touched, u, {gap} FROM caps", once=False),
    ]


def _turns(plan: PrivatePlan, dialect: Dialect, names: Names, nonce: str) -> Step:
    """Return the step `turns`: for owners of more than C keys, the rank of each key by a hash of (nonce, owner, key).

    Privacy: as in `weights`, the choice depends on the owner's own keys alone, so one unit changes at most C counts by
    one each.
    """
    beyond = f"touched > {plan.bounding.groups}"
    order = f"CASE WHEN {beyond} THEN {hashed(nonce, {'o': plan.release.owner.type, **names}, dialect)} END"
    window = f"{OWNERS} ORDER BY {by_hash(order, names, dialect)}"
    turn = f"CASE WHEN {beyond} THEN ROW_NUMBER() OVER ({window}) END AS turn"
    return dialect.step("turns", f"SELECT {_carried(plan, names)}, u, gap, {turn} FROM gaps", once=False)


def _totals(plan: PrivatePlan, dialect: Dialect, owned: str) -> list[str]:
    """Return the number of owners, and every sum: partial sums times the full weight minus the gap."""
    one = 1 << plan.weight_bits
    totals = {i: f"COALESCE({dialect.total_if('u', owned or None)}, 0)" for i in people(plan)}
    for i, _ in summed(plan):
        whole = f"COALESCE(CAST({dialect.wide_total(f'p{i}')} AS {dialect.huge}), 0)"
        totals[i] = dialect.weighed(whole, one, f"COALESCE({dialect.product_total('gap', f'p{i}')}, 0)")
    return [f"{dialect.counted(owned or None)} AS owners", *(f"{totals[i]} AS s{i}" for i in sorted(totals))]
