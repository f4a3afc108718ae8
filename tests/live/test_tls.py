"""mTLS to an agent that is not ours: its files, and what is said where they lack or cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from a2a_lab.errors import Misuse
from a2a_lab.lab.api import check_agent
from a2a_lab.lab.live import warnings_of
from a2a_lab.vendors.live import read_live
from tests.cli.console import lab
from tests.lab.plain import agent, card, serving
from tests.live.certificates import Certificates, made_certificates
from tests.live.servers import vendor_file

MUTUAL = '[tls]\nca_bundle = "authority.pem"\nclient_cert = "client.pem"\nclient_key = "client.key"'


@pytest.fixture
def made(tmp_path: Path) -> Certificates:
    return made_certificates(tmp_path)


def secured() -> object:
    return agent(lambda origin: card(f"{origin.replace('http:', 'https:')}/rpc"))


def test_an_agent_that_wants_a_certificate_is_shown_it(tmp_path: Path, made: Certificates) -> None:
    with serving(secured(), made.server_context(wants_client=True)) as one:  # type: ignore[arg-type]
        result = check_agent(str(vendor_file(tmp_path, one.url, MUTUAL)), send=True, out=str(tmp_path / "runs"))
    assert (result.verdict.value, result.exit_code) == ("accept", 0)


def test_without_it_nobody_answers_and_no_vendor_is_blamed(tmp_path: Path, made: Certificates) -> None:
    with serving(secured(), made.server_context(wants_client=True)) as one:  # type: ignore[arg-type]
        lines = '[tls]\nca_bundle = "authority.pem"'
        result = check_agent(str(vendor_file(tmp_path, one.url, lines)), out=str(tmp_path / "runs"))
    assert (result.verdict.value, result.exit_code) == ("unreachable", 2)


def test_the_files_lie_beside_the_vendor_file(tmp_path: Path, made: Certificates) -> None:
    with pytest.raises(Misuse, match=r"helpdesk.toml.tls.client_cert: 'nowhere.pem' is not a PEM file, beside this"):
        read_live(vendor_file(tmp_path, "https://agent.example", '[tls]\nclient_cert = "nowhere.pem"'))
    with pytest.raises(Misuse, match=r"helpdesk.toml.tls.client_cert: .*the certificate that client_key belongs to"):
        read_live(vendor_file(tmp_path, "https://agent.example", '[tls]\nclient_key = "client.key"'))


def test_a_key_that_is_none_is_named(tmp_path: Path, made: Certificates) -> None:
    made.client_key.write_text("no key")
    with pytest.raises(Misuse, match=r"helpdesk.toml: the TLS files cannot be used \(.*client.key\)"):
        check_agent(str(vendor_file(tmp_path, "https://127.0.0.1:9", MUTUAL)), out=str(tmp_path / "runs"))


def test_a_key_that_others_can_read_is_warned_about(tmp_path: Path, made: Certificates) -> None:
    file = vendor_file(tmp_path, "https://127.0.0.1:9", MUTUAL)
    assert warnings_of(read_live(file)) == []
    made.client_key.chmod(0o644)
    (warning,) = warnings_of(read_live(file))
    assert "client.key can be read by others than its owner" in warning and "chmod 600" in warning
    assert warning in lab("check", str(file), cwd=tmp_path).err


def test_an_encrypted_key_is_named_and_nobody_is_asked_for_its_passphrase(tmp_path: Path, made: Certificates) -> None:
    """Measured: OpenSSL asked at the terminal, behind the line of a check under way, and waited for ever."""
    key = serialization.load_pem_private_key(made.client_key.read_bytes(), None)
    how = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    made.client_key.write_bytes(key.private_bytes(*how, serialization.BestAvailableEncryption(b"passphrase")))
    with pytest.raises(Misuse, match=r"client.key\): the private key is encrypted.*store it without a passphrase"):
        check_agent(str(vendor_file(tmp_path, "https://127.0.0.1:9", MUTUAL)), out=str(tmp_path / "runs"))
