"""Where the replies and changes of one session meet, whichever thread they come from."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from threading import Condition, Event

from evenkeel.ports import Arrival

GATHERING = 0.02
"""Seconds after a first arrival in which others may come, to be taken together.

In a storm hundreds come in a second, and the owner looks through all its work each time.
"""


class Mailbox:
    """A queue that is emptied at once. Any thread may put, one takes."""

    def __init__(self, rest: Callable[[float], object] | None = None) -> None:
        """Nothing is there yet. ``rest`` waits for so many seconds."""
        self._arrived = Condition()
        self._arrivals: deque[Arrival] = deque()
        self._expected = 0
        self._rest = rest or Event().wait

    @property
    def expected(self) -> int:
        """How many replies were announced and are not here yet."""
        with self._arrived:
            return self._expected

    def expect(self) -> None:
        """Announce a reply."""
        with self._arrived:
            self._expected += 1

    def put(self, arrival: Arrival, *, expected: bool = False) -> None:
        """Add to the end, and wake the owner. Announced replies are ``expected``."""
        with self._arrived:
            self._expected -= expected
            self._arrivals.append(arrival)
            self._arrived.notify()

    def take(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything that is there, oldest first; waits up to ``timeout`` for a first one."""
        seconds = max(0.0, timeout.total_seconds())
        with self._arrived:
            is_any = self._arrived.wait_for(lambda: self._arrivals, seconds)
        if is_any and seconds:
            self._rest(GATHERING)
        with self._arrived:
            taken = tuple(self._arrivals)
            self._arrivals.clear()
            return taken
