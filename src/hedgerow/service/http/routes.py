"""Routes of the API: datasets (tables, prices, answers, budgets, ledgers), accounts, and requests for approval."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from hedgerow.answer.exchange import dump_batch
from hedgerow.errors import ParameterError, pointing_into
from hedgerow.exchange import decode_params, encode
from hedgerow.execution.request import require_known
from hedgerow.ledger.history import dump_budget
from hedgerow.service.access.model import ApprovalRequest, Credentials, Identity, RequestState, UserAccount
from hedgerow.service.access.rights import (
    add_account,
    decide_request,
    remove_account,
    rotate_account,
    visible_accounts,
    visible_request,
    visible_requests,
)
from hedgerow.service.http import schemas
from hedgerow.service.http.authentication import DATASET
from hedgerow.service.http.caller import AuthenticatedCall, Caller
from hedgerow.service.http.responses import JSON, answer_response, as_plain, chosen_format, json_response
from hedgerow.service.http.schemas import (
    AccountBody,
    AskedBatchBody,
    BatchBody,
    ForecastBody,
    QueryBody,
    QuoteBody,
    StatementBody,
)
from hedgerow.session.explain import dump_explanation
from hedgerow.session.http_transport import EXACT
from hedgerow.session.quote import Quote, dump_quote
from hedgerow.session.report import Report

INTERFACE = "http"
LINES = 500
"""Number of lines of a ledger that are read at once."""

router = APIRouter()


@router.get("/v1/me", tags=["accounts"], responses=schemas.ME)
async def me(caller: Caller) -> Response:
    """Tell who you are: name, role, and the datasets that you may use."""
    identity = caller.identity
    datasets = caller.gateway.datasets(identity)
    return json_response({"name": identity.name, "role": identity.role.value, "datasets": datasets})


@router.get("/v1/datasets", tags=["datasets"], responses=schemas.DATASETS)
async def list_datasets(caller: Caller) -> Response:
    """List the datasets that you may use."""
    names = caller.gateway.datasets(caller.identity)
    return json_response({"datasets": [_about(caller, name) for name in names]})


@router.get(DATASET, tags=["datasets"], responses=schemas.DATASET)
async def dataset_facts(dataset: str, caller: Caller) -> Response:
    """Tell the dialect of one dataset, and in whose name you ask it."""
    return json_response(_about(caller, dataset))


def _about(caller: AuthenticatedCall, dataset: str) -> dict[str, Any]:
    view = caller.gateway.view(caller.identity, dataset)
    return {"name": dataset, "analyst": caller.identity.name, "dialect": view.dialect}


@router.get(f"{DATASET}/tables", tags=["datasets"], responses=schemas.TABLES)
async def tables(dataset: str, caller: Caller) -> Response:
    """List the tables and columns that may be asked about, with what their owner declares of them. Free."""
    listed = caller.gateway.tables(caller.identity, dataset)
    if caller.exact:
        return json_response({"tables": encode(tuple(listed))}, media_type=EXACT)
    return json_response({"tables": [asdict(table) for table in listed]})


@router.post(f"{DATASET}/query", tags=["datasets"], responses=schemas.QUERY)
async def query(
    dataset: str,
    body: QueryBody,
    caller: Caller,
    intervals: Annotated[bool, Query(description="Leave the intervals out if false.")] = True,  # noqa: FBT002 - a query parameter
) -> Response:
    """Ask a question and pay for it. The same question asked again is free and has the same digits.

    The answer comes as JSON, CSV, an Arrow stream or Parquet, by the header Accept. A client that closes the connection
    cancels its statement.
    """
    media_type = chosen_format(caller.request.headers.get("accept"))
    statements = caller.parts.statements
    named = _named(body)
    statements.reserve(caller.identity, body.statement_id)
    statement = caller.gateway.submit(caller.identity, dataset, body.sql, decode_params(body.params), **named)
    answer = await statements.answer(caller.identity, body.statement_id, statement, caller.request)
    # intervals are computed when they are first read, which may take a while
    return await asyncio.to_thread(partial(answer_response, answer, media_type, intervals=intervals))


@router.post(f"{DATASET}/quote", tags=["datasets"], responses=schemas.QUOTE)
async def quote(dataset: str, body: QuoteBody, caller: Caller) -> Response:
    """Tell what a statement would cost, whether that fits, and how wide its intervals would be. Free."""
    gateway, words, named = caller.gateway, (body.sql, decode_params(body.params)), _named(body)
    media_type = EXACT if caller.exact else JSON
    if body.errors_at is not None:
        errors = await gateway.errors_at(caller.identity, dataset, *words, at=body.errors_at, **named)
        return json_response({"errors_at": encode(errors) if caller.exact else errors}, media_type=media_type)
    quoted = await gateway.quote(caller.identity, dataset, *words, **named)
    return json_response(_quote(quoted, exact=caller.exact), media_type=media_type)


@router.post(f"{DATASET}/batch", tags=["datasets"], responses=schemas.BATCH)
async def batch(dataset: str, body: AskedBatchBody, caller: Caller) -> Response:
    """Ask several questions together, for one charge: what they share is measured and paid for once.

    The same batch asked again is free and has the same digits. A client that closes the connection cancels it.
    """
    statements, report, exact = caller.parts.statements, _report(body), caller.exact
    statements.reserve(caller.identity, body.statement_id)
    statement = caller.gateway.submit_batch(caller.identity, dataset, report, **_batch_options(body))
    answers = await statements.answer(caller.identity, body.statement_id, statement, caller.request)
    content = await asyncio.to_thread(lambda: dump_batch(answers) if exact else answers.to_dict())
    return json_response(content, media_type=EXACT if exact else JSON)


@router.post(f"{DATASET}/quote-batch", tags=["datasets"], responses=schemas.QUOTE_BATCH)
async def quote_batch(dataset: str, body: BatchBody, caller: Caller) -> Response:
    """Return the price of several questions together, whether the budget covers it, and interval widths. Free."""
    quoted = await caller.gateway.quote_batch(caller.identity, dataset, _report(body), **_batch_options(body))
    if caller.exact:
        return json_response(encode(quoted), media_type=EXACT)
    return json_response(quoted.to_dict())


def _report(body: BatchBody) -> Report:
    if body.report is not None and body.queries is None:
        return Report.parse(body.report)
    if body.queries is not None and body.report is None:
        return Report.of(body.queries)
    raise ParameterError("A batch takes queries or a report.", code="bad-batch", hint="Send one of the two, not both.")


def _batch_options(body: BatchBody) -> dict[str, Any]:
    batch_options = {"weights": body.weights, "minimise": body.minimise, "add_up": body.add_up}
    return {**batch_options, **_named(body)}


def _quote(quoted: Quote, *, exact: bool) -> dict[str, Any]:
    return dump_quote(quoted) if exact else {**quoted.to_dict(), "notes": list(quoted.notes)}


@router.post(f"{DATASET}/explain", tags=["datasets"], responses=schemas.EXPLAIN)
async def explain(dataset: str, body: StatementBody, caller: Caller) -> Response:
    """Show how a statement would be answered: plan, limits, noise, price and SQL. Free."""
    explained = await caller.gateway.explain(
        caller.identity, dataset, body.sql, decode_params(body.params), **_named(body)
    )
    if caller.exact:
        return json_response(dump_explanation(explained), media_type=EXACT)
    return json_response({**encode(explained), "quote": _quote(explained.quote, exact=False)})


@router.post(f"{DATASET}/describe", tags=["datasets"], responses=schemas.DESCRIBE)
async def describe(dataset: str, body: StatementBody, caller: Caller) -> Response:
    """List the columns that a statement would answer with: name, type, and whether noise is in them. Free."""
    described = await caller.gateway.describe(
        caller.identity, dataset, body.sql, decode_params(body.params), **_named(body)
    )
    return json_response(encode(described), media_type=EXACT if caller.exact else JSON)


@router.post(f"{DATASET}/forecast", tags=["datasets"], responses=schemas.FORECAST)
async def forecast(dataset: str, body: ForecastBody, caller: Caller) -> Response:
    """Total the charges of a list of statements that is fixed in advance. Free."""
    forecasted = await caller.gateway.forecast(caller.identity, dataset, body.queries, **_named(body))
    if caller.exact:
        return json_response(encode(forecasted), media_type=EXACT)
    return json_response(forecasted.to_dict())


@router.delete("/v1/statements/{statement}", tags=["datasets"], status_code=204, responses=schemas.CANCEL)
async def cancel(statement: str, caller: Caller) -> Response:
    """Cancel a running statement by the `statement_id` that was sent with it. A charge stays."""
    caller.parts.statements.cancel(caller.identity, statement)
    return Response(status_code=204)


@router.get(f"{DATASET}/budget", tags=["datasets"], responses=schemas.BUDGET)
async def budget(dataset: str, caller: Caller) -> Response:
    """Tell how much is spent and left: of your own cap; for owners and auditors, of everybody's."""
    view = await caller.gateway.budget(caller.identity, dataset, interface=INTERFACE)
    if caller.exact:
        return json_response(await asyncio.to_thread(dump_budget, view), media_type=EXACT)
    left = await asyncio.to_thread(lambda: view.questions_left)
    return json_response({**view.to_dict(), "questions_left": None if left is None else asdict(left)})


