"""When a credential is renewed (DESIGN 9, R37): a pure clock, so that an hour's token is tested in microseconds."""

from __future__ import annotations

import pytest

from a2a_lab.core.lease import Lease, Renewal


def lease(token: str = "a", *, since: float = 0.0, life_s: float | None = 3600.0) -> Lease:
    return Lease(headers={"Authorization": f"Bearer {token}"}, since=since, life_s=life_s)


@pytest.mark.parametrize(
    ("now", "due", "over"), [(0, False, False), (2879, False, False), (2880, True, False), (3600, True, True)]
)
def test_it_is_renewed_at_four_fifths_of_its_life(now: float, due: bool, over: bool) -> None:
    renewal = Renewal()
    renewal.took(lease())
    assert (renewal.wants(now), renewal.must_have(now)) == (due, over)


def test_before_the_first_request_there_is_nothing_to_go_on_with() -> None:
    assert Renewal().wants(0.0) and Renewal().must_have(0.0)


def test_where_nobody_said_how_long_it_holds_until_it_is_refused() -> None:
    """`expires_in` is only RECOMMENDED (RFC 6749 5.1)."""
    renewal = Renewal()
    renewal.took(lease(life_s=None))
    assert not renewal.wants(1e9) and renewal.refused(lease().headers)


@pytest.mark.parametrize("life_s", [0.0, 1e-9])
def test_one_that_is_born_dead_is_renewed_each_time(life_s: float) -> None:
    renewal = Renewal()
    renewal.took(lease(life_s=life_s))
    assert renewal.wants(1.0)


def test_a_refusal_renews_once_and_not_for_ever() -> None:
    renewal = Renewal()
    renewal.took(lease("a"))
    assert renewal.refused(lease("a").headers)
    renewal.took(lease("b"), on_trial=True)
    assert not renewal.refused(lease("b").headers), "whoever issues and whoever checks disagree"


def test_a_refusal_after_it_was_let_through_is_news() -> None:
    renewal = Renewal()
    renewal.took(lease("b"), on_trial=True)
    renewal.let_through()
    assert renewal.refused(lease("b").headers)


def test_a_request_that_carried_an_older_one_takes_the_newer() -> None:
    renewal = Renewal()
    renewal.took(lease("b"))
    assert not renewal.refused(lease("a").headers) and renewal.has_newer(lease("a").headers)


def test_it_does_not_show_what_it_holds() -> None:
    assert "Bearer" not in repr(lease("s3cr3t")) and "s3cr3t" not in repr(lease("s3cr3t"))
