"""How a gRPC target is reached: TLS with the operator's own roots, and at another address than is asked for (R43)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from a2a_lab.core.policy import Bounds
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.net.caller import Called, Caller
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.wire.dialects import dialect_for
from tests.net.grpc_peers import grpc_peer
from tests.wire.grpc_talk import TASK, packed

HOST = "agent.example.test"


async def honest(request: bytes, context: Any) -> AsyncIterator[bytes]:
    yield packed("Task", TASK)


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, bytes]:
    """A key and a certificate of its own for the host, both as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    told = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return told, made.public_bytes(serialization.Encoding.PEM)


def asked(url: str, reach: Reach, tls: tuple[bytes, bytes] | None) -> Called:
    """GetTask at a URL whose host is put where the server is."""

    async def life() -> Called:
        async with grpc_peer(tls=tls, GetTask=honest) as place, new_client(reach, tls_context(reach)) as client:
            http = Http(client, Recorder(), bounds=Bounds(), reach=reach, connect_to={HOST: place})
            target = ResolvedTarget(dispatch_url=url, binding="GRPC", version="1.0")
            caller = Caller(http, dialect_for("1.0", "GRPC"), target, credentials=None, bounds=Bounds())
            return await caller.call("get", purpose="get", task_id="t", total_s=10.0)

    return asyncio.run(life())


def test_tls_is_spoken_where_the_roots_are_trusted(pair: tuple[bytes, bytes], tmp_path: Path) -> None:
    roots = tmp_path / "roots.pem"
    roots.write_bytes(pair[1])
    trusted = asked(f"{HOST}:50051", Reach(trust_env=False, ca_bundle=str(roots)), pair)
    assert trusted.answer is not None and trusted.answer.task is not None
    assert trusted.exchange.url.startswith(f"https://{HOST}:50051/")


def test_an_unknown_root_is_no_connection(pair: tuple[bytes, bytes]) -> None:
    """Nothing was sent: whoever answers there is not who was asked for."""
    stranger = asked(f"https://{HOST}:50051", Reach(trust_env=False), pair)
    assert (stranger.answer, stranger.exchange.status, stranger.exchange.fault) == (None, None, "tls")


def test_plain_text_is_spoken_where_the_card_says_so_and_it_is_allowed() -> None:
    plain = asked(f"http://{HOST}:50051", Reach(trust_env=False), None)
    assert plain.answer is not None and plain.answer.task is not None