@router.get(f"{DATASET}/history", tags=["datasets"], responses=schemas.HISTORY)
async def history(dataset: str, caller: Caller) -> Response:
    """List your charges in order; for owners and auditors, everybody's."""
    entries = await caller.gateway.history(caller.identity, dataset, interface=INTERFACE)
    return json_response({"history": encode(list(entries))}, media_type=EXACT if caller.exact else JSON)


@router.get(f"{DATASET}/verify", tags=["ledger"], responses=schemas.VERIFY)
async def verify(dataset: str, caller: Caller) -> Response:
    """Check every hash, link, sum and stored release of the ledger. For owners and auditors."""
    return json_response(asdict(await caller.gateway.verify(caller.identity, dataset, interface=INTERFACE)))


@router.get(f"{DATASET}/export", tags=["ledger"], responses=schemas.EXPORT)
async def export(dataset: str, caller: Caller) -> Response:
    """Return the whole ledger as lines of JSON. For owners and auditors."""
    lines = caller.gateway.export(caller.identity, dataset)
    return StreamingResponse(_pages(lines), media_type="application/x-ndjson")


def _pages(lines: Iterator[str]) -> Iterator[str]:
    while page := list(islice(lines, LINES)):
        yield "".join(f"{line}\n" for line in page)


def _named(body: StatementBody | ForecastBody | BatchBody) -> dict[str, Any]:
    """Return the arguments of the gateway that a body gives by name: no option but those of statements."""
    with pointing_into(getattr(body, "sql", None)):
        require_known(body.options)
    return {"interface": INTERFACE, "dialect": body.dialect, **body.options}


