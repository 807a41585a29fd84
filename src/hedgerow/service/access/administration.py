"""Rights over accounts and requests, for every interface: who may see, make and decide them.

An owner of some datasets manages the accounts and requests of these alone: nobody grants more than they have. An
account or request that the caller may not see is refused with the same message as one that does not exist. Every change
is reported to the store's `observe_change`, for the log.
"""

from hedgerow.service.access.model import (
    AccessStore,
    ApprovalRequest,
    Credentials,
    Identity,
    RequestState,
    Role,
    UserAccount,
)
from hedgerow.service.errors import AccessError, ServiceError


def require_owner(identity: Identity) -> None:
    """Refuse everybody but owners."""
    if identity.role is not Role.OWNER:
        raise AccessError("Only an owner may do this.", hint="Use the account of an owner.")


def visible_accounts(access: AccessStore, owner: Identity) -> list[UserAccount]:
    """Return the accounts that an owner manages."""
    require_owner(owner)
    return [account for account in access.accounts() if _manages(owner, account.identity)]


def add_account(access: AccessStore, owner: Identity, identity: Identity) -> Credentials:
    """Add an account, and return its password and token, which are shown once."""
    require_owner(owner)
    if not _manages(owner, identity):
        raise AccessError(
            "An owner of some datasets adds accounts for these alone.", hint="Name datasets that you may use."
        )
    credentials = access.add(identity)
    access.observe_change(owner.name, "add-account", identity.name)
    return credentials


def rotate_account(access: AccessStore, owner: Identity, name: str) -> Credentials:
    """Replace password and token of an account; the old ones end at once."""
    _require_managed(access, owner, name)
    credentials = access.rotate(name)
    access.observe_change(owner.name, "rotate-account", name)
    return credentials


def remove_account(access: AccessStore, owner: Identity, name: str) -> None:
    """Remove an account. Its charges stay in the ledger."""
    _require_managed(access, owner, name)
    access.remove(name)
    access.observe_change(owner.name, "remove-account", name)


def visible_requests(
    access: AccessStore, identity: Identity, dataset: str | None = None, state: RequestState | None = None
) -> list[ApprovalRequest]:
    """Return requests for approval: an analyst's own, and for owners and auditors those of their datasets."""
    return [request for request in access.requests(dataset, state) if _sees(identity, request)]


def visible_request(access: AccessStore, identity: Identity, identifier: str) -> ApprovalRequest:
    """Return one request, if the caller may see it."""
    request = access.request(identifier)
    if request is None or not _sees(identity, request):
        raise AccessError("There is no such request.", code="no-such-request", hint="List those that you may see.")
    return request


def decide_request(access: AccessStore, owner: Identity, identifier: str, state: RequestState) -> ApprovalRequest:
    """Grant or deny a request, and return it with its new state."""
    require_owner(owner)
    visible_request(access, owner, identifier)
    if not access.decide(identifier, state, owner.name):
        raise ServiceError(
            "The request is not pending any more.", code="request-decided", hint="Read it to see who decided."
        )
    access.observe_change(owner.name, f"{state.value}-request", identifier)
    return visible_request(access, owner, identifier)


def _require_managed(access: AccessStore, owner: Identity, name: str) -> None:
    require_owner(owner)
    account = access.account(name)
    if account is None or not _manages(owner, account.identity):
        raise AccessError("There is no such account.", code="no-such-account", hint="List those that you manage.")


def _manages(owner: Identity, other: Identity) -> bool:
    """Return True if an account may use no dataset that its owner may not use."""
    return owner.datasets is None or (other.datasets is not None and other.datasets <= owner.datasets)


def _sees(identity: Identity, request: ApprovalRequest) -> bool:
    own = identity.role is not Role.ANALYST or request.analyst == identity.name
    return own and identity.may_use(request.dataset)
