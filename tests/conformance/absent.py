"""Features that engines do not offer at all. It is told to users in docs/reference/engines.md."""

from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS

ABSENT = {
    "clickhouse": {"split_part", "translate", "regexp_replace_all", "reverse"},
    "ibis_duckdb": set(),
    "mariadb": {
        *("age_in_years", "atan2", "bit_and", "bit_or", "bit_xor", "cbrt", "character", "code_point", "concat_joined"),
        *(f"bucket_{unit}" for unit in ("day", "hour", "minute", "month", "quarter", "second", "week", "year")),
        *("elapsed_month", "elapsed_quarter", "elapsed_year", "lpad", "rpad", "make_date", "make_timestamp"),
        *("position_from", "power", "read_time", "regexp_replace", "regexp_replace_all", "repeat", "right"),
        *("split_part", "translate", "week_from_sunday", "width_bucket"),
    },
    "postgres": {"regexp_replace_all", "reverse"},
    "spark": {"cast_time", "imposed_time", "reverse", *CLOCK, CLOCK_SECONDS},
    "sqlite": set(),
}
