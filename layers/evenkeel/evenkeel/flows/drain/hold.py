"""One invocation's hold on a Lease: whether it has it, for how long, and whether it lost it."""

from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.flows.drain.lease import VALID
from evenkeel.model.cluster_objects import Lease
from evenkeel.ports import Clock, Recorder


class Moment(NamedTuple):
    """A moment by two clocks: the wall's, and the machine's since its start."""

    wall: datetime
    boot: timedelta

    @classmethod
    def of(cls, clock: Clock) -> "Moment":
        """Now."""
        return cls(clock.now(), clock.boot())


class Hold:
    """What the answers to writes of the Lease tell of it."""

    def __init__(self, clock: Clock, recorder: Recorder) -> None:
        """Nothing is held yet."""
        self._clock = clock
        self._recorder = recorder
        self._since: Moment | None = None
        self._is_taken_away = False
        self._has_gone_back = False
        self.newest = 0
        """The highest revision of the Lease that an answer has shown."""

    @property
    def was_taken(self) -> bool:
        """Whether this invocation took the Lease, and nobody has taken it away."""
        return self._since is not None and not self._is_taken_away

    @property
    def is_lost(self) -> bool:
        """Whether another holder has the Lease, or it was deleted; or its store went back."""
        return self._is_taken_away or self._has_gone_back

    def lose(self) -> None:
        """Another has the Lease, or may have it."""
        self._is_taken_away = True

    def renew(self, sent: Moment, lease: object, newest: int = 0) -> None:
        """A write was accepted that was sent then, when the Lease was known to be so new.

        Each write makes the Lease newer. One that left it older came to an etcd that was restored
        from a backup: pods that are known may not be there, and those that come have lower
        revisions than those that went. So this invocation ends, and the next one begins with
        nothing.
        """
        self._since = sent
        if not isinstance(lease, Lease):
            return
        if lease.revision < newest and not self._has_gone_back:
            self._has_gone_back = True
            self._recorder.noted(
                "the API server's store went back, as after a restore of etcd: all is read anew",
                revision=lease.revision,
                before=newest,
            )
        self.newest = lease.revision

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on the Lease; nothing without it.

        The time since the last renewal that was accepted is the longer of the two clocks', for the
        machine's counts while it sleeps. A wall clock that was set back counts as run out.
        """
        if self._since is None or self.is_lost:
            return timedelta()
        passed = self._clock.now() - self._since.wall
        if passed < timedelta():
            return timedelta()
        return VALID - max(passed, self._clock.boot() - self._since.boot)
