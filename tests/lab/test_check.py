"""`check`: what it asks, what it says, and what it never does (issue 2, item 9 and bad input; R37-R39).

Agents are simulated ones, whose own store tells what reached them, or a plain server that remembers every header.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from a2a_lab.errors import HarnessFault, Misuse, RecordFault
from a2a_lab.lab.api import check_agent
from a2a_lab.lab.check import CheckResult
from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.net.evidence import read_har
from a2a_lab.net.spellings import spellings
from tests.lab.meetings import CANARY
from tests.lab.plain import CARD, Asked, Says, agent, card, says_json, serving, speaking
from tests.vendors.bench import Agent, Bench

MEASURES = {
    "held",
    "diverged",
    "delivered",
    "renegotiation_cycles",
    "refused_sends",
    "payload_sends",
    "orphaned_artifacts",
    "orphaned_tasks",
    "hangs",
    "waited_s",
    "time_to_verdict_s",
    "requests",
    "bytes_committed",
    "bytes_before_authority",
}


@pytest.fixture
def trust(bench: Bench, tmp_path: Path) -> str:
    """A JWK set file with the key that signs the simulated cards."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(bench.host.trusted_jwks))
    return str(file)


@pytest.fixture
def out(tmp_path: Path) -> str:
    return str(tmp_path / "runs")


def slugs(result: CheckResult, *, above_notes: bool = True) -> list[str]:
    found = [one for stage in result.stages.values() for one in stage["findings"]]
    return [one["slug"] for one in found if not above_notes or one["kind"] != "note"]


def asked(one: Agent) -> list[tuple[str, str, str | None]]:
    return [(request["method"], request["path"], request["rpc_method"]) for request in one.store()["requests"]]


# ---- reads only, unless told to send ---------------------------------------------------------------------------------


def test_without_send_nothing_leaves_but_gets_of_cards(bench: Bench, trust: str, out: str) -> None:
    """R37: shown from the agent's own store. What is not sent is said, with what it would cost and leave behind."""
    one = bench.agent(signed_by="lab")
    result = check_agent(one.running.url, trust=trust, out=out)
    assert (result.exit_code, result.verdict.value, result.authority["status"]) == (0, "accept", "authoritative")
    assert asked(one) and {(method, rpc) for method, _, rpc in asked(one)} == {("GET", None)}
    assert {path.rsplit("/", 2)[-2] for _, path, _ in asked(one)} == {".well-known"}
    assert one.store()["tasks"] == []
    assert result.sent is False and result.measures["payload_sends"] == 0
    assert "--send would start up to 2 agent runs" in result.would_send and "ledger orphans" in result.would_send
    assert set(result.clients) == {"1.0", "0.3"}


@pytest.mark.parametrize("dialect", ["1.0", "0.3"])
@pytest.mark.parametrize("streaming", [True, False], ids=["streams", "does not stream"])
def test_send_runs_the_whole_flow_and_cleans_up(
    bench: Bench, trust: str, out: str, dialect: str, streaming: bool
) -> None:
    one = bench.agent(signed_by="lab", dialect=dialect, streaming=streaming)
    result = check_agent(one.running.url, send=True, trust=trust, out=out)
    assert (result.exit_code, result.verdict.value, result.authority) == (
        0,
        "accept",
        {"status": "authoritative", "because": []},
    )
    assert slugs(result) == [] and result.measures["delivered"] and result.measures["held"]
    store = one.store()
    assert {task["state"] for task in store["tasks"]} <= {"completed", "canceled"}
    assert sum(bool(CANARY.search(parts)) for task in store["tasks"] for parts in task["received"]) == 1
    called = [rpc for _, _, rpc in asked(one) if rpc]
    assert any("tream" in method for method in called) is streaming
    assert list_orphans(Path(out) / LEDGER) == []


