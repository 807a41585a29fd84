"""Text in, private answer out: `connect`, `Database`, and the corridor behind it."""
