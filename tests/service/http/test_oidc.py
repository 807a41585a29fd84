"""Tokens of an identity provider: one that runs here, with a key of its own."""

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from hedgerow.service.access.model import Role
from hedgerow.service.http.authentication import OidcSettings, OidcVerifier

AUDIENCE = "hedgerow"


class Issuer:
    """An OpenID Connect provider: its discovery document, its keys, and tokens signed by it."""

    def __init__(self):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.paths = []
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.paths.append(self.path)
                documents = {
                    "/realm/.well-known/openid-configuration": {
                        "issuer": issuer.name,
                        "jwks_uri": f"{issuer.name}/keys",
                    },
                    "/realm/keys": {"keys": [{**issuer.public, "kid": "one", "use": "sig", "alg": "RS256"}]},
                }
                known = documents.get(self.path)
                self.send_response(200 if known else 404)
                self.end_headers()
                self.wfile.write(json.dumps(known).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.name = f"http://127.0.0.1:{self.server.server_address[1]}/realm"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def public(self):
        return json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))

    def token(self, *, key=None, algorithm="RS256", kid="one", **claims):
        now = int(time.time())
        known = {
            "iss": self.name,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + 300,
            "sub": "ada",
            "groups": ["researchers"],
        }
        kept = {name: value for name, value in {**known, **claims}.items() if value is not None}
        return jwt.encode(kept, self.key if key is None else key, algorithm, headers={"kid": kid})

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture(scope="module")
def issuer():
    running = Issuer()
    yield running
    running.close()


@pytest.fixture(scope="module")
def service(open_service, issuer):
    roles = {"researchers": Role.ANALYST, "inspectors": Role.AUDITOR, "data-owners": Role.OWNER}
    settings = OidcSettings(issuer.name, AUDIENCE, roles=roles, datasets=frozenset({"hospital"}))
    with open_service(oidc=settings) as running:
        yield running


def me(service, token):
    return service.call("GET", "/v1/me", token=token)


def test_a_token_of_the_provider_is_an_identity(service, issuer):
    assert me(service, issuer.token()).content == {"name": "ada", "role": "analyst", "datasets": ["hospital"]}
    answered = service.call(
        "POST", "/v1/datasets/hospital/query", {"sql": "SELECT COUNT(*) AS n FROM patients"}, token=issuer.token()
    )
    assert answered.status == 200
    history = service.call("GET", "/v1/datasets/hospital/history", by="olive").content["history"]
    assert history[-1]["analyst"] == "ada"


def test_tokens_of_the_service_are_accepted_as_well(service):
    assert service.call("GET", "/v1/me").content["name"] == "ada"


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["researchers", "data-owners"], "owner"),
        (["inspectors", "researchers"], "auditor"),
        ("researchers", "analyst"),
    ],
)
def test_of_several_roles_the_strongest_counts(service, issuer, groups, role):
    assert me(service, issuer.token(groups=groups)).content["role"] == role


@pytest.mark.parametrize("groups", [[], ["strangers"], None, {"researchers": 1}, [["researchers"]], 5])
def test_who_has_no_role_is_refused(service, issuer, groups):
    refused = me(service, issuer.token(groups=groups))
    assert (refused.status, refused.content["code"]) == (403, "not-allowed")


def unsigned(issuer, algorithm):
    """A token without a signature, that says so in one way or another."""
    head, body, _ = issuer.token().split(".")
    fields = json.loads(base64.urlsafe_b64decode(f"{head}=="))
    head = base64.urlsafe_b64encode(json.dumps({**fields, "alg": algorithm}).encode()).decode().rstrip("=")
    return f"{head}.{body}."


def with_public_key_as_secret(issuer):
    """A token signed with what the provider publishes, as if it were a shared secret."""
    pem = issuer.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def part(document):
        return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=")

    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    signed = part({"alg": "HS256", "typ": "JWT", "kid": "one"}) + b"." + part(claims)
    signature = base64.urlsafe_b64encode(hmac.new(pem, signed, hashlib.sha256).digest()).rstrip(b"=")
    return (signed + b"." + signature).decode()


def own_key(issuer):
    return issuer.token(key=rsa.generate_private_key(public_exponent=65537, key_size=2048))


def tampered(issuer):
    head, _, signature = issuer.token().split(".")
    _, body, _ = issuer.token(sub="olive").split(".")
    return f"{head}.{body}.{signature}"


FORGED = {
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - 3600),
    "not yet valid": lambda issuer: issuer.token(nbf=int(time.time()) + 3600),
    "without an end": lambda issuer: issuer.token(exp=None),
    "of another issuer": lambda issuer: issuer.token(iss="https://elsewhere.example"),
    "without an issuer": lambda issuer: issuer.token(iss=None),
    "for another audience": lambda issuer: issuer.token(aud="another"),
    "for nobody": lambda issuer: issuer.token(aud=None),
    "without a name": lambda issuer: issuer.token(sub=None),
    "with an empty name": lambda issuer: issuer.token(sub=""),
    "with a name that breaks lines": lambda issuer: issuer.token(sub="ada\nbob"),
    "signed by another key": own_key,
    "with an unknown key": lambda issuer: issuer.token(kid="two"),
    "tampered with": tampered,
    "unsigned": lambda issuer: unsigned(issuer, "none"),
    "unsigned, spelt otherwise": lambda issuer: unsigned(issuer, "nOnE"),
    "signed with the public key": with_public_key_as_secret,
    "no token at all": lambda _: "a.b.c",
    "two dots": lambda _: "..",
    "endless": lambda issuer: issuer.token(pad="x" * 20_000),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_token_is_refused_in_the_same_words(service, issuer, kind):
    refused = me(service, FORGED[kind](issuer))
    assert (refused.status, refused.content["code"]) == (401, "login-refused")
    assert refused.content["detail"].startswith("The token is not valid for this service.")


def test_keys_are_fetched_once_however_many_tokens_come(service, issuer):
    me(service, issuer.token())
    before = len(issuer.paths)
    for _ in range(3):
        me(service, issuer.token())
        me(service, issuer.token(kid="unknown"))
    assert len(issuer.paths) == before


def test_a_provider_that_cannot_be_asked_lets_nobody_in(issuer):
    for discovery in (f"{issuer.name}/nothing", "http://127.0.0.1:1/realm", "http://login.example.org/realm"):
        verifier = OidcVerifier(OidcSettings(discovery, AUDIENCE, default_role=Role.ANALYST))
        with pytest.raises(Exception, match="identity provider") as refused:
            verifier.identity(issuer.token())
        assert refused.value.code == "login-refused"


def test_shared_secrets_cannot_be_allowed(issuer):
    for algorithm in ("HS256", "none"):
        with pytest.raises(ValueError, match="Algorithms"):
            OidcVerifier(OidcSettings(issuer.name, AUDIENCE, algorithms=(algorithm,)))
