"""Error bars: one engine for every answer.

`intervals` is pure mathematics: noisy numbers and the law of their noise in, bounds out. `provenance` says which
released numbers are in a number that is shown, and how. `propagation` carries the noise of the former to the latter:
linear and quotient forms, rules for maxima and ranks, interval arithmetic, simulation.
"""
