"""The answers of a batch: every statement's, read back from the releases that statements share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Answer, Batch, Mechanism, Savings, Summary, diagnosable
from hedgerow.calibration.diagnose import diagnose
from hedgerow.execution.build_answer import build_part, mechanisms
from hedgerow.execution.nonnegative import PooledTable, nonnegative_answers
from hedgerow.execution.public_tables import read_public
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release import Estimator, coarser_table, table_rows
from hedgerow.session.batch_pricing import PricedBatch
from hedgerow.session.bound_batch import BoundBatch
from hedgerow.session.corridor import BoundStatement


def named_answers(batch: BoundBatch, answers: Mapping[int, Answer], whole: Summary, savings: Savings | None) -> Batch:
    """Return the answers of all statements by name, those about public tables alone among them."""
    named, queries = {}, batch.report.queries
    for number, statement in enumerate(batch.statements):
        named[queries[number].name] = answers[number] if number in answers else _public(batch, statement)
    titles, texts = {q.name: q.title for q in queries if q.title}, {q.name: q.text for q in queries if q.text}
    return Batch(named, whole, savings, titles, texts)


def batch_answers(
    batch: BoundBatch,
    priced: PricedBatch,
    estimators: Sequence[Estimator],
    tables: Mapping[int, Mapping[str, pa.Table]],
    whole: Summary,
    alone: Mapping[int, Spending],
) -> dict[int, Answer]:
    """Build the answer of every statement from the shared releases."""
    parts = {}
    for number in batch.private:
        statement = batch.statements[number]
        plans = priced.parts(number, [estimator.plan for estimator in estimators])
        positions = priced.positions(number)
        finest = [estimators[position] for position in positions]
        own = [
            coarser_table(one, plan) if priced.shared[position].is_joined else Estimator(one.noisy, plan)
            for position, one, plan in zip(positions, finest, plans, strict=True)
        ]
        summary = replace(whole, query=statement.text, mechanisms=all_mechanisms(plans), alone=alone.get(number))
        part = build_part(batch.session.postprocess, statement.logical, own, tables[number], statement.request, summary)
        if batch.request.nonnegative:
            part = replace(part, tables=list(map(partial(_pooled, priced), positions, plans, finest)))
        parts[number] = part
    adjusted = nonnegative_answers(list(parts.values())) if batch.request.nonnegative else None
    answers = adjusted or [part.answer for part in parts.values()]
    statements = [batch.statements[number] for number in parts]
    return {
        number: diagnosable(answer, partial(diagnose, batch.session, statement.logical, statement.request))
        for number, answer, statement in zip(parts, answers, statements, strict=True)
    }


def all_mechanisms(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    """Return the noise of all releases, for a receipt."""
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))


def _pooled(priced: PricedBatch, position: int, plan: PrivatePlan, finest: Estimator) -> PooledTable:
    """Return the tables that a shared release adds up with."""
    if priced.shared[position].is_joined:
        measures, (_, rows) = tuple(range(len(plan.noisy_sums))), table_rows(finest, plan)
        return PooledTable(("groups", position), plan.made_of, measures, rows)
    marginal = priced.private.parts[position].marginal
    if marginal is None:
        return PooledTable(position)
    return PooledTable(("together", marginal.together), marginal.keys, marginal.measures)


def _public(batch: BoundBatch, statement: BoundStatement) -> Answer:
    table = read_public(statement.logical, batch.session.catalog, batch.session.backend)
    return Answer(table, [{}] * table.num_rows, statement.request.confidence, Summary(None, statement.text))
