"""Errors of the store of accounts. Messages name accounts, requests and places, never a password or a token."""

from pathlib import Path

from hedgerow.errors import HedgerowError


class AccessStoreError(HedgerowError):
    """The accounts or the approval requests could not be read or written."""

    code = "access-store"


def unreachable(place: object) -> AccessStoreError:
    """The file or the server cannot be opened."""
    return AccessStoreError(
        f"The accounts in {place} cannot be read or written.",
        hint="Check the folder, its permissions and the disk."
        if isinstance(place, Path)
        else "Check that the server runs, and that this user may create and change tables in the schema.",
    )


def busy(place: object) -> AccessStoreError:
    """Another program writes for too long."""
    return AccessStoreError(
        f"Another program has locked the accounts in {place} for too long.", hint="Try again when it has finished."
    )


def replaced(path: Path) -> AccessStoreError:
    """The file was moved, removed or replaced while it was open."""
    return AccessStoreError(
        f"The accounts in {path} were moved, removed or replaced while they were in use.",
        hint="Put the file back, or restart the service.",
    )


def readable_by_others(path: Path) -> AccessStoreError:
    """The file's permissions let others read it."""
    return AccessStoreError(
        f"Other users of this machine may read {path}, which holds the verifiers of all accounts.",
        code="access-store-permissions",
        hint=f"Run: chmod 600 {path}. If others could read it for some time, rotate every account.",
    )


def foreign(place: object) -> AccessStoreError:
    """The file or the tables belong to another program."""
    return AccessStoreError(
        f"{place} is not a store of accounts.",
        code="access-store-foreign",
        hint="Name another place as `store` in [serve] of hedgerow.toml; this one was not changed.",
    )


def newer(place: object) -> AccessStoreError:
    """A later version of the program wrote the store."""
    return AccessStoreError(
        f"The accounts in {place} were written by a newer version of hedgerow.",
        code="access-store-newer",
        hint="Upgrade hedgerow on this machine.",
    )


def closed() -> AccessStoreError:
    """The store was closed before."""
    return AccessStoreError("The store of accounts is closed.")


def bad_name(longest: int) -> AccessStoreError:
    """The name of an account cannot be used."""
    return AccessStoreError(
        f"An account needs a name of 1 to {longest} letters, digits and . _ @ + - that opens with a letter or a digit; "
        "the name `default` belongs to questions without a name.",
        code="account-name",
        hint="Use a short name or an e-mail address, such as ann or ann@example.org.",
    )


def account_exists(name: str) -> AccessStoreError:
    """There is an account of this name."""
    return AccessStoreError(
        f"There is already an account {name}.",
        code="account-exists",
        hint=f"Choose another name, or give it new secrets: hedgerow analyst rotate {name}",
    )


def no_account(name: str) -> AccessStoreError:
    """There is no account of this name."""
    return AccessStoreError(
        f"There is no account {name}.", code="no-such-account", hint="List them: hedgerow analyst list"
    )


def too_large(subject: str, hint: str) -> AccessStoreError:
    """An answer, a dashboard or a text is larger than the store keeps."""
    return AccessStoreError(f"{subject} is too large to be stored.", code="too-large-to-keep", hint=hint)
