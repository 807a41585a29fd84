"""One open page: who looks at it, and which dataset it shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from hedgerow.service.access.dashboards import DashboardStore
from hedgerow.service.access.model import Identity
from hedgerow.service.catalog_file import CatalogFiles
from hedgerow.service.console.questions import with_values
from hedgerow.service.console.sign_in import Sessions
from hedgerow.service.errors import AccessError
from hedgerow.service.gateway import Gateway

INTERFACE = "console"


@dataclass(frozen=True)
class ConsoleParts:
    """Everything that pages are made of.

    Attributes:
        gateway: The datasets.
        sessions: The sessions of everybody.
        boards: Kept answers and dashboards.
        catalogs: The files of the catalogs.
        api: The address of the HTTP API; None where there is none.
    """

    gateway: Gateway
    sessions: Sessions
    boards: DashboardStore
    catalogs: CatalogFiles
    api: str | None = None


@dataclass
class Visit:
    """One open page of somebody who signed in.

    Attributes:
        parts: What all pages share.
        session: The identifier of the session.
        dataset: The dataset that the page shows.
        query: The parameters of the address.
        statement: The statement that the address brought along.
        dark: True for dark colours, False for light ones; None for those of the browser.
    """

    parts: ConsoleParts
    session: str | None
    dataset: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    statement: str | None = None
    dark: bool | None = None

    @property
    def gateway(self) -> Gateway:
        """The datasets."""
        return self.parts.gateway

    @property
    def api(self) -> str | None:
        """The address of the HTTP API; None where there is none."""
        return self.parts.api

    @property
    def identity(self) -> Identity:
        """The person who looks at the page; an error if the session has ended since it was opened."""
        identity = self.parts.sessions.identity(self.session)
        if identity is None:
            raise AccessError("The session has ended.", code="login-refused", hint="Sign in again.")
        return identity

    def link(self, address: str, **parameters: str) -> str:
        """Return the address of a page about this dataset."""
        return f"{address}?{urlencode({'dataset': self.dataset, **parameters})}"

    def editor(self, sql: str, params: object = None) -> str:
        """Return the address of the editor with a question in it."""
        return self.link("/", sql=with_values(sql, params, self.gateway.view(self.identity, self.dataset).dialect))