def test_the_json_has_the_members_that_programs_rely_on(bench: Bench, out: str) -> None:
    shown = check_agent(bench.agent("tampered-card", signed_by="lab").running.url, out=out).as_json()
    assert list(shown) == ["target", "verdict", "authority", "stages", "measures", "evidence"]
    assert list(shown["target"]) == ["url", "tenant", "binding", "version"]
    assert list(shown["authority"]) == ["status", "because"]
    assert set(shown["measures"]) == MEASURES
    findings = [one for stage in shown["stages"].values() for one in stage["findings"]]
    assert findings
    for stage in shown["stages"].values():
        assert set(stage) == {"verdict", "findings"}
    for finding in findings:
        assert list(finding)[:6] == ["slug", "verdict", "kind", "judge", "rule", "detail"]
        assert set(finding) <= {"slug", "verdict", "kind", "judge", "rule", "detail", "clause", "other", "values", "at"}
    assert json.loads(json.dumps(shown)) == shown
    assert len(read_har(Path(shown["evidence"]))) == shown["measures"]["requests"]


def test_the_clocks_are_the_operators(bench: Bench, out: str) -> None:
    """R30: asked once at the silence limit, a hang at the hang limit; no other timeout decides."""
    one = bench.agent({"name": "never-final", "pings": True})
    result = check_agent(one.running.url, send=True, silence=0.3, hang=0.8, total=2.0, out=out)
    assert (result.exit_code, result.verdict.value) == (1, "hang")
    assert {"slow", "live-hang"} <= set(slugs(result, above_notes=False))
    assert 0.7 <= result.measures["waited_s"] < 2.0 and result.measures["hangs"] == 0
    called = [rpc for _, _, rpc in asked(one) if rpc]
    assert called == ["SendStreamingMessage", "GetTask", "GetTask", "CancelTask", "GetTask"]
    assert {task["state"] for task in one.store()["tasks"]} == {"canceled"}
    assert list_orphans(Path(out) / LEDGER) == []


# ---- the card --------------------------------------------------------------------------------------------------------


def test_an_unsigned_card_is_advisory_and_a_tampered_one_is_refused(bench: Bench, trust: str, out: str) -> None:
    unsigned = check_agent(bench.agent().running.url, trust=trust, out=out)
    assert (unsigned.exit_code, unsigned.verdict.value) == (0, "accept")
    assert unsigned.authority == {"status": "advisory", "because": ["unsigned"]}
    one = bench.agent("tampered-card", signed_by="lab")
    tampered = check_agent(one.running.url, send=True, trust=trust, out=out)
    assert (tampered.exit_code, tampered.verdict.value) == (1, "refuse")
    assert tampered.stages["signature"]["verdict"] == "refuse" and "signature-fails" in slugs(tampered)
    assert {method for method, *_ in asked(one)} == {"GET"}, "something was sent under a tampered card"


def test_a_policy_that_requires_a_signature_refuses_without_one(bench: Bench, out: str) -> None:
    result = check_agent(bench.agent().running.url, signature_policy="require", out=out)
    assert (result.exit_code, result.verdict.value) == (1, "refuse") and "unsigned" in slugs(result)


@pytest.mark.parametrize("where", ["", "/", "/rpc", CARD])
def test_an_agent_is_found_from_whatever_its_users_would_give(bench: Bench, out: str, where: str) -> None:
    one = bench.agent()
    result = check_agent(one.running.url + where, out=out)
    assert result.verdict.value == "accept" and result.target["url"] == f"{one.running.url}/rpc"
    assert result.card["url"] == one.running.card_url


