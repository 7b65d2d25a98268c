"""Tells of interruptions: that one began, and that it is over, with what it did.

What has to be told is noted on the reconciler's Lease first, and told then. So what an invocation
does not come to, or nobody takes, the next one tells. It is told twice where an invocation dies
between telling and noting that; both have the same id.
"""

from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from evenkeel.decisions.interruption import wording
from evenkeel.errors import NotificationError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.interruptions import Interruptions
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.sync.questions import AtOnce
from evenkeel.model import names
from evenkeel.model.interruption import Untold, account_in
from evenkeel.model.metrics import Metric
from evenkeel.ports import Background, Clock, Done, Notifications, Recorder, Session
from evenkeel.settings import HandoverSettings

LOOK_EVERY: Final = timedelta(seconds=3)
"""How often it is looked which nodes have pods that have to move."""

LONGEST: Final = timedelta(seconds=5)
"""How long an invocation that has nothing else to do waits at most for those who are told."""

AGAIN_AFTER: Final = timedelta(seconds=30)
"""How long to rest after a notification that nobody took."""


class Telling:
    """Outlives invocations. It sends one notification at a time, beside the loop."""

    def __init__(
        self,
        settings: HandoverSettings,
        notifications: Notifications | None,
        clock: Clock,
        recorder: Recorder,
    ) -> None:
        """``notifications`` None: nothing is told, and nothing noted."""
        self.of = Interruptions(clock)
        self._settings = settings
        self._notifications = notifications if settings.does_notify else None
        self._clock = clock
        self._recorder = recorder
        self._look_at: datetime | None = None
        self._again_at: datetime | None = None
        self.is_sending = False
        """Whether it is not known yet if one was taken."""

    @property
    def is_on(self) -> bool:
        """Whether anything is told. Else no account is loaded, and no view: nothing is in it."""
        return self._notifications is not None

    @property
    def note(self) -> str:
        """What the Lease is to keep."""
        return self.of.account.note

    @property
    def are_due(self) -> bool:
        """Whether something is to be told by now."""
        return self.of.are_due

    def read(self, note: str | None) -> None:
        """Take what the Lease has, which is what the last holder knew."""
        if self.is_on:
            self.of.load(account_in(note))

    def begin(self, view: View) -> None:
        """An invocation has read the pods of the doomed nodes."""
        self.is_sending = False
        if self.is_on:
            self.of.view = view
            self.of.look()

    def end(self) -> None:
        """The invocation is over, and what it has read is let go: the next may come in hours."""
        self.of.view = None

    def observed(self, view: View) -> None:
        """Tell of what begins, and wait for it: in observe mode nothing is noted.

        Nobody follows the pods, so it is not known when it is over.
        """
        self.begin(view)
        for untold in self.of.account.untold:
            if untold.is_over:
                self.of.drop(untold)
        self.send(self.note, AtOnce())

    def keep(self, leadership: Leadership, session: Session) -> None:
        """Look at the nodes now and then, and send what the Lease has."""
        now = self._clock.now()
        if self._look_at is None or not timedelta() <= self._look_at - now <= LOOK_EVERY:
            self._look_at = now + LOOK_EVERY
            self.look(leadership)
        if self.of.account.untold:
            self.send(leadership.notes.shown.get(names.INTERRUPTION), session)

    def send(self, noted: str | None, background: Background) -> None:
        """Send the next one that is noted, unless one is under way, or it rests."""
        now, port, known = self._clock.now(), self._notifications, account_in(noted).untold
        waiting = [each for each in self.of.account.untold if each in known]
        rests = self._again_at is not None and now < self._again_at
        if port is None or self.is_sending or rests or not waiting:
            return
        untold, self.is_sending = waiting[0], True
        told = wording.of(untold, self._settings.cluster_name, self._settings.mode)
        background.start(partial(port.send, told), partial(self._sent, untold))

    def look(self, leadership: Leadership) -> None:
        """See what others have counted, and which nodes have pods that have to move."""
        self.of.add_tallies(leadership.sharing.notes_of_others(names.INTERRUPTION))
        self.of.look()

    def finish(self, leadership: Leadership, session: Session) -> None:
        """Tell what is due now that nothing else is: the Lease is not held any more."""
        if not self.are_due:
            return
        self.of.look()
        leadership.note()
        until = self._clock.now() + LONGEST
        self.send(leadership.notes.shown.get(names.INTERRUPTION), session)
        while self.is_sending and self._clock.now() < until:
            for arrival in session.next(until - self._clock.now()):
                if isinstance(arrival, Done):
                    arrival.then()
            self.send(leadership.notes.shown.get(names.INTERRUPTION), session)
        leadership.note()

    def _sent(self, untold: Untold, sending: Future[None]) -> None:
        self.is_sending = False
        try:
            sending.result()
        except NotificationError as error:
            self._again_at = self._clock.now() + AGAIN_AFTER
            self._recorder.counted(Metric.NOTIFICATIONS_FAILED)
            self._recorder.noted(f"not told of an interruption, and tried again: {error}")
            return
        self._again_at = None
        self._recorder.counted(Metric.NOTIFICATIONS_SENT)
        self.of.drop(untold)
