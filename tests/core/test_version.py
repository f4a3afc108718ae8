"""A2 and R21: the exact version, and how far every other value is from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from a2a_lab.core.model import Interface
from a2a_lab.core.policy import Policy
from a2a_lab.core.version import VersionGate, fits, gate_version, is_supported, line_of, spoken_over, supported
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Kind, Verdict
from tests.core.cards import card_of, one_zero, slugs, zero_three


def gate(value: Any, *supports: str, form: str = "1.0") -> VersionGate:
    card = one_zero() if form == "1.0" else zero_three()
    interface = Interface(url="https://agent.example.test/rpc", binding="JSONRPC", version=value, pointer="/x/0")
    return gate_version(card, interface, Policy(supports=supports or ("1.0",)))


@pytest.mark.parametrize(
    ("value", "supports", "dialect"),
    [("1.0", ("1.0",), "1.0"), ("0.3", ("0.3",), "0.3"), ("0.3.0", ("1.0", "0.3"), "0.3"), ("0.2.6", ("0.2",), "0.2")],
)
def test_the_exact_spellings_are_accepted(value: str, supports: tuple[str, ...], dialect: str) -> None:
    found = gate(value, *supports)
    assert found.is_exact and found.findings == () and found.dialect == dialect


@pytest.mark.parametrize(
    ("value", "supports", "spec_class", "dialect"),
    [
        ("1.0.0", ("1.0",), "patch", "1.0"),
        ("1.0.7", ("1.0",), "patch", "1.0"),
        ("0.3.1", ("0.3",), "patch", "0.3"),
        ("1.0+build.5", ("1.0",), "patch", "1.0"),
        ("1.0-rc", ("1.0",), "prerelease", "1.0"),
        ("1.0.0-rc", ("1.0", "0.3"), "prerelease", "1.0"),
        ("1.0.0-rc.1+b", ("1.0",), "prerelease", "1.0"),
        ("1.0rc1", ("1.0",), "prerelease", "1.0"),
        ("0.3.0-beta", ("0.3",), "prerelease", "0.3"),
    ],
)
def test_a_patch_or_pre_release_of_ones_own_version_is_a_hint(
    value: str, supports: tuple[str, ...], spec_class: str, dialect: str
) -> None:
    found = gate(value, *supports)
    assert (found.spec_class, found.dialect) == (spec_class, dialect)
    assert slugs(found.findings) == ["version-inexact"]
    assert found.findings[0].verdict is Verdict.HINT and found.findings[0].kind is Kind.AUTHORITY


@pytest.mark.parametrize(
    ("value", "supports"), [(1.0, ("1.0",)), (1, ("1.0",)), (0.3, ("0.3",)), (0.3, ("1.0", "0.3"))]
)
def test_a_number_is_never_turned_into_text(value: float, supports: tuple[str, ...]) -> None:
    found = gate(value, *supports)
    assert found.spec_class == "wrong-type" and slugs(found.findings) == ["version-wrong-type"]
    assert found.dialect == supports[-1]


@pytest.mark.parametrize(
    ("value", "supports", "spec_class"),
    [
        ("0.3", ("1.0",), "legacy"),
        ("0.3.0", ("1.0",), "legacy"),
        ("0.2.6", ("1.0",), "legacy"),
        ("0.2.6", ("1.0", "0.3"), "other-minor"),
        ("1.1", ("1.0",), "other-minor"),
        ("1.1.0-rc", ("1.0",), "other-minor"),
        (1.1, ("1.0",), "other-minor"),
        ("2.0", ("1.0", "0.3"), "other-major"),
        (2, ("1.0",), "other-major"),
        ("v1.0", ("1.0",), "unparsable"),
        ("1", ("1.0",), "unparsable"),
        (" 1.0", ("1.0",), "unparsable"),
        ("1.0\n", ("1.0",), "unparsable"),
        ("01.0", ("1.0",), "unparsable"),
        ("1.00", ("1.0",), "unparsable"),
        ("1.0.0.0", ("1.0",), "unparsable"),
        ("1.0.x", ("1.0",), "unparsable"),
        ("1,0", ("1.0",), "unparsable"),
        ("١.٠", ("1.0",), "unparsable"),
        ("latest", ("1.0",), "unparsable"),
        (True, ("1.0",), "unparsable"),
        (["1.0"], ("1.0",), "unparsable"),
        ({"version": "1.0"}, ("1.0",), "unparsable"),
        (10**400, ("1.0",), "unparsable"),
        (-1, ("1.0",), "unparsable"),
        (1e300, ("1.0",), "unparsable"),
    ],
)
def test_another_version_is_refused_and_nothing_is_tried(
    value: Any, supports: tuple[str, ...], spec_class: str
) -> None:
    found = gate(value, *supports)
    assert (found.spec_class, found.dialect) == (spec_class, None)
    assert slugs(found.findings) == ["version-incompatible"] and found.findings[0].verdict is Verdict.REFUSE


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.parametrize(
    ("document", "supports", "dialect"),
    [
        ({"supportedInterfaces": [{"url": "https://a.test", "protocolBinding": "JSONRPC"}]}, ("1.0",), "1.0"),
        ({"url": "https://a.test", "protocolVersion": "0.3.0"}, ("1.0", "0.3"), "0.3"),
        ({"url": "https://a.test"}, ("0.3",), "0.3"),
        ({"url": "https://a.test"}, ("0.2",), "0.2"),
        ({"url": "https://a.test"}, ("1.0",), None),
        ({"supportedInterfaces": [{"url": "https://a.test", "protocolBinding": "JSONRPC"}]}, ("0.3",), None),
    ],
)
def test_a_missing_version_is_read_from_the_cards_shape(
    document: dict[str, Any], supports: tuple[str, ...], dialect: str | None, value: str | None
) -> None:
    interface = Interface(url="https://a.test", binding="JSONRPC", version=value)
    found = gate_version(card_of(document), interface, Policy(supports=supports))
    assert (found.spec_class, found.dialect) == ("missing", dialect)
    assert slugs(found.findings) == ["version-missing" if dialect else "version-incompatible"]


def test_a_1_0_in_an_older_layout_is_exact_and_noted() -> None:
    found = gate("1.0", form="0.3")
    assert found.is_exact and slugs(found.findings) == ["version-shape-differs"]
    assert found.findings[0].verdict is Verdict.ACCEPT


def test_the_clients_own_versions_are_text() -> None:
    with pytest.raises(Misuse, match=r'1\.0 is a float.*write it in quotes: "1\.0"'):
        supported(Policy(supports=(1.0,)))  # type: ignore[arg-type]
    with pytest.raises(Misuse, match="name at least one"):
        supported(Policy(supports=()))
    assert supported(Policy(supports=("1.0", "0.3.0", "9.9"))) == ("1.0", "0.3", "9.9")
    assert gate("9.9", "9.9").is_exact


def test_the_choice_of_an_interface_asks_the_same_questions() -> None:
    assert is_supported("0.3.0", ("0.3",)) and not is_supported("0.3.1", ("0.3",))
    assert fits("0.3.1", ("0.3",)) and fits(None, ("1.0",)) and not fits("2.0", ("1.0",))


def test_the_line_of_a_version_is_major_and_minor() -> None:
    assert [line_of(value) for value in ("1.0", "1.0.1", "0.3.0-rc", 1.0, "x")] == ["1.0", "1.0", "0.3", None, None]


@pytest.mark.parametrize(
    ("form", "supports", "dialect"),
    [
        ("0.1", ("0.1",), "0.1"),
        ("0.1", ("1.0", "0.3", "0.2"), None),
        ("0.2", ("0.3", "0.2"), "0.2"),
        ("0.2", ("0.1",), None),
        ("0.3", ("0.1", "0.2", "0.3"), "0.3"),
        ("0.3", ("1.0", "0.2"), "0.2"),
        ("0.3", ("0.1",), "0.1"),
        ("1.0", ("0.3", "0.2", "0.1"), None),
    ],
)
def test_a_card_without_a_version_may_be_of_any_version_of_its_shape(
    form: str, supports: tuple[str, ...], dialect: str | None
) -> None:
    """Cards before 0.2.5 state none, those of the draft cannot; a 1.0 card is never tried as anything older."""
    card = replace(one_zero(), form=form)
    interface = Interface(url="https://a.test", binding="JSONRPC", version=None)
    assert gate_version(card, interface, Policy(supports=supports)).dialect == dialect


@pytest.mark.parametrize(
    ("version", "supports", "dialect"),
    [
        ("1.0", ("1.0", "0.2"), "1.0"),
        ("0.3.0", ("0.3.0",), "0.3"),
        ("0.2.6", ("0.3", "0.2"), None),
        ("0.2", ("0.2",), None),
        (None, ("0.2", "0.1"), None),
    ],
)
def test_http_json_is_spoken_from_0_3_on(version: str | None, supports: tuple[str, ...], dialect: str | None) -> None:
    interface = Interface(url="https://a.test", binding="HTTP+JSON", version=version)
    found = gate_version(zero_three(), interface, Policy(supports=supports, bindings=("HTTP+JSON",)))
    assert found.dialect == dialect
    if dialect is None:
        assert "over HTTP+JSON" in found.findings[0].detail
    assert spoken_over("JSONRPC", supports) == tuple("0.3" if one == "0.3.0" else one for one in supports)
