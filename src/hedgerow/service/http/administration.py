"""Routes of accounts and of requests for approval."""

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

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
from hedgerow.service.http.caller import AuthenticatedCall, Caller
from hedgerow.service.http.responses import as_plain, json_response
from hedgerow.service.http.schemas import AccountBody

routes = APIRouter()


@routes.get("/v1/requests", tags=["requests"], responses=schemas.REQUESTS)
async def list_requests(caller: Caller, dataset: str | None = None, state: RequestState | None = None) -> Response:
    """List questions that need or needed an owner's approval: your own; for owners and auditors, everybody's."""
    requests = await asyncio.to_thread(visible_requests, caller.access, caller.identity, dataset, state)
    return json_response({"requests": [_plain_request(request) for request in requests]})


@routes.get("/v1/requests/{request_id}", tags=["requests"], responses=schemas.REQUEST)
async def one_request(request_id: str, caller: Caller) -> Response:
    """Return one request: the question, its quote, and its state."""
    request = await asyncio.to_thread(visible_request, caller.access, caller.identity, request_id)
    return json_response(_plain_request(request))


@routes.post("/v1/requests/{request_id}/grant", tags=["requests"], responses=schemas.REQUEST)
async def grant(request_id: str, caller: Caller) -> Response:
    """Grant a request: its question is answered once when it is asked again. For owners."""
    return await _decide(caller, request_id, RequestState.GRANTED)


@routes.post("/v1/requests/{request_id}/deny", tags=["requests"], responses=schemas.REQUEST)
async def deny(request_id: str, caller: Caller) -> Response:
    """Deny a request. For owners."""
    return await _decide(caller, request_id, RequestState.DENIED)


async def _decide(caller: AuthenticatedCall, request_id: str, state: RequestState) -> Response:
    decided = await asyncio.to_thread(decide_request, caller.access, caller.identity, request_id, state)
    return json_response(_plain_request(decided))


def _plain_request(request: ApprovalRequest) -> dict[str, Any]:
    document: Any = as_plain(asdict(request))
    return {**document, "state": request.state.value}


@routes.get("/v1/analysts", tags=["accounts"], responses=schemas.ANALYSTS)
async def list_accounts(caller: Caller) -> Response:
    """List the accounts. For owners."""
    accounts = await asyncio.to_thread(visible_accounts, caller.access, caller.identity)
    return json_response({"analysts": [_plain_account(account) for account in accounts]})


@routes.post("/v1/analysts", tags=["accounts"], status_code=201, responses=schemas.CREDENTIALS)
async def add(body: AccountBody, caller: Caller) -> Response:
    """Add an account, and return its password and token. They are shown once. For owners."""
    datasets = None if body.datasets is None else frozenset(body.datasets)
    identity = Identity(body.name, body.role, datasets)
    return _shown(body.name, await asyncio.to_thread(add_account, caller.access, caller.identity, identity), 201)


@routes.delete("/v1/analysts/{name}", tags=["accounts"], status_code=204, responses=schemas.REMOVED)
async def remove(name: str, caller: Caller) -> Response:
    """Remove an account. Its charges stay in the ledger. For owners."""
    await asyncio.to_thread(remove_account, caller.access, caller.identity, name)
    return Response(status_code=204)


@routes.post("/v1/analysts/{name}/rotate", tags=["accounts"], responses=schemas.ROTATED)
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
