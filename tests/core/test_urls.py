"""D4 and R8: when two URLs are one target, and in what two that nearly are differ."""

from __future__ import annotations

import pytest

from a2a_lab.core.urls import is_address, is_url, joined, normalise, origin, parse_url, same_site, same_target

RPC = "https://agent.example.test/rpc"


@pytest.mark.parametrize(
    "spelling",
    [
        "HTTPS://agent.example.test/rpc",
        "https://Agent.Example.TEST/rpc",
        "https://agent.example.test:443/rpc",
        "https://agent.example.test:/rpc",
        "https://agent.example.test/rpc#part",
    ],
)
def test_scheme_host_case_default_port_and_fragment_do_not_count(spelling: str) -> None:
    assert normalise(spelling) == RPC
    assert same_target(spelling, RPC) == (True, None)


def test_an_empty_path_is_the_root() -> None:
    assert same_target("https://agent.example.test", "https://agent.example.test/") == (True, None)


@pytest.mark.parametrize(
    ("other", "near"),
    [
        ("https://agent.example.test/rpc/", "final slash"),
        ("https://agent.example.test/RPC", "letter case of the path"),
        ("https://agent.example.test:8443/rpc", "port"),
        ("http://agent.example.test/rpc", "scheme"),
        ("https://agent.example.test/rpc?v=1", "query"),
        ("https://me@agent.example.test/rpc", "user name"),
        ("https://www.agent.example.test/rpc", "subdomain"),
        ("https://other.example.test/rpc", None),
        ("https://agent.example.test/other", None),
        ("https://agent.example.test:8443/rpc/", None),
        ("http://agent.example.test:8080/rpc", None),
        ("not a url", None),
    ],
)
def test_a_near_miss_is_named_by_what_differs(other: str, near: str | None) -> None:
    assert same_target(RPC, other) == (False, near)
    assert same_target(other, RPC) == (False, near)


def test_what_is_no_url_is_the_same_only_as_itself() -> None:
    assert same_target("/rpc", "/rpc") == (True, None)
    assert same_target("/rpc", "/RPC") == (False, None)


def test_the_path_is_never_normalised() -> None:
    assert normalise("https://a.test/%7Eone/./two//three") == "https://a.test/%7Eone/./two//three"
    assert parse_url("https://a.test/one/./two").has_dot_segments
    assert parse_url("https://a.test/one/%2E%2e/two").has_dot_segments
    assert not parse_url("https://a.test/one/..two/.three").has_dot_segments


@pytest.mark.parametrize(
    ("spelling", "host"),
    [
        ("https://[0:0:0:0:0:0:0:1]/", "::1"),
        ("https://[FE80::0001%25eth0]/", "fe80::1%25eth0"),
        ("https://Bücher.example/", "xn--bcher-kva.example"),
        ("https://127。0。0。1/", "127.0.0.1"),
    ],
)
def test_one_spelling_of_a_host(spelling: str, host: str) -> None:
    assert parse_url(spelling).host == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        7,
        "/rpc",
        "agent.example.test",
        "ftp://agent.example.test/",
        "https:///rpc",
        "https://agent.example.test:port/",
        "https://agent.example.test:70000/",
        "https://[::1/",
        "https://[::zz]/",
        "https://agent.example.test\\@evil.test/",
        "https://agent.example.test/\trpc",
        "https://agent.example.test/r pc",
        "https://%6cocalhost/",
        "https://" + "ü" * 64 + ".test/",
    ],
)
def test_what_two_readers_would_take_for_two_urls_is_none(text: object) -> None:
    with pytest.raises(ValueError, match=r"URL|host"):
        parse_url(text)
    assert not is_url(text)  # type: ignore[arg-type]


def test_origin_leaves_the_default_port_out() -> None:
    assert origin("https://A.test:443/x?y") == "https://a.test"
    assert origin("http://[::1]:8000/x") == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("one", "other", "same", "near"),
    [
        ("agent.example.test:50051", "https://AGENT.example.test:50051/any/path", True, None),
        ("dns:///agent.example.test:50051", "grpc://agent.example.test:50051", True, None),
        ("agent.example.test:50051", "agent.example.test:50052", False, "port"),
        ("agent.example.test:50051", "other.example.test:50051", False, None),
    ],
)
def test_grpc_compares_host_and_port(one: str, other: str, same: bool, near: str | None) -> None:
    assert same_target(one, other, binding="GRPC") == (same, near)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.test", "https://example.test:8443", True),
        ("https://example.test", "https://www.example.test", True),
        ("https://www.example.test", "https://example.test", True),
        ("https://a.example.test", "https://b.example.test", False),
        ("https://example.test", "https://badexample.test", False),
        ("https://test", "https://example.test", False),
        ("https://10.0.0.1", "https://1.10.0.0.1", False),
    ],
)
def test_a_site_is_a_host_with_its_sub_and_superdomains(one: str, other: str, same: bool) -> None:
    assert same_site(one, other) is same


def test_addresses_are_told_from_names() -> None:
    assert is_address("10.0.0.1") and is_address("fe80::1%eth0") and not is_address("ten.example")


def test_a_location_is_joined_as_rfc_9110_says() -> None:
    assert joined("https://a.test/x/y", "z") == "https://a.test/x/z"
    assert joined("https://a.test/x", "//b.test/y") == "https://b.test/y"
    assert joined("https://a.test/x", "") == "https://a.test/x"
