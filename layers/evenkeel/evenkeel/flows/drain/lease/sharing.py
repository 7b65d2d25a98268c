"""A storm that is too large for one reconciler: several share its workloads, each with a Lease.

Number 0 holds the Lease that every reconciler takes. It notes on it, once, among how many the
workloads are divided, and has only its own share from then on. Each other share is the work of the
reconciler that holds the Lease of its number, which is taken, renewed and given up as every Lease
is (see ``hold``). So two never decide about the same workload:

- a share is its Lease's holder's alone;
- the others write only as long as number 0 holds its Lease and notes their division: for 10 s
  after its last renewal at most, as number 0 itself. The reconciler that takes that Lease next, of
  any version, finds none of them at work, reads no other Lease for that, and has all workloads
  until it divides them;
- number 0 frees its Lease only when it has ended the division, and has seen after that that no
  other Lease is held. If it has no time for that its Lease runs out. Each of the others takes its
  Lease first, and looks at number 0's after that. So if one comes at the last moment, either number
  0 sees its Lease, or it sees that the division has ended.

The others work as long as number 0 does, also when nothing is left of their share, and say on their
Leases what they are at. So none is called again for news. For a share whose Lease is free number 0
calls every 15 s.

It is not promised that a share begins at once: until a reconciler has its Lease, only number 0's
share is worked on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from evenkeel.errors import NotFoundError, QueueError
from evenkeel.flows.drain.lease.wire import VALID, ServerTime, held_for, question
from evenkeel.flows.reads import answer
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import UNDIVIDED, Division, division_in
from evenkeel.ports import Clock, Cluster, Recorder, Reply, Session

type Call = Callable[[int], None]
"""Has so many others begin, who look for a share that nobody has. Raises QueueError."""

CALL_AGAIN_AFTER = timedelta(seconds=15)
"""How often others are called that have not come to share a storm."""

ZEROS_COUNT_FOR = timedelta(seconds=20)
"""How long from the beginning of a share the others' workloads that would reach zero go first."""


class Stage(StrEnum):
    """What a reconciler of a shared storm is at."""

    ZEROS_WAIT = "zeros-wait"
    BUSY = "busy"
    DONE = "done"


def division_of(lease: Lease | None) -> Division:
    """The division that a Lease notes; UNDIVIDED if none."""
    return division_in(None if lease is None else lease.metadata.annotations.get(names.SHARES))


def divided_by(first: Lease | None) -> Division:
    """The division by which the holder of number 0's Lease works; UNDIVIDED if by none."""
    said = division_of(first)
    return said if first is not None and said.by == first.spec.holder_identity else UNDIVIDED