@pytest.mark.parametrize(
    ("fault", "code", "slug", "told"),
    [
        ("html-instead-of-card", 1, "not-a-card", "is not JSON but begins '<!doctype html>"),
        ("card-not-found", 1, "no-card", "Give --card-url if it lies elsewhere"),
        ("card-needs-login", 2, "card-needs-credentials", "asks for 'Bearer realm=\"lab\"'; give credentials"),
        ({"name": "card-needs-login", "status": 403}, 2, "card-needs-credentials", "answers 403"),
        ("card-redirects-away", 1, "card-redirect-refused", "--allow-origin https://elsewhere.example.test"),
        ("names-other-target", 1, "address-wildcard", "--allow-origin http://0.0.0.0:"),
        ("duplicate-key-card", 1, "duplicate-key", "member 'name' is there twice"),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else str(value)[:30],
)
def test_what_is_no_usable_card_is_said_with_the_values_and_a_way_on(
    bench: Bench, out: str, fault: Any, code: int, slug: str, told: str
) -> None:
    result = check_agent(bench.agent(fault).running.url, out=out)
    assert result.exit_code == code and slug in slugs(result)
    assert told in json.dumps(result.stages, ensure_ascii=False).replace('\\"', '"')
    assert result.said.startswith(f"{slug}: ")
    assert result.verdict.value == ("auth-needed" if code == 2 else "refuse")


def test_a_card_url_that_leads_nowhere_is_named(bench: Bench, out: str) -> None:
    one = bench.agent()
    result = check_agent(one.running.url, card_url=f"{one.running.url}/elsewhere.json", out=out)
    assert result.exit_code == 1 and "no-card" in slugs(result) and "/elsewhere.json" in result.said
    assert [path for _, path, _ in asked(one)] == ["/elsewhere.json"]


def test_a_target_at_another_origin_than_the_one_typed_is_said(out: str) -> None:
    """Measured with a replayed recording, whose card names the recorded agent: the payload went to that one."""
    with serving(agent()) as there, serving(lambda _: says_json(card(f"{there.url}/rpc"))) as here:
        (note,) = check_agent(here.url, allow_origin=[there.url], out=out).notes
        led = check_agent(there.url, out=out, connect_to=[f"{there.url.removeprefix('http://')}={here.url}"])
    assert note.startswith("the target is at another origin than the address you gave")
    assert f"{there.url}/rpc" in note and f"not to {here.url}" in note and "--connect-to" in note
    assert led.notes == ()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nothing/here", "there is no card at /nothing/here, the path you gave: this is the card of the whole origin"),
        ("/nothing/here" + CARD, "there is no card at /nothing/here, the path you gave"),
        ("/rpc", ""),
        ("/", ""),
        ("", ""),
        (CARD, ""),
    ],
)
def test_a_card_of_the_origin_that_stands_in_for_a_path_is_said(bench: Bench, out: str, path: str, said: str) -> None:
    """D3, R6: the search ends at the origin; whoever meant the path must be told that nothing was there."""
    result = check_agent(bench.agent().running.url + path, out=out)
    assert result.verdict.value == "accept"
    assert [note[: len(said)] for note in result.notes] == ([said] if said else [])


def test_a_card_url_wins_over_the_search(bench: Bench, out: str) -> None:
    with serving(agent()) as server:
        inner = server.answer
        server.answer = lambda asked: (
            says_json(card(f"{server.url}/rpc", name="moved"))
            if asked.path == "/cards/mine.json"
            else Says(status=404)
            if asked.method == "GET"
            else inner(asked)
        )
        result = check_agent(server.url, card_url=f"{server.url}/cards/mine.json", send=True, out=out)
    assert (result.verdict.value, result.card["name"]) == ("accept", "moved")


def test_nothing_that_listens_is_unreachable_and_counted_against_nobody(out: str) -> None:
    result = check_agent("http://127.0.0.1:9", out=out)
    assert (result.exit_code, result.verdict.value) == (2, "unreachable")
    assert "connect-refused; is the agent running, and are host and port right?" in result.said


def test_a_name_that_does_not_resolve_is_unreachable(out: str) -> None:
    result = check_agent("https://agent.example.invalid", out=out)
    assert result.verdict.value == "unreachable" and "is the name of the host right?" in result.said


# ---- calls that go wrong ---------------------------------------------------------------------------------------------


def test_a_port_that_speaks_no_http_1_is_no_fault_of_an_agent(out: str) -> None:
    """Measured with a gRPC port: `conformance-error card-not-http`, as if a vendor had promised HTTP there."""
    with speaking(bytes.fromhex("000006040000000000000500004000")) as url:
        result = check_agent(url, out=out)
    assert (result.exit_code, result.verdict.value) == (2, "unreachable")
    assert "something that is no HTTP/1.1 answers here; if it is gRPC, give the URL where the card" in result.said


