"""Integer noise, one file per distribution; `source` is the one place where random bits come from."""

from hedgerow.noise.gaussian import discrete_gaussian
from hedgerow.noise.laplace import discrete_laplace
from hedgerow.noise.rounded import rounded_gaussian
from hedgerow.noise.source import nonce

__all__ = ["discrete_gaussian", "discrete_laplace", "nonce", "rounded_gaussian"]