@router.get("/v1/requests", tags=["requests"], responses=schemas.REQUESTS)
async def list_requests(caller: Caller, dataset: str | None = None, state: RequestState | None = None) -> Response:
    """List questions that need or needed an owner's approval: your own; for owners and auditors, everybody's."""
    requests = await asyncio.to_thread(visible_requests, caller.access, caller.identity, dataset, state)
    return json_response({"requests": [_plain_request(request) for request in requests]})


@router.get("/v1/requests/{request_id}", tags=["requests"], responses=schemas.REQUEST)
async def one_request(request_id: str, caller: Caller) -> Response:
    """Return one request: the question, its quote, and its state."""
    request = await asyncio.to_thread(visible_request, caller.access, caller.identity, request_id)
    return json_response(_plain_request(request))


@router.post("/v1/requests/{request_id}/grant", tags=["requests"], responses=schemas.REQUEST)
async def grant(request_id: str, caller: Caller) -> Response:
    """Grant a request: its question is answered once when it is asked again. For owners."""
    return await _decide(caller, request_id, RequestState.GRANTED)


@router.post("/v1/requests/{request_id}/deny", tags=["requests"], responses=schemas.REQUEST)
async def deny(request_id: str, caller: Caller) -> Response:
    """Deny a request. For owners."""
    return await _decide(caller, request_id, RequestState.DENIED)


async def _decide(caller: AuthenticatedCall, request_id: str, state: RequestState) -> Response:
    decided = await asyncio.to_thread(decide_request, caller.access, caller.identity, request_id, state)
    return json_response(_plain_request(decided))


def _plain_request(request: ApprovalRequest) -> dict[str, Any]:
    document: Any = as_plain(asdict(request))
    return {**document, "state": request.state.value}


@router.get("/v1/analysts", tags=["accounts"], responses=schemas.ANALYSTS)
async def list_accounts(caller: Caller) -> Response:
    """List the accounts. For owners."""
    accounts = await asyncio.to_thread(visible_accounts, caller.access, caller.identity)
    return json_response({"analysts": [_plain_account(account) for account in accounts]})


@router.post("/v1/analysts", tags=["accounts"], status_code=201, responses=schemas.CREDENTIALS)
async def add(body: AccountBody, caller: Caller) -> Response:
    """Add an account, and return its password and token. They are shown once. For owners."""
    datasets = None if body.datasets is None else frozenset(body.datasets)
    identity = Identity(body.name, body.role, datasets)
    return _shown(body.name, await asyncio.to_thread(add_account, caller.access, caller.identity, identity), 201)


@router.delete("/v1/analysts/{name}", tags=["accounts"], status_code=204, responses=schemas.REMOVED)
async def remove(name: str, caller: Caller) -> Response:
    """Remove an account. Its charges stay in the ledger. For owners."""
    await asyncio.to_thread(remove_account, caller.access, caller.identity, name)
    return Response(status_code=204)


@router.post("/v1/analysts/{name}/rotate", tags=["accounts"], responses=schemas.ROTATED)
async def rotate(name: str, caller: Caller) -> Response:
    """Replace password and token of an account; the old ones end at once. For owners."""
    return _shown(name, await asyncio.to_thread(rotate_account, caller.access, caller.identity, name), 200)


def _shown(name: str, credentials: Credentials, status: int) -> Response:
    return json_response({"name": name, "password": credentials.password, "token": credentials.token}, status)


def _plain_account(account: UserAccount) -> dict[str, Any]:
    identity = account.identity
    return {
        "name": identity.name,
        "role": identity.role.value,
        "datasets": None if identity.datasets is None else sorted(identity.datasets),
        "created": account.created.isoformat(),
    }
