"""Passwords and tokens are generated, and only what cannot be turned back is kept of them."""

import base64
import hashlib
import hmac
import stringprep

from hedgerow.service.access.model import (
    ALPHABET,
    PASSWORD_LENGTH,
    generate_credentials,
    hash_token,
    password_matches,
    same_secret,
    scram_verifier,
)


def test_the_verifier_is_that_of_rfc_7677():
    """The example of section 3 of RFC 7677: its proof and its server signature follow from our verifier."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    verifier = scram_verifier("pencil", salt=salt, iterations=4096)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    message = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}".encode()
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    signature = hmac.digest(verifier.stored_key, message, "sha256")
    client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == verifier.stored_key
    server_signature = hmac.digest(verifier.server_key, message, "sha256")
    assert base64.b64encode(server_signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_generated_secrets_differ_and_are_long_enough():
    several = [generate_credentials() for _ in range(50)]
    secrets = [(credentials.password, credentials.token) for credentials in several]
    assert len({secret for pair in secrets for secret in pair}) == 100
    bits_of_a_password = PASSWORD_LENGTH * len(ALPHABET).bit_length() - PASSWORD_LENGTH
    assert bits_of_a_password >= 120
    for credentials in several:
        assert len(base64.urlsafe_b64decode(credentials.token.removeprefix("hr_") + "=")) == 32
        assert set(credentials.password) <= set(ALPHABET)


def test_saslprep_leaves_passwords_as_they_are():
    tables = (stringprep.in_table_b1, stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_a1)
    assert ALPHABET.isascii()
    assert not any(table(letter) for letter in ALPHABET for table in tables)


def test_only_the_password_matches_its_verifier():
    verifier = scram_verifier("right")
    assert password_matches("right", verifier)
    assert not password_matches("wrong", verifier)
    assert scram_verifier("right").salt != verifier.salt


def test_secrets_are_compared_whole():
    assert same_secret(hash_token("a"), hash_token("a"))
    assert not same_secret(hash_token("a"), hash_token("b"))
    assert not same_secret(b"ab", b"a")
