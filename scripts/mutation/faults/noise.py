"""Faults in drawing: bits, laws, exactness."""

from scripts.mutation.fault import Fault

DISCRETE = "noise/test_discrete.py"
ROUNDED = "noise/test_rounded.py"
EXPONENTIAL = "noise/test_exponential.py"
SOURCE = "noise/test_source.py"

FAULTS = (
    Fault(
        "bits-from-a-seeded-generator",
        "noise/source.py",
        "return secrets.randbits(count)",
        'return __import__("random").getrandbits(count)',
        (SOURCE,),
    ),
    Fault(
        "words-from-a-seeded-generator",
        "noise/source.py",
        "np.frombuffer(os.urandom(8 * count), dtype=np.uint64)",
        "np.frombuffer(np.random.bytes(8 * count), dtype=np.uint64)",
        (SOURCE,),
    ),
    Fault(
        "nonce-reused",
        "noise/source.py",
        "return secrets.token_hex(16)",
        'return "0" * 32',
        (DISCRETE,),
    ),
    Fault(
        "discrete-scale-halved",
        "noise/discrete.py",
        "_sampler(shape, float(scale))",
        "_sampler(shape, float(scale) / 2)",
        (DISCRETE,),
    ),
    Fault(
        "discrete-shapes-mixed-up",
        "noise/discrete.py",
        'if shape == "gaussian":',
        'if shape == "laplace":',
        (DISCRETE,),
    ),
    Fault(
        "one-batch-for-all",
        "noise/discrete.py",
        "batch = drawn[start : start + BATCH]",
        "batch = drawn[:BATCH]",
        (DISCRETE,),
    ),
    Fault(
        "rounded-noise-without-a-sign",
        "noise/rounded.py",
        "np.where(words >> 63, -1, 1) * _magnitudes",
        "_magnitudes",
        (ROUNDED,),
    ),
    Fault(
        "rounded-noise-not-widened",
        "noise/rounded.py",
        "widening = scale * table.errors[cell] + 2.0**-50",
        "widening = 0.0 * table.errors[cell]",
        (ROUNDED,),
    ),
    Fault(
        "extreme-tail-not-refined",
        "noise/rounded.py",
        "beyond = cell >= CELLS",
        "beyond = cell > CELLS",
        (ROUNDED,),
    ),
    Fault(
        "refinement-off-by-one",
        "noise/rounded.py",
        "arb(2 * magnitude - 1)",
        "arb(2 * magnitude + 1)",
        (ROUNDED,),
    ),
    Fault(
        "refinement-without-fresh-bits",
        "noise/rounded.py",
        "(self.head << MORE_BITS) | source.bits(MORE_BITS)",
        "(self.head << MORE_BITS) | (2**MORE_BITS - 1)",
        (ROUNDED,),
    ),
    Fault(
        "exponential-rate-doubled",
        "noise/exponential.py",
        "np.array([float(rate) for rate in rates])[:, None]",
        "np.array([2 * float(rate) for rate in rates])[:, None]",
        (EXPONENTIAL,),
    ),
    Fault(
        "exponential-floats-believed",
        "noise/exponential.py",
        "certain = (previous <= lowest) & (highest <= sums[rows, picked] * (1 - 2 * slack))",
        "certain = np.ones(len(sums), dtype=bool)",
        (EXPONENTIAL,),
    ),
    Fault(
        "exponential-settled-without-fresh-bits",
        "noise/exponential.py",
        "(head << WORD) | source.bits(WORD)",
        "(head << WORD) | (2**WORD - 1)",
        (EXPONENTIAL,),
    ),
    Fault(
        "uniform-number-may-be-the-limit",
        "noise/exponential.py",
        "source.bits(size) if size else 0) >= limit:",
        "source.bits(size) if size else 0) > limit:",
        (EXPONENTIAL, "statistics/quantiles/test_draw.py"),
    ),
)
