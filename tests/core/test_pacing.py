"""How fast a live agent is asked (R37): a pure clock."""

from __future__ import annotations

import pytest

from a2a_lab.core.pacing import Pace


def test_requests_leave_evenly_and_not_in_bursts() -> None:
    pace = Pace(2.0)
    assert [pace.wait_s(0.0), pace.wait_s(0.0), pace.wait_s(0.1)] == [0.0, 0.5, pytest.approx(0.9)]


def test_time_that_passed_is_not_saved_up() -> None:
    pace = Pace(2.0)
    pace.wait_s(0.0)
    assert [pace.wait_s(100.0), pace.wait_s(100.0)] == [0.0, 0.5]


def test_as_fast_as_it_goes_never_waits() -> None:
    pace = Pace(float("inf"))
    assert [pace.wait_s(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]


def test_a_short_pause_is_waited_for_and_a_long_one_is_kept() -> None:
    """R2: five seconds of patience; who wants more is not asked again."""
    pace = Pace(1000.0)
    pace.asked_to_rest(4.0, 10.0)
    assert pace.wait_s(11.0) == pytest.approx(3.0)
    pace.asked_to_rest(3600.0, 11.0)
    assert pace.wait_s(12.0) is None and pace.rest_s(12.0) == 3599.0
    assert pace.wait_s(3611.0) == 0.0


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    pace = Pace(1000.0)
    pace.asked_to_rest(3600.0, 0.0)
    pace.asked_to_rest(1.0, 0.0)
    assert pace.wait_s(2.0) is None
