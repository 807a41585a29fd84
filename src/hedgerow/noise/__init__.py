"""Integer noise, one file per distribution; `source` is the one place where random bits come from."""

from hedgerow.noise.discrete import discrete_gaussian, discrete_laplace
from hedgerow.noise.rounded import rounded_gaussian
from hedgerow.noise.source import nonce

__all__ = ["discrete_gaussian", "discrete_laplace", "nonce", "rounded_gaussian"]
