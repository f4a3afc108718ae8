"""When a credential that ends is renewed: at 80 % of its life, and once where it was refused with 401.

Decides, and obtains nothing: what it says is done by `net.credentials`. Time comes in, in seconds of one clock. A
refusal renews once; if the new credential is refused as well, whoever issues them and whoever checks them disagree, and
asking for a third changes nothing. As soon as a request was let through, a later refusal is news again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

RENEW_AT: Final = 0.8  # of the life: a call that is under way, and clocks that differ, have the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Headers that hold for a while. `life_s` is None where nobody said how long; `since` is when they were issued."""

    headers: Mapping[str, str]
    since: float
    life_s: float | None = None

    def is_due(self, now: float) -> bool:
        """Whether it is time for a new one."""
        return self.life_s is not None and now - self.since >= RENEW_AT * self.life_s

    def is_over(self, now: float) -> bool:
        """Whether it may not be used any more."""
        return self.life_s is not None and now - self.since >= self.life_s

    def __repr__(self) -> str:
        return f"Lease(headers={sorted(self.headers)}, life_s={self.life_s})"


class Renewal:
    """One credential through its renewals. Each answer says whether a new one has to be obtained."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self._on_trial = False  # obtained because its predecessor was refused, and not let through since

    def wants(self, now: float) -> bool:
        """Whether to obtain one before the next request leaves."""
        return self.lease is None or self.lease.is_due(now)

    def must_have(self, now: float) -> bool:
        """Whether there is nothing to go on with where obtaining one fails: a lease holds until it is over."""
        return self.lease is None or self.lease.is_over(now)

    def took(self, lease: Lease, *, on_trial: bool = False) -> None:
        self.lease, self._on_trial = lease, on_trial

    def let_through(self) -> None:
        """A request with it was answered by anything but 401."""
        self._on_trial = False

    def refused(self, sent: Mapping[str, str]) -> bool:
        """A request that carried `sent` was answered with 401: whether it is worth obtaining another credential.

        Where another request has renewed it meanwhile there is a newer one, and that one has not been tried.
        """
        is_newest = self.lease is not None and dict(sent) == dict(self.lease.headers)
        return is_newest and not self._on_trial

    def has_newer(self, sent: Mapping[str, str]) -> bool:
        """Whether there is one that was not the one refused."""
        return self.lease is not None and dict(sent) != dict(self.lease.headers)
