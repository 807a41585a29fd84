"""Programs that others connect to, thin over a `Database`."""
