"""What an invocation holds while it works, and how it says that it is alive."""

from collections.abc import Callable
from datetime import datetime, timedelta

from evenkeel.errors import QueueError
from evenkeel.flows.lease import ReconcilerLease
from evenkeel.model.request import Request
from evenkeel.ports import Arrival, Recorder, Reply

type TimeLeft = Callable[[], timedelta]
"""How long from now until this invocation is stopped."""

type Hide = Callable[[timedelta], None]
"""Makes the wake-up that led to an invocation visible again after so long. Raises QueueError."""

SIGN_OF_LIFE = timedelta(seconds=5)
"""How often the Lease is renewed, and the wake-up hidden for longer."""

CLOSING = timedelta(seconds=3)
"""No invocation begins anything so shortly before it is stopped."""

HIDDEN = timedelta(seconds=20)
"""A wake-up comes back so long after its invocation's last sign of life.

By then the Lease has run out, too.
"""


class Tenure:
    """The Lease and the wake-up of one invocation.

    An invocation may work for a minute, but one that dies is to be missed within seconds: it
    keeps its wake-up hidden, and its Lease held, for no longer than `HIDDEN` at a time. What
    cannot be kept saved only work: others may come meanwhile.
    """

    def __init__(
        self,
        lease: ReconcilerLease,
        recorder: Recorder,
        hide: Hide | None,
        left: TimeLeft,
        since: datetime,
    ) -> None:
        """A first sign of life is due at ``since``. ``hide`` None: no wake-up led to it."""
        self._lease = lease
        self._recorder = recorder
        self._hide = hide
        self._left = left
        self._next_at = since
        self._renewal: Request | None = None
        self.is_lost = False
        """Whether somebody else has taken the Lease, or taken it away."""

    @property
    def is_over(self) -> bool:
        """Whether nothing may be begun any more: it is lost, or about to be stopped."""
        return self.is_lost or self._left() <= CLOSING

    def keep(self, now: datetime, send: Callable[[Request], object]) -> None:
        """Give a sign of life if it is time; ``send`` is for the renewal of the Lease.

        There is none before it was taken. Its Reply is to be shown to ``heard``.
        """
        if now < self._next_at:
            return
        self._next_at = now + SIGN_OF_LIFE
        self._keep_hidden()
        self._renewal = self._lease.renewal(now)
        if self._renewal is not None:
            send(self._renewal)

    def heard(self, arrival: Arrival) -> bool:
        """Take the answer to a renewal; False if it is something else."""
        if not isinstance(arrival, Reply) or arrival.request is not self._renewal:
            return False
        self.is_lost = self.is_lost or self._lease.is_lost_by(arrival)
        return True

    def _keep_hidden(self) -> None:
        """What failed once is not tried again: it may take seconds, in which nothing is done."""
        if self._hide is None:
            return
        try:
            self._hide(HIDDEN)
        except QueueError as error:
            self._hide = None
            self._recorder.noted(f"the wake-up may come back while it is worked on: {error}")
