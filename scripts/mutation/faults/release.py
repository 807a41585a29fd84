"""Faults where exact numbers and noise meet, and in the SQL that makes the exact numbers."""

from scripts.mutation.fault import Fault

DRAW = "release/test_draw.py"
SELECTION = "release/distributions/test_selection.py"
NOISE = "release/distributions/test_noise.py"
OWNERS = "privacy/neighbours/test_each_owner.py"
NEIGHBOURS = "privacy/neighbours/test_neighbours.py"
KEYS = "release/test_selection.py"
DRAWN = "release/test_drawn.py"
RECEIPTS = "release/test_receipts.py"
ONE_KEY = "compile/test_one_key.py"
LATTICE = "release/test_lattice.py"

FAULTS = (
    Fault(
        "sums-of-values-off-their-lattice",
        "release/lattice.py",
        "np.round(cells / step) * step + 0.0",
        "cells + 0.0",
        (LATTICE,),
    ),
    Fault(
        "lattice-too-fine-for-the-total",
        "release/lattice.py",
        "of_total - BITS, FINEST",
        "FINEST",
        (LATTICE,),
    ),
    Fault(
        "scale-halved-when-drawn",
        "release/draw.py",
        "sample(scale, len(exact))",
        "sample(scale / 2, len(exact))",
        (DRAW,),
    ),
    Fault(
        "one-noise-for-all-cells",
        "release/draw.py",
        "sample(scale, len(exact))",
        "np.repeat(sample(scale, 1), len(exact))",
        (DRAW,),
    ),
    Fault(
        "sampler-by-the-number-of-cells",
        "release/draw.py",
        "sample = sampler(mechanism, scale)",
        "sample = sampler(mechanism, scale if len(exact) < 5_000 else ROUNDED_UP_TO * 2)",
        (DRAW,),
    ),
    Fault(
        "release-without-a-receipt-for-it",
        "release/draw.py",
        "return plan.charge is receipt.charge or Counter(plan.charge.events) <= Counter(receipt.charge.events)",
        "return True",
        (RECEIPTS,),
    ),
    Fault(
        "minimum-not-tested-exactly",
        "release/key_selection.py",
        "np.flatnonzero(units >= plan.minimum)",
        "np.flatnonzero(units >= 0)",
        (KEYS,),
    ),
    Fault(
        "threshold-replaced-by-the-minimum",
        "release/key_selection.py",
        "threshold = math.ceil(plan.selection.threshold * (1 << plan.selection.shift))",
        "threshold = plan.minimum * (1 << plan.selection.shift)",
        (SELECTION,),
    ),
    Fault(
        "threshold-must-be-exceeded",
        "release/key_selection.py",
        "noisy >= threshold",
        "noisy > threshold",
        (SELECTION,),
    ),
    Fault(
        "exact-count-shown-after-the-test",
        "release/key_selection.py",
        "counts = noisy[passed].astype(float) / 2.0**plan.selection.shift",
        "counts = units[rows].astype(float)",
        (DRAWN,),
    ),
    Fault(
        "keys-in-the-order-of-rows",
        "release/key_selection.py",
        "order = in_key_order(keys)",
        "order = np.arange(len(rows))",
        ("release/test_edge_cases.py",),
    ),
    Fault(
        "step-without-the-weight",
        "release/noisy_table.py",
        "float(noisy_sum.denominator << plan.weight_bits) * 2.0**noisy_sum.shift",
        "float(noisy_sum.denominator) * 2.0**noisy_sum.shift",
        (NOISE,),
    ),
    Fault(
        "noise-of-the-other-kind",
        "release/noisy_table.py",
        "noisy_sum.scale, plan.mechanism)",
        'noisy_sum.scale, "laplace")',
        (NOISE,),
    ),
    Fault(
        "held-back-groups-measured",
        "release/noisy_table.py",
        "shown = np.flatnonzero(selected.shown)\n    rows",
        "shown = np.arange(len(selected.shown))\n    rows",
        (RECEIPTS,),
    ),
    Fault(
        "quantile-drawn-with-twice-its-epsilon",
        "release/ranks.py",
        "_aim(draw, buckets), draw.epsilon, draw.reach)",
        "_aim(draw, buckets), 2 * draw.epsilon, draw.reach)",
        (DRAWN,),
    ),
    Fault(
        "sums-for-limits-with-half-the-noise",
        "release/ranks.py",
        "noise.shift, noise.scale, mechanism)",
        "noise.shift, noise.scale / 2, mechanism)",
        ("statistics/quantiles/test_limits.py",),
    ),
    Fault(
        "distinct-scale-halved-when-drawn",
        "release/noisy_table.py",
        "counted.scale, plan.mechanism)",
        "counted.scale / 2, plan.mechanism)",
        (DRAWN,),
    ),
    Fault(
        "flow-without-a-bound-for-owners",
        "statistics/distinct_bounds.py",
        "room[: len(names)] = min(per_owner, len(kinds))",
        "room[: len(names)] = len(kinds)",
        ("statistics/test_distinct_bounds.py",),
    ),
    Fault(
        "owners-in-many-keys-keep-their-weight",
        "compile/weights.py",
        "WHERE n > {maximum} OR u < {one}",
        "WHERE n > {maximum}",
        (OWNERS, NEIGHBOURS),
    ),
    Fault(
        "one-key-for-each-person-on-the-word-of-the-catalog",
        "plan/ownership.py",
        "for private in self.rows.private_sources if private.limits.one_row]",
        "for private in self.rows.private_sources if private.limits.max_rows == 1]",
        (ONE_KEY,),
    ),
    Fault(
        "one-key-for-each-person-behind-an-outer-join",
        "plan/ownership.py",
        'return source.kind == "inner" and _joins_inner',
        "return _joins_inner",
        (ONE_KEY,),
    ),
    Fault(
        "owners-of-one-key-keep-their-weight",
        "compile/windows.py",
        'f"CASE WHEN n > {maximum} THEN {pair_gap',
        'f"CASE WHEN n > {maximum} + 1 THEN {pair_gap',
        (ONE_KEY,),
    ),
    Fault(
        "root-of-a-cap-not-corrected",
        "dialects/base.py",
        "THEN {root} - 1 ELSE",
        "THEN {root} ELSE",
        ("compile/test_weights.py",),
    ),
    Fault(
        "one-key-too-many-in-the-selection",
        "compile/weights.py",
        "WHERE place > {maximum}",
        "WHERE place > {maximum} + 1",
        (NEIGHBOURS, OWNERS),
    ),
    Fault(
        "values-not-clamped-from-below",
        "dialects/base.py",
        "WHEN {steps} < {minimum} THEN {minimum} ",
        "",
        ("privacy/neighbours/test_plain_answers.py", NEIGHBOURS),
    ),
    Fault(
        "rows-of-nobody-count",
        "compile/rows.py",
        'f"{scalar(release.owner, dialect)} IS NOT NULL", ',
        "",
        (NEIGHBOURS,),
    ),
)
