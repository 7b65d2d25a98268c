"""Why the API server refuses these credentials (401): noted once, with what mends it.

A wrong clock and a role without an access entry are answered alike. The time in the answer tells
them apart.
"""

from datetime import timedelta
from threading import Lock
from typing import Final

from evenkeel.adapters.kubernetes.failures import time_in
from evenkeel.ports import Clock, Journal

TOLERANCE: Final = timedelta(minutes=5)
"""A clock that is further from the API server's is the cause: AWS tolerates no more in a signature.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
"""


class RefusedCredentials:
    """Notes the first refusal, and the first one after an accepted request. For several threads."""

    def __init__(self, clock: Clock, journal: Journal, remedy: str) -> None:
        """``remedy`` says what to do where the clock is right."""
        self._clock = clock
        self._journal = journal
        self._remedy = remedy
        self._lock = Lock()
        self._is_refused = False

    def answered(self, status: int, date: str | None) -> None:
        """The API server has answered with this status. ``date`` is the answer's header."""
        is_refused = status == 401
        with self._lock:
            is_first = is_refused and not self._is_refused
            self._is_refused = is_refused
        if not is_first:
            return
        theirs = time_in(date)
        skew = timedelta() if theirs is None else self._clock.now() - theirs
        if abs(skew) <= TOLERANCE:
            self._journal.noted(f"the API server refuses these credentials (401): {self._remedy}")
            return
        side = "ahead of" if skew > timedelta() else "behind"
        self._journal.noted(
            f"the clock here is {abs(skew).total_seconds():.0f} s {side} the API server's, which"
            " therefore refuses tokens (401): set the host's clock by NTP; on Lambda this is not"
            " expected"
        )
