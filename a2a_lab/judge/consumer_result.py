"""Holds what a consumer told its caller against what the agent gave it: artifacts, the end of the task, failures.

A consumer that hands on less than it was given, and no error, hides a fault from everybody behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from a2a_lab.core import consumer_findings as found
from a2a_lab.core.model import State
from a2a_lab.core.quoting import counted, listed, quoted, without_content
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.verdicts import Finding

_FAILED: Final = frozenset({State.FAILED, State.REJECTED, State.CANCELED})
_TOLD_FAILED: Final = frozenset(state.value for state in _FAILED)


def judge_account(visit: Visit, account: Account | None) -> list[Finding]:
    """Nothing without an account: the traffic does not show what a caller was told."""
    if account is None:
        return []
    return [*_swallowed(visit, account), *_artifacts(visit, account), *_end(visit, account)]


def failure_of(visit: Visit) -> str | None:
    """The failure that the evidence shows, in a clause; None where the agent answered as it should."""
    if not visit.posted:
        return None
    if not visit.sends:
        bad = [one for one in visit.strays if one.status is None or one.status >= 400 or b'"error"' in one.body[:4000]]
        if not bad:
            return None
        return f"the agent answered {bad[-1].status or bad[-1].fault}" if bad[-1].status != 200 else "an error came"
    last = visit.sends[-1]
    if last.error is not None:
        return f"the agent answered with error {last.error.code}"
    if last.exchange.fault is not None:
        return f"no whole answer came ({last.exchange.fault})"
    if last.exchange.status is not None and last.exchange.status >= 400:
        return f"the agent answered HTTP {last.exchange.status}"
    if visit.state in _FAILED:
        return f"the task ended as {visit.state.value}"
    return None


def missing_artifacts(visit: Visit, account: Account) -> list[str]:
    """Ids of artifacts that the agent gave with content, and of which the caller was shown nothing, or a part."""
    seen = {name: _plain(text) for name, text in account.artifacts.items()}
    shown = "".join(seen.values()) + _plain(account.said)
    return [
        name
        for name, text in visit.artifacts.items()
        if (plain := _plain(text)) and plain not in shown and not (seen.get(name) and "[" in text)
    ]


def is_end_missing(visit: Visit, account: Account) -> bool:
    """Whether the caller of a consumer that is content was told another end than the agent's.

    An API that gives a message has no state to tell; there the content decides.
    """
    state = visit.state
    if state is None or not state.is_terminal or not account.ok or account.state == state.value:
        return False
    return account.state is not None or not visit.artifacts or bool(missing_artifacts(visit, account))


def _swallowed(visit: Visit, account: Account) -> Iterator[Finding]:
    failure = failure_of(visit)
    is_told = account.state in _TOLD_FAILED and account.error is None
    if account.ok and account.error is not None:
        told = f"it reported {quoted(account.error)} beside the answer {quoted(without_content(account.said))}"
        yield found.FAILURE_SWALLOWED(f"{told}{f'; {failure}' if failure else ''}", found=account.error[:400])
    elif failure is not None and account.ok and not is_told:
        yield found.FAILURE_SWALLOWED(
            f"{failure}, and its caller was told {quoted(without_content(account.said))}", found=failure
        )
    elif failure is not None and not account.ok and account.error is None:
        yield found.FAILURE_SWALLOWED(f"{failure}, and its caller was told of neither answer nor error", found=failure)


def _artifacts(visit: Visit, account: Account) -> Iterator[Finding]:
    if account.error is None and (account.ok or account.events):
        lost = missing_artifacts(visit, account)
        if lost:
            detail = (
                f"{len(lost)} of {counted(len(visit.artifacts), 'artifact')} missing ({listed(lost)}); it was told "
            )
            yield found.ARTIFACTS_DROPPED(detail + quoted(without_content(account.said)), found=lost)
    shown = "".join(_plain(text) for text in account.artifacts.values())
    for name, text in visit.artifacts.items():
        plain, sent = _plain(text), sum(_plain(one) == _plain(text) for one in visit.artifacts.values())
        if len(plain) > 3 and "[" not in plain and (times := shown.count(plain)) > sent:
            detail = f"artifact {quoted(name)} came once and was shown {times} times"
            yield found.ARTIFACT_DOUBLED(detail, found=times, expected=sent)


def _end(visit: Visit, account: Account) -> Iterator[Finding]:
    if account.error is None and is_end_missing(visit, account):
        assert visit.state is not None
        detail = f"the task ended as {visit.state.value}, its caller was told {quoted(account.state)}"
        yield found.END_DROPPED(detail, found=account.state, expected=visit.state.value)


def _plain(text: str) -> str:
    """Without blanks: consumers join parts with and without them."""
    return "".join(text.split())
