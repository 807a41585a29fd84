"""Answers of every shape, made by hand: what is shown does not depend on how it was computed."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Answer, Summary


@pytest.fixture
def make():
    """Makes an answer from its columns and, for each noisy one, the intervals of its rows."""

    def built(columns, confidence=0.95, receipt="abc-1", **bars):
        table = pa.table(columns)
        rows = [{name: of[i] for name, of in bars.items()} for i in range(table.num_rows)]
        summary = Summary(receipt, "SELECT …", charge=Spending(0.5, 1e-8), share=0.02)
        return Answer(table, rows, confidence, summary)

    return built


@dataclass(frozen=True)
class Layer:
    """One layer of a chart: its mark, where its encodings look, and its rows."""

    mark: dict
    encoding: dict
    rows: list

    @property
    def kind(self):
        return self.mark["type"]

    def field(self, channel):
        return self.encoding.get(channel, {}).get("field")


def layers_of(chart):
    """All layers of a panel."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    data = spec.get("datasets", {})

    def rows(layer):
        actual = layer.get("data") or spec["data"]
        return actual["values"] if "values" in actual else data[actual["name"]]

    return [Layer(layer["mark"], layer.get("encoding", {}), rows(layer)) for layer in spec["layer"]]


def panels_of(chart):
    """The panels of a chart, each as a chart of its own."""
    spec = chart.to_dict()
    shared = {name: spec[name] for name in ("datasets", "data") if name in spec}
    return [{**shared, **panel} for panel in spec["vconcat"]] if "vconcat" in spec else [spec]


@pytest.fixture
def layers():
    return layers_of


@pytest.fixture
def panels():
    return panels_of
