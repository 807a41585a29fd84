"""What engines do not offer at all. It is told to users in docs/reference/engines.md."""

ABSENT = {
    "clickhouse": {"split_part", "translate", "regexp_replace_all", "reverse"},
    "ibis_duckdb": set(),
    "postgres": {"regexp_replace_all", "reverse"},
    "spark": {"cast_time", "imposed_time", "reverse"},
    "sqlite": set(),
}