@dataclass(eq=False)
class Sharing:
    """Which share a reconciler has: number 0 of an undivided storm, which is all, until told else.

    Number 0 also has the nodes and hooks, and calls the others. The holder is whose share it is.
    Without a call no storm is divided, for nobody would come.

    - ``division``: by which workloads are handled.
    - ``is_shared``: whether others have workloads of this storm.
    - ``zeros_wait``: whether workloads that would reach zero wait here for their first release, or
      may: they may until pods are read.
    """

    _holder: str
    _there: ServerTime
    _clock: Clock
    _recorder: Recorder
    _call: Call | None
    _call_at: datetime | None = None
    number: int = 0
    division: Division = UNDIVIDED
    is_shared: bool = False
    zeros_wait: Callable[[], bool] = lambda: True
    _seen: dict[int, Lease | None] = field(default_factory=dict)  # the others', as seen last
    _since: timedelta = timedelta()
    _is_done: bool = False
    _is_ending: bool = False
    _is_ended: bool = False  # number 0's Lease notes no division any more

    @property
    def is_over(self) -> bool:
        """Whether this is another's than number 0, who works by its division no more."""
        is_known = self.number > 0 and 0 in self._seen
        return is_known and divided_by(self._seen[0]) != self.division

    @property
    def may_be_freed(self) -> bool:
        """Whether nobody works any more because this one holds its Lease."""
        if self.number > 0 or not self.is_shared:
            return True
        have_gone = (each in self._seen and not self._is_at_work(each) for each in self._others)
        return self._is_ended and all(have_gone)

    @property
    def awaits_others(self) -> bool:
        """Whether it waits for what others say next."""
        return self._is_ending or self.zeros_wait_elsewhere()

    @property
    def _others(self) -> Sequence[int]:
        return range(1, self.division.of) if self.number == 0 else (0,)

    def _is_at_work(self, number: int) -> bool:
        """Whether somebody holds this other Lease by the same division."""
        lease = self._seen.get(number)
        is_held = held_for(lease, self._holder, self._there.earliest) > timedelta()
        return is_held and division_of(lease) == self.division

    def _is_at(self, number: int, *stages: Stage) -> bool:
        """Whether somebody holds this other Lease who says that he is at one of these."""
        lease = self._seen.get(number)
        said = None if lease is None else lease.metadata.annotations.get(names.SHARE_STAGE)
        return self._is_at_work(number) and said in stages

    def left(self) -> timedelta:
        """How long from now another than number 0 may begin a write that rests on a count."""
        first = self._seen.get(0)
        renewed = None if first is None or self.is_over else first.held_since
        return timedelta() if renewed is None else VALID - (self._there.latest - renewed)

    def join(self, first: Lease | None, cluster: Cluster) -> Lease | None:
        """Choose a share that nobody has; what its Lease is like.

        ``first``: the Lease of number 0, by whose holder's division the share is one. The number
        stays 0 if there is none. Raises ClusterError.
        """
        division = divided_by(first)
        replies = cluster.perform([*map(question, range(1, division.of))])
        for number, reply in enumerate(replies, start=1):
            found = None if isinstance(reply.error, NotFoundError) else answer(reply)
            lease = found if isinstance(found, Lease) else None
            if not held_for(lease, self._holder, self._there.earliest):
                self.number = number
                self.begin(division)
                return lease
        return first

    def may_look(self, division: Division, cluster: Cluster) -> bool:
        """Whether the role may see the Leases of a division."""
        for reply in cluster.perform([*map(question, range(1, division.of))]):
            if reply.error is not None and not isinstance(reply.error, NotFoundError):
                self._recorder.noted(f"one reconciler has all workloads: {reply.error}")
                return False
        return True

    def begin(self, division: Division) -> None:
        """Have a share by a division, which number 0 has noted."""
        self.division, self.is_shared, self._since = division, True, self._clock.boot()

    def look(self, session: Session, now: datetime) -> None:
        """Look at the others, and call those who are missing; the answers come in time."""
        for number in self._others:
            session.submit(question(number), partial(self._saw, number, self._is_ended))
        self._call_missing(session, now)

    def _saw(self, number: int, was_ended: bool, reply: Reply) -> None:  # noqa: FBT001 - bound
        """Take what a Lease is like now. Without an answer it is looked at again.

        Once the division has ended what was asked before that tells nothing.
        """
        if self._is_ended and not was_ended:
            return
        if isinstance(reply.result, Lease) or isinstance(reply.error, NotFoundError):
            self._seen[number] = reply.result if isinstance(reply.result, Lease) else None

    def noted(self, lease: object) -> None:
        """A renewal left this one's Lease like this."""
        is_noted = isinstance(lease, Lease) and division_of(lease) == UNDIVIDED
        if self._is_ending and is_noted and not self._is_ended:
            self._is_ended = True
            self._seen.clear()

    def _call_missing(self, session: Session, now: datetime) -> None:
        call, missing = self._call, self._missing
        if not missing or call is None or (self._call_at is not None and now < self._call_at):
            return
        self._call_at = now + CALL_AGAIN_AFTER
        session.start(lambda: self._make(call, missing))

    def _make(self, call: Call, missing: int) -> None:
        try:
            call(missing)
        except QueueError as error:
            self._recorder.noted(f"others are not called to share a storm: {error}")

    @property
    def _missing(self) -> int:
        """How many shares nobody has."""
        if self.number > 0 or self._is_ending:
            return 0
        return sum(not self._is_at_work(number) for number in self._others)

    def goes_on(self, *, is_done: bool) -> bool:
        """Whether to go on in a shared storm, also if ``is_done``: nothing is left of this share.

        Number 0 waits until nothing is left of any, and then for the others to go: they work no
        longer than it does.
        """
        self._is_done = is_done
        if self.number > 0:
            return True
        if is_done and all(self._is_at(number, Stage.DONE) for number in self._others):
            self._is_ending = True
        return not self.may_be_freed

    def zeros_wait_elsewhere(self) -> bool:
        """Whether others that share the storm have, or may have, workloads that would reach zero.

        Of number 0 also whether this one has, some moments ago. It counts for a while: one that
        hangs must not keep all from going on.
        """
        if not self.is_shared or self._clock.boot() - self._since >= ZEROS_COUNT_FOR:
            return False
        return not all(self._is_at(each, Stage.BUSY, Stage.DONE) for each in self._others)

    def notes_of_others(self, key: str) -> Mapping[int, str | None]:
        """What the others have under a key of their Leases' annotations, by their numbers."""
        found = {number: lease for number, lease in self._seen.items() if lease is not None}
        return {number: lease.metadata.annotations.get(key) for number, lease in found.items()}

    @property
    def notes(self) -> Mapping[str, str]:
        """What a renewal notes on the Lease: nothing where nothing is shared."""
        if not self.is_shared:
            return {}
        if self._is_ending:
            return {names.SHARES: "", names.SHARE_STAGE: ""}
        do_wait = self.zeros_wait() or (self.number == 0 and self.zeros_wait_elsewhere())
        at_work = Stage.DONE if self._is_done else Stage.BUSY
        stage = Stage.ZEROS_WAIT if do_wait else at_work
        return {names.SHARES: self.division.note, names.SHARE_STAGE: stage.value}
