"""Why the API server refuses these credentials (401): told once, with what mends it.

A token that ran out, a wrong clock and a role without an access entry are answered alike. They are
told apart by whether a new token is accepted, and by the time in the answer.
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

RENEWED: Final = (
    "the API server refused a token that ran out (401), and accepts a new one: nothing to do"
)


class Refusals:
    """How the API server answers these credentials. Several threads report at once.

    An episode begins with a refusal that a new token does not end, and ends when a request is
    accepted.
    """

    def __init__(self, clock: Clock, journal: Journal, remedy: str) -> None:
        """``remedy`` says what to do where neither a token nor a clock is the cause."""
        self._clock = clock
        self._journal = journal
        self._remedy = remedy
        self._lock = Lock()
        self._is_refused = False
        self._replaced = ""

    def accepted(self) -> None:
        """A request got past authentication."""
        if self._is_refused:
            with self._lock:
                self._is_refused = False

    def renewed(self, token: str, date: str | None) -> None:
        """This token was refused, and a new one accepted. ``date`` is that answer's header."""
        with self._lock:
            is_news, self._replaced = token != self._replaced, token
        if is_news:
            self._journal.noted(self._of_the_clock(date) or RENEWED)

    def refused(self, date: str | None) -> None:
        """A request was refused for good. ``date`` is the answer's header."""
        with self._lock:
            is_news, self._is_refused = not self._is_refused, True
        if is_news:
            line = f"the API server refuses these credentials (401): {self._remedy}"
            self._journal.noted(self._of_the_clock(date) or line)

    def _of_the_clock(self, date: str | None) -> str:
        """The line that blames the clock here; empty if it is right, or that is not known."""
        theirs = time_in(date)
        if theirs is None:
            return ""
        skew = self._clock.now() - theirs
        if abs(skew) <= TOLERANCE:
            return ""
        seconds = round(abs(skew).total_seconds())
        side = "ahead of" if skew > timedelta() else "behind"
        return (
            f"the clock here is {seconds} s {side} the API server's, which therefore refuses"
            " tokens (401): set the host's clock by NTP; on Lambda this is not expected"
        )
