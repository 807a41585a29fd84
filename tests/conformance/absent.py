"""What engines do not offer at all. It is told to users in docs/reference/engines.md."""

REGEXPS = {"regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace", "regexp_replace_all"}

ABSENT = {
    "clickhouse": {"split_part", "translate", "regexp_replace_all", "reverse"},
    "ibis_duckdb": set(),
    "postgres": {"read_time", "reverse", *REGEXPS},
    "spark": {"cast_time", "imposed_time", "reverse"},
    "sqlite": set(),
}
