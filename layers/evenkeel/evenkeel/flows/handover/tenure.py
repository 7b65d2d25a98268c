"""What an invocation holds while it works, and how it says that it is alive."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.errors import QueueError
from evenkeel.flows.lease import DURATION, ReconcilerLease
from evenkeel.model.request import Request
from evenkeel.ports import Arrival, Recorder, Reply

type TimeLeft = Callable[[], timedelta]
"""How long from now until this invocation is stopped."""

type Hide = Callable[[timedelta], None]
"""Makes the wake-up that led to an invocation visible again after so long. Raises QueueError."""

CLOSING = timedelta(seconds=3)
"""No invocation begins anything so shortly before it is stopped."""


class Pulse(NamedTuple):
    """How often a sign of life is given, and after how long without one somebody else goes on.

    ``held``: the Lease; ``hidden``: the wake-up, which comes back when the Lease has run out.
    """

    every: timedelta
    held: timedelta
    hidden: timedelta


QUICK = Pulse(timedelta(seconds=2), timedelta(seconds=7), timedelta(seconds=8))
CALM = Pulse(timedelta(seconds=5), DURATION, timedelta(seconds=20))

QUICKLY = timedelta(seconds=2)


def pulse_of(took: timedelta) -> Pulse:
    """The pulse of the work at an API server that took so long for the first two questions.

    At one that takes seconds for each a sign of life may be late though nobody has died. So it may
    be while there is much to read at once: until the work begins the pulse is calm.
    """
    return QUICK if took <= QUICKLY else CALM


class Tenure:
    """The Lease and the wake-up of one invocation.

    An invocation may work for a minute, but one that dies is to be missed within seconds: it
    keeps its wake-up hidden, and its Lease held, for no longer than its pulse says. What cannot be
    kept saved only work: others may come meanwhile.
    """

    def __init__(
        self,
        lease: ReconcilerLease,
        recorder: Recorder,
        hide: Hide | None,
        left: TimeLeft,
        pulse: Pulse,
    ) -> None:
        """A first sign of life is due at once. ``hide`` None: no wake-up led to it.

        The pulse is calm at first; ``pulse`` is that of the work.
        """
        self._lease = lease
        self._recorder = recorder
        self._hide = hide
        self._left = left
        self._pulse = CALM
        self._pulse_of_work = pulse
        self._next_at: datetime | None = None
        self._renewals: dict[int, Request] = {}  # by id, those without an answer
        self.is_lost = False
        """Whether somebody else has taken the Lease, or taken it away."""

    @property
    def is_over(self) -> bool:
        """Whether nothing may be begun any more: it is lost, or about to be stopped."""
        return self.is_lost or self._left() <= CLOSING

    @property
    def end(self) -> str:
        """Why nothing may be begun any more: the reason of the invocation's outcome."""
        return "LeaseLost" if self.is_lost else "OutOfTime"

    def work(self) -> None:
        """Begin to work: from now on the pulse is that of the work."""
        self._pulse = self._pulse_of_work
        self._next_at = None

    def keep(self, now: datetime, send: Callable[[Request], object]) -> None:
        """Give a sign of life if it is time; ``send`` is for the renewal of the Lease.

        There is none before it was taken. Each Reply is to be shown to ``heard``.
        """
        if self._next_at is not None and now < self._next_at:
            return
        self._next_at = now + self._pulse.every
        renewal = self._lease.renewal(now, self._pulse.held)
        if renewal is not None:
            self._renewals[id(renewal)] = renewal
            send(renewal)
        self._keep_hidden()

    def heard(self, arrival: Arrival) -> bool:
        """Take the answer to a renewal; False if it is something else."""
        if not isinstance(arrival, Reply):
            return False
        if self._renewals.pop(id(arrival.request), None) is None:
            return False
        self.is_lost = self.is_lost or self._lease.is_lost_by(arrival)
        return True

    def _keep_hidden(self) -> None:
        """What failed once is not tried again: it may take seconds, in which nothing is done."""
        if self._hide is None:
            return
        try:
            self._hide(self._pulse.hidden)
        except QueueError as error:
            self._hide = None
            self._recorder.noted(f"the wake-up may come back while it is worked on: {error}")