@pytest.mark.parametrize("fault", ["html-instead-of-card", "card-needs-login", "tampered-card", None])
def test_what_sending_costs_is_said_only_where_something_would_be_sent(bench: Bench, out: str, fault: Any) -> None:
    """Measured: the cost of --send was told under a 401, under a refusal, and where nobody was there."""
    if fault is None:
        assert check_agent("http://127.0.0.1:9", out=out).would_send == ""
        assert check_agent(bench.agent().running.url, out=out, require=["pushNotifications"]).would_send == ""
        assert check_agent(bench.agent().running.url, out=out).would_send.startswith("--send would start up to 2")
        return
    trust = Path(out).with_suffix(".jwks")
    trust.write_text(json.dumps(bench.host.trusted_jwks))
    result = check_agent(bench.agent(fault, signed_by="lab").running.url, trust=str(trust), out=out)
    assert result.exit_code and result.would_send == ""


def test_an_endpoint_that_is_not_there_leaves_no_task_behind(out: str) -> None:
    """A 404 says that nothing was started, so nothing is left; the cell names the status, not a suspicion."""
    with serving(agent()) as server:
        inner = server.answer
        server.answer = lambda asked: Says(status=404) if asked.method == "POST" else inner(asked)
        result = check_agent(server.url, send=True, out=out)
    assert (result.exit_code, result.verdict.value) == (1, "refuse")
    assert result.said == "http-error: HTTP 404 without a JSON-RPC answer"
    assert list_orphans(Path(out) / LEDGER) == []


@pytest.mark.parametrize(
    ("status", "headers", "verdict"),
    [
        (401, {"WWW-Authenticate": 'Bearer realm="calls"'}, "auth-needed"),
        (403, {}, "auth-needed"),
        (429, {"Retry-After": "0"}, "throttled"),
    ],
)
def test_a_call_that_asks_for_credentials_or_patience_is_no_fault_of_the_agent(
    out: str, status: int, headers: dict[str, str], verdict: str
) -> None:
    with serving(agent()) as server:
        inner = server.answer
        server.answer = lambda asked: Says(status=status, headers=headers) if asked.method == "POST" else inner(asked)
        result = check_agent(server.url, send=True, out=out)
    assert (result.exit_code, result.verdict.value) == (2, verdict)
    assert "realm" not in headers.get("WWW-Authenticate", "") or 'realm="calls"' in result.said
    assert list_orphans(Path(out) / LEDGER) == []


def test_a_failed_call_whose_outcome_nobody_knows_is_on_the_books(out: str) -> None:
    """R35: the payload's or probe's task may be running; it is named as suspected, and never sent again (R37)."""
    with serving(agent()) as server:
        inner = server.answer
        server.answer = lambda asked: Says(status=500) if asked.method == "POST" else inner(asked)
        result = check_agent(server.url, send=True, out=out)
        sends = [one for one in server.asked if one.method == "POST" and b"SendMessage" in one.body]
    assert (result.exit_code, result.verdict.value) == (1, "orphan") and len(sends) == 1
    assert [row.state for _, row in list_orphans(Path(out) / LEDGER)] == ["id-unknown"]


# ---- secrets ---------------------------------------------------------------------------------------------------------


