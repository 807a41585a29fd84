"""Metadata of a release: a data dictionary for people, and a Frictionless Data Package for programs."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from hedgerow.answer.plain import on_one_line
from hedgerow.publication.contents import ALL, ALL_OR_NONE, NONE, PublishedReport, PublishedTable
from hedgerow.publication.data import ColumnRole, DataColumn, harmless

DICTIONARY, PACKAGE = "dictionary.csv", "datapackage.json"

MEANINGS = {
    ColumnRole.KEY: "Group, or a public value.",
    ColumnRole.NUMBER: "Noisy number.",
    ColumnRole.LOWER: "Lower end of the interval of {of}. Empty if nothing is known on that side.",
    ColumnRole.UPPER: "Upper end of the interval of {of}. Empty if nothing is known on that side.",
    ColumnRole.MARGIN: "Margin of error of {of}: the longer distance to an end. Empty if an end is open.",
    ColumnRole.KIND: "Promise of the interval of {of}: exact (holds as often as stated), conservative (at least as "
    "often), approximate, or none.",
    ColumnRole.NOTE: "Remark on the interval of {of}, such as held back (too few people in the group).",
    ColumnRole.POPULATION_LOWER: "Lower end of the interval of {of} in the population, sampling and noise together.",
    ColumnRole.POPULATION_UPPER: "Upper end of the interval of {of} in the population, sampling and noise together.",
    ColumnRole.P_VALUE: "Chance of groups as different as these if there is no difference in the population, for {of}.",
    ColumnRole.P_ADJUSTED: "The p-value of {of}, adjusted for several comparisons in one table.",
}


EMPTY_KEYS = {
    NONE: "",
    ALL: " Empty in a total over all of its values.",
    ALL_OR_NONE: " Empty in a total over all of its values, or where there is no value.",
}


def meaning(column: DataColumn, no_value: str = NONE) -> str:
    """Return what a column means, in a sentence or two; `no_value` is what a key without a value means."""
    said = MEANINGS[column.role].format(of=on_one_line(column.of))
    return said + EMPTY_KEYS[no_value] if column.role is ColumnRole.KEY else said


def table_type(kind: pa.DataType) -> str:
    """Return the type of a column in the words of Table Schema."""
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_timestamp(kind):
        return "datetime"
    if pa.types.is_time(kind):
        return "time"
    return "date" if pa.types.is_date(kind) else "string"


def dictionary_file(report: PublishedReport) -> bytes:
    """Return the data dictionary: one row for each column of each table."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(("table", "file", "column", "type", "role", "meaning"))
    for table in report.tables:
        for column in table.data.columns:
            facts = (table.name, f"data/{table.stem}.csv", column.name, table_type(column.type), column.role)
            writer.writerow([harmless(text) for text in (*facts, meaning(column, table.no_value))])
    return stream.getvalue().encode()


def package_file(report: PublishedReport, files: Mapping[str, bytes], time: str) -> bytes:
    """Return a Frictionless Data Package that describes the data files."""
    resources: list[dict[str, Any]] = []
    for table in report.tables:
        resources += [_csv(table, files), _parquet(table)]
    resources.append(_dictionary(files))
    package = {
        "name": _package_name(report.dataset),
        "title": report.title,
        "description": report.text or f"Differentially private tables about {report.dataset}.",
        "profile": "data-package",
        "created": time,
        **({} if report.version is None else {"version": report.version}),
        "resources": resources,
    }
    return (json.dumps(package, indent=2, ensure_ascii=False) + "\n").encode()


def _package_name(dataset: str) -> str:
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in dataset.lower()).strip("-")
    return name or "release"


def _csv(table: PublishedTable, files: Mapping[str, bytes]) -> dict[str, Any]:
    described = {"title": table.title, **({"description": table.text} if table.text else {})}
    return {
        "name": table.stem,
        **_facts(f"data/{table.stem}.csv", files),
        **described,
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": _schema(table, table.data.csv_names),
    }


def _parquet(table: PublishedTable) -> dict[str, Any]:
    """Return the resource of a Parquet file, without its size: validators compare that with what they read of it.

    They read it through pandas, in which whole numbers with gaps are floats: such a column is one of numbers here.
    """
    schema = _schema(table, [column.name for column in table.data.columns])
    for described, values in zip(schema["fields"], table.data.values.columns, strict=True):
        if described["type"] == "integer" and values.null_count:
            described["type"] = "number"
    return {
        "name": f"{table.stem}.parquet",
        "path": f"data/{table.stem}.parquet",
        "title": table.title,
        "profile": "tabular-data-resource",
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "schema": schema,
    }


def _schema(table: PublishedTable, names: Sequence[str]) -> dict[str, Any]:
    fields = []
    for name, column in zip(names, table.data.columns, strict=True):
        kind = table_type(column.type)
        # CSV files have a blank between date and time, which the default format does not have.
        spelling = {"format": "any"} if kind in {"datetime", "time"} else {}
        fields.append({"name": name, "type": kind, **spelling, "description": meaning(column, table.no_value)})
    return {"fields": fields, "missingValues": [""]}


def _dictionary(files: Mapping[str, bytes]) -> dict[str, Any]:
    names = ("table", "file", "column", "type", "role", "meaning")
    return {
        "name": "dictionary",
        **_facts(DICTIONARY, files),
        "title": "Data dictionary",
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": [{"name": name, "type": "string"} for name in names]},
    }


def _facts(path: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    content = files[path]
    return {"path": path, "bytes": len(content), "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
