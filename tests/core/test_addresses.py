"""D8 and R11: the places a remote card must not send us to."""

from __future__ import annotations

import pytest

from a2a_lab.core.addresses import (
    Reach,
    authority,
    dialled,
    is_loopback,
    is_private,
    is_wildcard,
    judge_addresses,
    judge_typed,
    reach_of,
)
from a2a_lab.core.policy import Policy
from a2a_lab.verdicts import Stage, Verdict
from tests.core.cards import AGENT, slugs

LOCAL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("reach", "hosts"),
    [
        (Reach.WILDCARD, ["0.0.0.0", "::", "[::]", "0", "0x0", "000.000.000.000", "::ffff:0.0.0.0", "*", ""]),
        (Reach.LOOPBACK, ["127.0.0.1", "127.255.1.2", "::1", "[::1]", "::ffff:127.0.0.1", "::127.0.0.1", "127.1"]),
        (Reach.LOOPBACK, ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]),
        (Reach.LOOPBACK, ["localhost", "LocalHost.", "api.localhost", "localhost.localdomain", "ip6-localhost"]),
        (Reach.PRIVATE, ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "::ffff:10.0.0.1"]),
        (Reach.PRIVATE, ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "2852039166"]),
        (Reach.PRIVATE, ["224.0.0.1", "ff02::1", "240.0.0.1", "255.255.255.255", "::10.0.0.1"]),
        (Reach.PRIVATE, ["backend", "agent.internal", "nas.local", "db.lan", "x.home.arpa", "9" * 5000]),
        (Reach.PUBLIC, ["8.8.8.8", "172.32.0.1", "2001:4860:4860::8888", "agent.example.test", "64:ff9b::808:808"]),
        (Reach.PUBLIC, ["256.1.1.1", "1.2.3.256", "08.1.1.1", "1.2.3.4.5", "internal.example.test", "0x7g.1"]),
        (Reach.PUBLIC, ["::zz.example"]),
    ],
)
def test_what_kind_of_place_a_host_is(reach: Reach, hosts: list[str]) -> None:
    assert {host: reach_of(host) for host in hosts} == dict.fromkeys(hosts, reach)


def test_the_questions_have_names() -> None:
    assert is_loopback("::1") and is_private("10.0.0.1") and is_wildcard("0.0.0.0")
    assert not (is_loopback("10.0.0.1") or is_private("127.0.0.1") or is_wildcard("127.0.0.1"))


@pytest.mark.parametrize(
    ("url", "slug"),
    [
        (f"{AGENT}/rpc", None),
        ("https://other.example.org/rpc", None),
        ("http://0.0.0.0:8000/", "address-wildcard"),
        ("https://[::]/", "address-wildcard"),
        ("http://localhost:9999/", "address-loopback"),
        ("https://[::ffff:127.0.0.1]/", "address-loopback"),
        ("https://192.168.1.4/rpc", "address-private"),
        ("https://169.254.169.254/latest", "address-private"),
        ("https://agent-one:8080/", "address-private"),
        ("http://agent.example.test/rpc", "scheme-downgrade"),
        ("https://agent.example.test@evil.test/rpc", "url-userinfo"),
        ("https://user:pw@agent.example.test/rpc", "url-userinfo"),
        ("https://agent.example.test/t1/../t2/rpc", "url-dot-segments"),
        ("/rpc", "url-malformed"),
        ("ftp://agent.example.test/rpc", "url-malformed"),
        ("", "url-malformed"),
    ],
)
def test_a_card_of_a_public_host(url: str, slug: str | None) -> None:
    findings = judge_addresses(url, typed=AGENT, policy=Policy())
    assert slugs(findings) == ([slug] if slug else [])
    assert all(finding.stage is Stage.RESOLVE and finding.verdict is Verdict.REFUSE for finding in findings)


@pytest.mark.parametrize("url", [f"{LOCAL}/rpc", "http://localhost:8000/", "http://[::1]:8000/", "http://10.0.0.4/"])
def test_loopback_and_plain_http_are_fine_where_the_typed_url_is_loopback(url: str) -> None:
    assert judge_addresses(url, typed=LOCAL, policy=Policy()) == []


def test_all_interfaces_are_no_destination_even_then() -> None:
    assert slugs(judge_addresses("http://0.0.0.0:8000/", typed=LOCAL, policy=Policy())) == ["address-wildcard"]


def test_a_private_host_may_name_a_private_address_but_not_this_machine() -> None:
    typed = "https://10.0.0.5"
    assert judge_addresses("https://10.0.0.6/rpc", typed=typed, policy=Policy()) == []
    assert slugs(judge_addresses("https://localhost/rpc", typed=typed, policy=Policy())) == ["address-loopback"]


