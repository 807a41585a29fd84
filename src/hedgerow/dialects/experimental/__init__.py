"""Experimental dialects: BigQuery, MySQL, Snowflake, SQL Server and Trino.

No server of theirs has ever run a statement of ours. Golden files record what is generated, and a parser of each
dialect reads it back and runs its meaning on DuckDB; how an engine itself refuses or fails is not known. Nothing else
in hedgerow imports this package: `hedgerow.dialects.DIALECTS` loads a dialect of it by name.
"""