def test_a_secret_that_the_agent_echoes_is_shown_and_stored_nowhere(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R38, measured: it stood in `check --json` and in the ledger, while only the HAR was clean."""
    secret = 'tok"en\\77/with+signs'
    monkeypatch.setenv("ECHOED", secret)
    with serving(agent(lambda origin: card(f"{origin}/rpc", capabilities={"streaming": False}))) as server:
        inner = server.answer

        def echo(asked: Asked) -> Says:
            if asked.method == "GET":
                return inner(asked)
            token = asked.headers["authorization"].removeprefix("Bearer ")
            request = json.loads(asked.body)
            task = {
                "id": f"task {token}",
                "contextId": f"context {token}",
                "status": {"state": "TASK_STATE_FAILED", "message": {"messageId": "m", "parts": [{"text": token}]}},
                "artifacts": [{"artifactId": token, "parts": [{"raw": f"no base64: {token}", "mediaType": token}]}],
            }
            result = {"task": task} if request["method"] == "SendMessage" else task
            return says_json({"jsonrpc": "2.0", "id": request["id"], "result": result})

        server.answer = echo
        result = check_agent(server.url, send=True, bearer_env="ECHOED", out=out)
    assert any(one.headers.get("authorization") == f"Bearer {secret}" for one in server.asked), "it did travel"
    shown = json.dumps(result.as_json()) + result.said + json.dumps(dict(result.card))
    kept = [path.read_bytes() for path in Path(out).rglob("*") if path.is_file()]
    assert len(kept) >= 2 and "REDACTED" in shown
    for form in spellings(secret):
        assert form not in shown and not any(form.encode() in data for data in kept), form


def test_a_key_in_the_typed_url_is_shown_and_stored_nowhere(out: str) -> None:
    with serving(lambda _: Says(status=404, body=b"no card for key-in-the-url")) as server:
        result = check_agent(f"{server.url}/?api_key=key-in-the-url", out=out)
    shown = json.dumps(result.as_json()) + result.said
    kept = b"".join(path.read_bytes() for path in Path(out).rglob("*") if path.is_file())
    assert "key-in-the-url" not in shown and b"key-in-the-url" not in kept and server.asked


# ---- TLS, proxies, other routes --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1 and agent.example, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent.example")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("agent.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "agent.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return file


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def secure_agent(origin: str) -> Any:
    return agent(lambda _: card(f"{origin}/rpc"))


def test_a_certificate_that_nobody_trusts_is_unreachable_and_says_what_to_give(certificate: Path, out: str) -> None:
    with serving(agent(), server_context(certificate)) as server:
        result = check_agent(server.url, out=out)
        assert (result.exit_code, result.verdict.value) == (2, "unreachable")
        assert "tls: " in result.said and "--ca-bundle" in result.said
        server.answer = secure_agent(server.url)
        assert check_agent(server.url, ca_bundle=str(certificate), send=True, out=out).verdict.value == "accept"


def test_https_where_plain_http_is_spoken_is_unreachable(bench: Bench, out: str) -> None:
    result = check_agent(bench.agent().running.url.replace("http:", "https:"), out=out)
    assert result.verdict.value == "unreachable" and "is it https that is spoken there?" in result.said


def test_a_client_certificate_is_shown_where_one_is_asked_for(certificate: Path, out: str) -> None:
    context = server_context(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
    with serving(agent(), context) as server:
        server.answer = secure_agent(server.url)
        without = check_agent(server.url, ca_bundle=str(certificate), out=out)
        assert without.verdict.value == "unreachable"
        shown = check_agent(server.url, ca_bundle=str(certificate), client_cert=str(certificate), out=out)
        assert shown.verdict.value == "accept"


def test_connect_to_reaches_a_name_at_another_address(certificate: Path, out: str) -> None:
    with serving(secure_agent("https://agent.example"), server_context(certificate)) as server:
        route = f"agent.example:443={server.url.removeprefix('https://')}"
        result = check_agent(
            "https://agent.example", ca_bundle=str(certificate), connect_to=[route], send=True, out=out
        )
    assert result.verdict.value == "accept" and result.target["url"] == "https://agent.example/rpc"
    assert {one.headers["host"] for one in server.asked} == {"agent.example"}


def test_a_proxy_is_asked_for_the_whole_url(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As httpx users know it: given by name, or found in the environment."""
    with serving(agent(lambda _: card("http://agent.example/rpc"))) as proxy:
        inner = proxy.answer
        proxy.answer = lambda one: inner(
            Asked(
                method=one.method,
                path=one.path.removeprefix("http://agent.example"),
                headers=one.headers,
                body=one.body,
            )
        )
        given = check_agent("http://agent.example", proxy=proxy.url, allow_http=["agent.example"], out=out)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        found = check_agent("http://agent.example", allow_http=["agent.example"], out=out)
    assert given.verdict.value == found.verdict.value == "accept"
    assert {one.path.rpartition("/.well-known")[0] for one in proxy.asked} >= {"http://agent.example"}


def test_plain_http_to_another_machine_is_refused_before_anything_leaves(out: str) -> None:
    result = check_agent("http://agent.example", out=out)
    assert (result.exit_code, result.measures["requests"]) == (1, 0)
    assert "--allow-http agent.example" in result.said


# ---- tenants ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gateway(bench: Bench) -> Agent:
    tenants = {"acme": {"streaming": False}, "globex": {}, "gone": {"deprovisioned": True}}
    return bench.agent(tenants=tenants, signed_by="lab")


@pytest.mark.parametrize("by", ["header", "header:X-Tenant", "path", "query", "query:tenant"])
def test_a_tenant_is_selected_for_the_card_and_for_every_call(gateway: Agent, trust: str, out: str, by: str) -> None:
    """D2, D3: the tenant's own card decides, and the union card of the gateway is named."""
    before = len(asked(gateway))
    url = gateway.running.url
    result = check_agent(url, tenant="acme", tenant_by=by, send=True, trust=trust, out=out)
    assert (result.verdict.value, result.authority["status"]) == ("accept", "authoritative")
    assert result.target["url"] == f"{url}/acme/rpc" and "union-card" in slugs(result, above_notes=False)
    assert not any("Streaming" in (rpc or "") for *_, rpc in asked(gateway)[before:]), "acme's own card streams not"
    fresh = gateway.store()["requests"][before:]
    if by.startswith("header"):
        assert {request["headers"].get("x-tenant") for request in fresh} == {"acme"}


def test_a_capability_of_the_union_card_is_not_the_tenants(gateway: Agent, out: str) -> None:
    result = check_agent(gateway.running.url, tenant="acme", tenant_by="path", require=["streaming"], out=out)
    assert (result.exit_code, result.verdict.value) == (1, "refuse") and "capability-missing" in slugs(result)


def test_a_tenant_without_a_card_is_refused_whatever_the_gateway_says(gateway: Agent, out: str) -> None:
    result = check_agent(gateway.running.url, tenant="gone", tenant_by="path", out=out)
    assert result.verdict.value == "refuse" and "no-card-at-target" in slugs(result)


def test_the_tenant_of_an_interface_is_repeated_in_every_call(bench: Bench, out: str) -> None:
    """D2, A2A 1.0 section 8.3.2. The agent answers no call without it."""
    url = bench.agent(tenant="acme").running.url
    for options in ({}, {"tenant": "acme"}):
        result = check_agent(url, send=True, out=out, **options)
        assert (result.verdict.value, result.target["tenant"]) == ("accept", "acme")
    other = check_agent(url, tenant="other", out=out)
    assert other.verdict.value == "refuse" and "tenant 'other' was asked for, the card has acme" in other.said


# ---- credentials -----------------------------------------------------------------------------------------------------

SECRETS = {
    "TOKEN": "tok-5d8f1e22",
    "KEY": "key-77aa90bc",
    "TENANT_KEY": "hdr-19cc40de",
    "NAME": "ann",
    "WORD": "pw-3f6b28",
}


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    return SECRETS


ALL = {"bearer_env": "TOKEN", "api_key_env": "X-Key=KEY", "header_env": ["X-Tenant-Key=TENANT_KEY"]}


@pytest.mark.parametrize(
    ("send_with", "on_card", "on_calls"), [("both", True, True), ("card", True, False), ("calls", False, True)]
)
def test_credentials_go_where_the_operator_says(
    secrets: dict[str, str], out: str, send_with: str, on_card: bool, on_calls: bool
) -> None:
    with serving(agent()) as server:
        result = check_agent(server.url, send=True, send_credentials_with=send_with, out=out, **ALL)
    assert result.verdict.value == "accept"
    for method, expected in (("GET", on_card), ("POST", on_calls)):
        seen = [one.headers for one in server.asked if one.method == method]
        for name, value in (
            ("authorization", f"Bearer {secrets['TOKEN']}"),
            ("x-key", secrets["KEY"]),
            ("x-tenant-key", secrets["TENANT_KEY"]),
        ):
            assert {headers.get(name) for headers in seen} == {value if expected else None}, (method, name)


def test_basic_credentials_are_one_header(secrets: dict[str, str], out: str) -> None:
    with serving(agent()) as server:
        check_agent(server.url, basic_env="NAME:WORD", out=out)
    assert {one.headers["authorization"] for one in server.asked} == {"Basic YW5uOnB3LTNmNmIyOA=="}


def test_no_secret_is_stored_anywhere(secrets: dict[str, str], tmp_path: Path, out: str) -> None:
    """R38: evidence, ledger and result hold the names of what was sent, and no value."""

    def echoing(one: Asked) -> Says:
        """An agent that repeats what it was given, as debugging servers do."""
        inner = agent()(one)
        return Says(status=inner.status, body=inner.body, headers={**inner.headers, "X-Echo": one.headers["x-key"]})

    with serving(echoing) as server:
        result = check_agent(server.url, send=True, out=out, **ALL)
    stored = [path for path in Path(out).rglob("*") if path.is_file()]
    assert {path.suffix for path in stored} >= {".har", ".db"}
    for path in stored:
        held = path.read_bytes()
        assert not [value for value in secrets.values() if value.encode() in held], path.name
    assert not [value for value in secrets.values() if value in json.dumps(result.as_json()) + result.said]
    shown = {name.lower(): value for one in read_har(Path(result.evidence)) for name, value in one.request_headers}
    assert shown["authorization"] == shown["x-key"] == shown["x-tenant-key"] == "REDACTED"
    assert all(path.stat().st_mode & 0o077 == 0 for path in stored if path.suffix == ".har")


def test_credentials_never_reach_another_origin_by_a_redirect(secrets: dict[str, str], out: str) -> None:
    """D8, R10: the card lies behind a redirect to another port; it is followed without them."""
    with (
        serving(agent()) as other,
        serving(lambda _: Says(status=302, headers={"Location": other.url + CARD})) as first,
    ):
        result = check_agent(first.url, out=out, allow_origin=[other.url], **ALL)
    assert other.asked, result.said
    for one in other.asked:
        assert not {"authorization", "x-key", "x-tenant-key"} & set(one.headers)
    assert "authorization" in first.asked[0].headers


def test_a_card_that_leads_to_another_origin_gets_no_credentials_there(secrets: dict[str, str], out: str) -> None:
    """D8: another origin while credentials are attached is refused, unless the operator allows it by name."""
    with serving(agent()) as other, serving(agent(lambda _: card(f"{other.url}/rpc"))) as first:
        result = check_agent(first.url, send=True, out=out, **ALL)
    assert result.verdict.value == "refuse" and f"--allow-origin {other.url}" in result.said
    for one in other.asked:
        assert not {"authorization", "x-key", "x-tenant-key"} & set(one.headers)


# ---- what the operator got wrong -------------------------------------------------------------------------------------

MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"tenent": "x"}, r"check has no option 'tenent'; did you mean 'tenant'"),
    ({"frobnicate": 1}, r"check has no option 'frobnicate'; known are accepts, "),
    ({"silence": 5.0, "hang": 1.0}, r"--silence 5, --hang 1, --total 60: each must be positive"),
    ({"silence": 0.0}, r"--silence 0, --hang 10"),
    ({"signature_policy": "maybe"}, r"--signature-policy 'maybe': expected prefer or require"),
    ({"topology": "ring"}, r"--topology 'ring': expected auto, direct or gateway"),
    ({"probe": "no"}, r"--probe 'no': expected strict or lenient"),
    ({"tenant": "a", "tenant_by": "cookie"}, r"--tenant-by 'cookie': expected interface, header, path or query"),
    ({"tenant": "a", "tenant_by": "path:x"}, r"--tenant-by 'path:x': only header and query take a name"),
    ({"tenant_by": "header"}, r"--tenant-by header selects a tenant, and none is given; add --tenant NAME"),
    ({"mode": "json"}, r"--mode 'json': expected a media type, such as text/plain"),
    ({"bearer_env": "NOT_THERE_AT_ALL"}, r"'NOT_THERE_AT_ALL' is not set; the bearer token is read from it"),
    ({"header_env": ["X-Key"]}, r"--header-env: expected NAME=VARIABLE, .* not repeated"),
    ({"basic_env": "USER"}, r"expected USER_VARIABLE:PASSWORD_VARIABLE"),
    ({"connect_to": ["agent.example"]}, r"--connect-to 'agent.example': expected HOST:PORT=HOST:PORT"),
    ({"card_url": "card.json"}, r"'card.json' is no absolute http or https URL"),
    ({"trust": "nowhere.json"}, r"--trust nowhere.json: No such file or directory; expected a JWK set file"),
    ({"ca_bundle": "nowhere.pem"}, r"--ca-bundle nowhere.pem: there is no such file"),
    ({"client_cert": "nowhere.pem"}, r"--client-cert nowhere.pem: there is no such file"),
    ({"total": float("inf")}, r"--silence 5, --hang 10, --total inf: each must be positive"),
    (
        {"allow_origin": ["http://["]},
        r"--allow-origin 'http://\[': expected an origin or a host, such as https://agent",
    ),
    ({"allow_http": ["a b"]}, r"--allow-http 'a b': expected an origin or a host"),
    ({"jku_allow": ["https://keys.example/path"]}, r"--jku-allow 'https://keys.example/path': expected an origin"),
    ({"extensions": ["ünï"]}, r"--extension 'ünï': expected a URI in ASCII"),
    ({"text": "\udcff"}, r"--text '\\udcff': expected text in UTF-8"),
    ({"skill": "\udcff"}, r"--skill '\\udcff': expected text in UTF-8"),
    ({"accepts": ["text"]}, r"--accept 'text': expected a media type"),
    ({"tenant": "café", "tenant_by": "header"}, r"--tenant 'café' by 'header': expected a header value: printable"),
    ({"tenant": "a", "tenant_by": "header:X Y"}, r"--tenant 'a' by 'header:X Y': expected the name of an HTTP header"),
    ({"header_env": ["X-Kéy=HOME"]}, r"header 'X-Kéy': expected the name of an HTTP header"),
    ({"send_credentials_with": "cards"}, r"--credentials-with 'cards': expected card, calls or both"),
    ({"proxy": "nonsense"}, r"the proxy cannot be used: .*expected http://HOST:PORT"),
]


