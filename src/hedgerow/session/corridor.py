"""The corridor: from the text of a statement to its answer. The order of these lines is the protocol.

Text is parsed, its options are checked against the catalog, and it is bound to the schema. A bound statement is priced,
charged, run, released and stored (`Session.buy`, where the charge is durable before a row is read), and an answer is
built from the released numbers alone. A free repeat gets the cached answer, unless the ledger has changed. Two
detours lead back here: `bounds="auto"` finds bounds first, with charges of their own, and `within=` searches for the
price.
"""

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hedgerow.answer import Answer, Note, NoteKind, Summary, diagnosable
from hedgerow.errors import ParseError, carrying, pointing_into
from hedgerow.execution.build_answer import build_answer, paid_summary
from hedgerow.execution.caches import CachedPlan, answer_key, statement_key
from hedgerow.execution.public_tables import read_public
from hedgerow.execution.request import Options, Parameters, Question, Request, merge_options, resolve_request
from hedgerow.execution.session import Session, statement_name
from hedgerow.late import late
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.sql.parse import parse

if TYPE_CHECKING:
    from hedgerow.accuracy_target.accuracy_first import AccuracyFirst
    from hedgerow.calibration.diagnose import diagnose
    from hedgerow.calibration.missing_bounds import Automatic, find_unbounded, require_split
else:
    AccuracyFirst = late("hedgerow.accuracy_target.accuracy_first", "AccuracyFirst")
    Automatic = late("hedgerow.calibration.missing_bounds", "Automatic")
    require_split = late("hedgerow.calibration.missing_bounds", "require_split")
    diagnose = late("hedgerow.calibration.diagnose", "diagnose")
    find_unbounded = late("hedgerow.calibration.missing_bounds", "find_unbounded")


@dataclass(frozen=True)
class BoundStatement:
    """A statement with its options and its plan. `automatic` finds the bounds that it lacks, where it may."""

    text: str
    params: Parameters
    request: Request
    logical: LogicalPlan
    automatic: "Automatic | None" = None


def ask(session: Session, text: str, params: Parameters, options: Options) -> Answer:
    """Answer a statement.

    Privacy: the charge is durable before the first row is read, and is never given back.
    """
    key = answer_key(text, params, options, session.dialect, session.analyst)
    if (cached := session.repeated(key)) is not None:
        return diagnosable(copy(cached.answer), partial(diagnose, session, cached.logical, cached.request))
    statement = bind_statement(session, text, params, options)
    if statement.automatic is None:
        return _answer(session, text, params, statement.request, statement.logical, key)
    with session.single_flight(statement.request, text, repr(params)):
        completed = statement.automatic.completed()
    with carrying(completed.sub_budget.receipt):
        answer = _answer(session, text, params, completed.request, completed.logical)
    bounds = {bounds.of for bounds in completed.bounds}
    limited = set() if completed.max_rows is None else {NoteKind.ROW_LIMIT}
    notes = [note for note in answer.notes if note.of not in bounds and note.kind not in limited]
    notes += [Note(NoteKind.FOUND_BOUNDS, text, text) for text in completed.notes()]
    answer.receipt, answer.notes = completed.summary(answer.receipt), tuple(notes)
    return answer


def bind_statement(session: Session, text: str, params: Parameters, options: Options) -> BoundStatement:
    """Parse a statement, check its options, and bind it within the owner's limits. Reads no private row."""
    catalog = session.catalog
    key = statement_key(text, params, session.dialect) if options.get("bounds") is None else None
    with pointing_into(text):
        if (cached := session.plans.get(key)) is not None:
            request = resolve_request(catalog, **merge_options(cached.options, options, catalog))
            return BoundStatement(text, params, request, cached.plan)
        syntax = parse(text, session.dialect)
        request = resolve_request(catalog, **merge_options(syntax.options, options, catalog))
        try:
            if not request.automatic:
                plan = session.bind(syntax.query, params, request.bounds)
                session.plans.keep(key, CachedPlan(syntax.options, plan))
                return BoundStatement(text, params, request, plan)
            require_split(catalog, request, options)
            bind = partial(session.bind, params=params)
            unbounded = find_unbounded(syntax.query, bind)
        except RecursionError:
            raise ParseError("The statement is nested too deeply.", code="too-deep") from None
    automatic = Automatic(session, text, request, unbounded, bind)
    return BoundStatement(text, params, request, unbounded.plan, automatic if automatic.lacks else None)


def _answer(
    session: Session,
    text: str,
    params: Parameters,
    request: Request,
    logical: LogicalPlan,
    key: Hashable | None = None,
) -> Answer:
    if not logical.releases:
        table = read_public(logical, session.catalog, session.backend)
        return Answer(table, [{}] * table.num_rows, request.confidence, Summary(None, text))
    question = Question.of(text, params, request, key)
    public, remaining = session.public_tables(logical), session.remaining()
    if request.within is not None:
        target = AccuracyFirst(session, question, logical, request, request.within, remaining, public)
        with session.single_flight(request, statement_name(target.sample)):
            answer = target.answer()
    else:
        private = session.price(logical, request, remaining)
        with session.single_flight(request, statement_name(private)):
            stored = session.find(question, private, request)
            if stored is None:
                in_one_group = session.price_in_one_group(logical, request, private, remaining)
                estimators, receipt = session.buy(question, logical, private, remaining)
        if stored is not None:
            answer = session.answer_stored(question, stored, logical, private, request, public, remaining)
        else:
            with carrying(receipt):
                summary = paid_summary(text, private, receipt)
                answer = build_answer(session.postprocess, logical, estimators, public, request, summary, in_one_group)
    return diagnosable(answer, partial(diagnose, session, logical, request))
