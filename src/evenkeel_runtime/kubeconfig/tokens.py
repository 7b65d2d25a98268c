"""Bearer tokens that are fetched, kept until they run out or are refused, and fetched again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from evenkeel.ports import Clock

MARGIN = timedelta(seconds=30)
"""How long before its end a token is given up: requests under way still need it."""


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token, and when it runs out where that is known."""

    value: str
    expires: datetime | None = None

    def usable(self, now: datetime) -> bool:
        """Whether it is still good for a request."""
        return self.expires is None or now < self.expires - MARGIN


class RenewedToken:
    """A TokenSource that keeps a token until it runs out or is refused, then fetches another.

    ``fetch`` is called by one thread at a time. It raises UnauthenticatedError.
    """

    def __init__(
        self, fetch: Callable[[], Token], clock: Clock, first: Token | None = None
    ) -> None:
        """``first`` is a token that was fetched already."""
        self._fetch = fetch
        self._clock = clock
        self._lock = Lock()
        self._current = first

    def token(self) -> str:
        """The token that is kept, or a new one."""
        with self._lock:
            if self._current is None or not self._current.usable(self._clock.now()):
                self._current = self._fetch()
            return self._current.value

    def refused(self, token: str) -> None:
        """Keep this token no longer."""
        with self._lock:
            if self._current is not None and self._current.value == token:
                self._current = None