@pytest.mark.parametrize(("options", "sentence"), MISTAKES, ids=lambda value: str(value)[:50])
def test_a_mistake_costs_a_sentence_and_no_request(
    bench: Bench, out: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Misuse, match=sentence):
        check_agent("http://127.0.0.1:9", out=out, **options)
    assert not list(Path(out).rglob("*.har"))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("127.0.0.1:8000", "no absolute http or https URL"),
        ("agent.example", "expected a URL such as https://agent.example"),
        ("grpc://127.0.0.1:50051", "'grpc://127.0.0.1:50051': expected a URL of http or https: a card lies there also"),
        ("ftp://agent.example", "no absolute http or https URL"),
        ("", "'' is no URL"),
        ("http://a b/", "holds a character that no URL may hold"),
        ("http://", "no absolute http or https URL"),
        ("http://127.0.0.1:99999", "Port out of range"),
    ],
)
def test_what_is_no_url_is_said(out: str, url: str, sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        check_agent(url, out=out)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("not json", r"not JSON \(.*expected a JWK set: \{\"keys\": \[...\]\}"),
        ("[]", r"JWK set"),
        ('{"kty": "EC"}', r"JWK set"),
        ('{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "a"}]}', r"symmetric"),
        ('{"keys": [{"kty": "EC", "crv": "P-256", "kid": "a", "x": "AA", "y": "AA", "d": "AA"}]}', r"private"),
    ],
    ids=["text", "list", "one key", "symmetric", "private"],
)
def test_a_file_that_is_no_set_of_public_keys_is_refused(tmp_path: Path, out: str, content: str, sentence: str) -> None:
    """R20: the operator's error, named with the file; a private key has no business in it."""
    file = tmp_path / "keys.json"
    file.write_text(content)
    with pytest.raises(Misuse, match=rf"--trust .*keys.json: .*{sentence}"):
        check_agent("http://127.0.0.1:9", trust=str(file), out=out)


def test_an_output_that_is_no_folder_is_named_before_anything_leaves(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    one = bench.agent()
    with pytest.raises(RecordFault, match=r"taken/lab.db: not usable as ledger"):
        check_agent(one.running.url, out=str(tmp_path / "taken"))
    assert asked(one) == []


def test_evidence_that_cannot_be_written_is_the_labs_fault_in_a_sentence(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "checks").write_text("")
    with pytest.raises(HarnessFault, match=r"the evidence .* cannot be written: .*; name another folder"):
        check_agent(bench.agent().running.url, out=str(tmp_path / "runs"))
