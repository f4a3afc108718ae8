"""The table of closures: complete, and each closure reachable (wire-facts 7.3, R31)."""

from __future__ import annotations

from typing import get_args

import pytest

from a2a_lab.core.closures import CLOSURES, ENDED, HANGS, UNSETTLED, Closure, Ending, Situation

BY_TIME_OR_HEAD = HANGS | {"final-without-close", "overrun", "wrong-media", "http-error", "rpc-error-before-stream"}


def test_every_situation_meets_every_ending() -> None:
    assert set(CLOSURES) == set(get_args(Situation))
    for row in CLOSURES.values():
        assert set(row) == set(get_args(Ending))


def test_every_closure_is_reached() -> None:
    reached = {closure for row in CLOSURES.values() for closure in row.values()}
    assert reached | BY_TIME_OR_HEAD == set(get_args(Closure))


@pytest.mark.parametrize("closure", get_args(Closure))
def test_a_closure_shows_the_end_or_leaves_it_open_never_both(closure: Closure) -> None:
    assert not (closure in ENDED and closure in UNSETTLED)


def test_only_the_signal_of_the_dialect_proves_an_end() -> None:
    proved = {situation for situation, row in CLOSURES.items() if row["close"] == "final-proved"}
    assert proved == {"ended"}
    assert CLOSURES["active"]["close"] == "eof-nonterminal", "the end of a stream is not the end of a task"
