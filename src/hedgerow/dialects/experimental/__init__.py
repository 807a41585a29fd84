"""Experimental dialects: BigQuery, MySQL, Snowflake, SQL Server and Trino.

None of their servers has ever run a statement of ours. Golden files record the generated SQL, and tests parse it with a
parser of each dialect and run it on DuckDB; how the engines themselves fail is not known. Nothing else in hedgerow
imports this package: `hedgerow.dialects.DIALECTS` loads its dialects by name.
"""