@pytest.mark.parametrize("name", ["https://10.0.0.6", "10.0.0.6", "HTTPS://10.0.0.6:443"])
def test_the_operator_allows_by_name(name: str) -> None:
    policy = Policy(allow_origins=frozenset({name}))
    assert judge_addresses("https://10.0.0.6/rpc", typed=AGENT, policy=policy) == []


@pytest.mark.parametrize("name", ["10.0.0.6", "10.0.0.6:8080", "http://10.0.0.6:8080"])
def test_plain_http_is_allowed_by_host(name: str) -> None:
    policy = Policy(allow_http=frozenset({name}))
    typed = "http://10.0.0.6:8080"
    assert judge_typed(typed, policy) == []
    assert judge_addresses("http://10.0.0.6:8080/rpc", typed=typed, policy=policy) == []


def test_an_allowed_origin_with_http_in_it_allows_plain_http() -> None:
    policy = Policy(allow_origins=frozenset({"http://mesh.example.test"}))
    assert judge_addresses("http://mesh.example.test/rpc", typed=AGENT, policy=policy) == []
    assert slugs(judge_addresses("http://mesh.example.test:81/rpc", typed=AGENT, policy=policy)) == ["scheme-downgrade"]


def test_a_host_allowed_for_plain_http_is_allowed_wherever_it_lies() -> None:
    policy = Policy(allow_http=frozenset({"worker.internal"}))
    assert judge_addresses("http://worker.internal/rpc", typed=AGENT, policy=policy) == []


def test_plain_http_of_the_operator_himself_is_refused_before_anything_is_sent() -> None:
    assert slugs(judge_typed("http://agent.example.test", Policy())) == ["plain-http"]
    assert judge_typed(LOCAL, Policy()) == [] and judge_typed(AGENT, Policy()) == []


def test_credentials_stay_with_their_origin() -> None:
    elsewhere = "https://collector.example.org/rpc"
    held = frozenset({AGENT})
    assert judge_addresses(f"{AGENT}:443/rpc", typed=AGENT, policy=Policy(), credentials_for=held) == []
    refused = judge_addresses(elsewhere, typed=AGENT, policy=Policy(), credentials_for=held)
    assert slugs(refused) == ["cross-origin-credentials"] and refused[0].other
    allowed = Policy(allow_origins=frozenset({"https://collector.example.org"}))
    assert judge_addresses(elsewhere, typed=AGENT, policy=allowed, credentials_for=held) == []
    assert judge_addresses(elsewhere, typed=AGENT, policy=Policy()) == []


def test_a_grpc_interface_is_a_host_and_a_port() -> None:
    def judged(url: str) -> list[str]:
        return slugs(judge_addresses(url, typed=AGENT, policy=Policy(), binding="GRPC"))

    assert judged("agent.example.test:50051") == [] and judged("localhost:50051") == ["address-loopback"]
    assert judged("agent.example.test:") == [] and judged("http://agent.example.test:50051") == ["scheme-downgrade"]


@pytest.mark.parametrize(
    ("url", "plain", "there"),
    [
        ("agent.example.test:50051", (), "https://agent.example.test:50051"),
        ("agent.example.test:50051", ("agent.example.test",), "http://agent.example.test:50051"),
        ("https://agent.example.test:50051", ("agent.example.test",), "https://agent.example.test:50051"),
        ("HTTP://agent.example.test", (), "http://agent.example.test:443"),
        ("127.0.0.1:7", (), "http://127.0.0.1:7"),
        ("grpcs://localhost:7", (), "https://localhost:7"),
    ],
)
def test_grpc_is_plain_text_on_this_machine_or_where_it_is_allowed(
    url: str, plain: tuple[str, ...], there: str
) -> None:
    place = dialled(url, plain=frozenset(plain))
    assert f"{place.scheme}://{authority(place)}" == there


def test_credentials_for_a_host_are_for_its_grpc_port_only_where_that_is_the_same_origin() -> None:
    def judged(url: str, **more: frozenset[str]) -> list[str]:
        policy = Policy(**more)  # type: ignore[arg-type]
        return slugs(judge_addresses(url, typed=AGENT, policy=policy, credentials_for={AGENT}, binding="GRPC"))

    assert judged("agent.example.test:443") == []
    assert judged("agent.example.test:50051") == ["cross-origin-credentials"]
    assert judged("agent.example.test:50051", allow_origins=frozenset({"https://agent.example.test:50051"})) == []


def test_the_refusal_says_both_values_and_what_to_do() -> None:
    (found,) = judge_addresses("https://192.168.1.4/rpc", typed=AGENT, policy=Policy())
    assert "192.168.1.4" in found.detail and "agent.example.test" in found.detail
    assert "--allow-origin https://192.168.1.4" in found.detail
