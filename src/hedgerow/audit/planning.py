"""From a statement to the pairs of neighbours that it is audited on."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, replace

from hedgerow.audit.blueprint import Blueprint
from hedgerow.audit.constants import columns_read, tables_read
from hedgerow.audit.layout import sheets
from hedgerow.audit.limits import CrowdLimits
from hedgerow.audit.pairs import ODD, Material, Pair, pairs
from hedgerow.audit.probe import Probe, survey_texts
from hedgerow.audit.runs import AuditQuestion, asking
from hedgerow.audit.search import Search, extremes, others
from hedgerow.audit.values import pools
from hedgerow.audit.watch import WatchedPurchase
from hedgerow.errors import ConditionNotMet
from hedgerow.execution.run import compile_steps

MOST_GROUPS = 24
AGAIN_AS_MANY = 3
"""How many times as many groups as count the person in too many groups is in."""


@dataclass(frozen=True)
class AuditPlan:
    """The pairs to audit, and the kinds of those whose newcomer changes nothing that is measured."""

    pairs: tuple[Pair, ...]
    left_out: tuple[str, ...]


def plan(blueprint: Blueprint, question: AuditQuestion, bought: WatchedPurchase, kinds: Collection[str]) -> AuditPlan:
    """Make up people whom the statement reads, and put them into pairs."""
    texts = _exact_texts(blueprint, question)
    limits = CrowdLimits.of(bought.private.parts)
    used = tuple(sorted(columns_read(bought.logical)))
    drawn = sheets(blueprint, tables_read(bought.logical), used)
    cells = pools(blueprint, bought.logical)
    free = tuple((sheet.name, name) for sheet in drawn for name in sheet.free)
    cells = {place: cells[place] for place in free}
    used = tuple(place for place in used if place in cells)
    with closing(blueprint.build()) as connection:
        probe = Probe(blueprint, drawn, texts, connection)
        found = Search(probe, cells, used).people(_wanted(bought, limits))
        if not found:
            raise ConditionNotMet(
                "Nobody could be made up whose rows the query reads, so there is nothing to compare.",
                condition="rows that the query reads",
                hint="Audit it with simpler conditions in WHERE.",
            )
        read = {place: cells[place] for place in used}
        ends, more = extremes(probe, read, found[0]), others(probe, read, found[0])
        made = pairs(Material(drawn, tuple(found), ends, more, cells, used, limits), kinds)
        telling = [pair for pair in made if pair.kind == ODD or _tells(probe, pair)]
    return AuditPlan(tuple(telling), tuple(pair.kind for pair in made if pair not in telling))


def _wanted(bought: WatchedPurchase, limits: CrowdLimits) -> int:
    """In how many different groups people are looked for."""
    if not any(part.release.keys for part in bought.private.parts):
        return 1
    return min(MOST_GROUPS, max(4, AGAIN_AS_MANY * limits.groups)) if limits.several else 2


def _exact_texts(blueprint: Blueprint, question: AuditQuestion) -> tuple[str, ...]:
    """The statement's own SQL, for groups of any size."""
    defaults = replace(blueprint.catalog.defaults, min_frequency=1)
    anybody = replace(question, options={**question.options, "min_frequency": 1})
    with asking(blueprint, replace(blueprint.catalog, defaults=defaults), anybody) as asker:
        (bought,) = asker.ask()
        steps = compile_steps(bought.private, asker.backend)
    return survey_texts([text for step in steps for text in step.texts()])


def _tells(probe: Probe, pair: Pair) -> bool:
    """Whether the newcomer changes any exact number."""
    without, joined = pair.sides()
    return probe.of(without) != probe.of(joined)
