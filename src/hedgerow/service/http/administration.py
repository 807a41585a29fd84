"""Routes of accounts and of requests for approval."""

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from hedgerow.service.access.model import ApprovalRequest, Credentials, Identity, RequestState, Role, UserAccount
from hedgerow.service.errors import AccessError, ServiceError
from hedgerow.service.http import examples
from hedgerow.service.http.bodies import AccountBody
from hedgerow.service.http.caller import AuthenticatedCall, Caller
from hedgerow.service.http.responses import as_plain, json_response

routes = APIRouter()


@routes.get("/v1/requests", tags=["requests"], responses=examples.REQUESTS)
async def list_requests(caller: Caller, dataset: str | None = None, state: RequestState | None = None) -> Response:
    """List questions that waited or wait for an owner's word: your own; for owners and auditors, everybody's."""
    requests = await asyncio.to_thread(caller.access.requests, dataset, state)
    return json_response({"requests": [_plain_request(one) for one in requests if _may_see(caller.identity, one)]})


@routes.get("/v1/requests/{request_id}", tags=["requests"], responses=examples.REQUEST)
async def one_request(request_id: str, caller: Caller) -> Response:
    """Return one request: the question, its quote, and its state."""
    return json_response(_plain_request(await _request(caller, request_id)))


@routes.post("/v1/requests/{request_id}/grant", tags=["requests"], responses=examples.REQUEST)
async def grant(request_id: str, caller: Caller) -> Response:
    """Grant a request: its question is answered once when it is asked again. For owners."""
    return await _decide(caller, request_id, RequestState.GRANTED)


@routes.post("/v1/requests/{request_id}/deny", tags=["requests"], responses=examples.REQUEST)
async def deny(request_id: str, caller: Caller) -> Response:
    """Deny a request. For owners."""
    return await _decide(caller, request_id, RequestState.DENIED)


async def _decide(caller: AuthenticatedCall, request_id: str, state: RequestState) -> Response:
    request = await _request(caller, request_id)
    if not await asyncio.to_thread(caller.access.decide, request.id, state, caller.identity.name):
        raise ServiceError(
            "The request is not pending any more.", code="request-decided", hint="Read it to see who decided."
        )
    return json_response(_plain_request(await _request(caller, request_id)))


async def _request(caller: AuthenticatedCall, request_id: str) -> ApprovalRequest:
    """Return a request that the caller may see; another one is refused in the same words as one that is not there."""
    request = await asyncio.to_thread(caller.access.request, request_id)
    if request is None or not _may_see(caller.identity, request):
        raise AccessError("There is no such request.", code="no-such-request", hint="List them: GET /v1/requests.")
    return request


def _may_see(identity: Identity, request: ApprovalRequest) -> bool:
    own = identity.role is not Role.ANALYST or request.analyst == identity.name
    return own and identity.may_use(request.dataset)


def _plain_request(request: ApprovalRequest) -> dict[str, Any]:
    document: Any = as_plain(asdict(request))
    return {**document, "state": request.state.value}


@routes.get("/v1/analysts", tags=["accounts"], responses=examples.ANALYSTS)
async def list_accounts(caller: Caller) -> Response:
    """List the accounts. For owners."""
    accounts = await asyncio.to_thread(caller.access.accounts)
    return json_response(
        {"analysts": [_plain_account(one) for one in accounts if _within(caller.identity, one.identity)]}
    )


@routes.post("/v1/analysts", tags=["accounts"], status_code=201, responses=examples.CREDENTIALS)
async def add_account(body: AccountBody, caller: Caller) -> Response:
    """Add an account, and return its password and token. They are shown once. For owners."""
    datasets = None if body.datasets is None else frozenset(body.datasets)
    identity = Identity(body.name, body.role, datasets)
    if not _within(caller.identity, identity):
        raise AccessError(
            "An owner of some datasets adds accounts for these alone.", hint="Name datasets that you may use."
        )
    return _shown(body.name, await asyncio.to_thread(caller.access.add, identity), 201)


@routes.delete("/v1/analysts/{name}", tags=["accounts"], status_code=204, responses=examples.REMOVED)
async def remove_account(name: str, caller: Caller) -> Response:
    """Remove an account. Its charges stay in the ledger. For owners."""
    await _account(caller, name)
    await asyncio.to_thread(caller.access.remove, name)
    return Response(status_code=204)


@routes.post("/v1/analysts/{name}/rotate", tags=["accounts"], responses=examples.ROTATED)
async def rotate(name: str, caller: Caller) -> Response:
    """Replace password and token of an account; the old ones end at once. For owners."""
    await _account(caller, name)
    return _shown(name, await asyncio.to_thread(caller.access.rotate, name), 200)


async def _account(caller: AuthenticatedCall, name: str) -> UserAccount:
    account = await asyncio.to_thread(caller.access.account, name)
    if account is None or not _within(caller.identity, account.identity):
        raise AccessError("There is no such account.", code="no-such-account", hint="List them: GET /v1/analysts.")
    return account


def _within(owner: Identity, other: Identity) -> bool:
    """Return True if an account may use no dataset that its owner may not use: nobody grants more than they have."""
    return owner.datasets is None or (other.datasets is not None and other.datasets <= owner.datasets)


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
