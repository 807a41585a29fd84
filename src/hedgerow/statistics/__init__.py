"""Pure mathematics of the estimates: moments, quantile scores, bounds on distinct counts. No data, no randomness."""
