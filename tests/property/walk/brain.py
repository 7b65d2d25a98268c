"""One invocation of the drain, from one wait to the next."""

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Any

from evenkeel.flows.drain.assembly import Opened, loop_of
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.flows.drain.memory import Memory
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.sync import reader
from evenkeel.flows.drain.telling import Telling
from evenkeel.model.metrics import Metric
from evenkeel.settings import HandoverSettings, Mode
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from tests.property.walk.copies import Copier
from tests.property.walk.fingerprints import Fingerprint
from tests.property.walk.ground import Ground
from tests.property.walk.session import Clock, Server, WalkSession

SETTINGS = HandoverSettings(mode=Mode.ACT, cluster_name="walk", holder="walk")
LONG = timedelta(hours=1)


class Recorder:
    """Hears nothing."""

    def decided(self, decision: object) -> None:
        pass

    def counted_pods(self, count: object) -> None:
        pass

    def counted(self, metric: Metric, value: float = 1) -> None:
        pass

    def noted(self, message: str, **details: object) -> None:
        pass

    def flush(self) -> None:
        pass


class Brain:
    """The drain's own reconciler on the walk's ports. It is copied whenever it is to go on."""

    def __init__(self, ground: Ground, now: datetime, holder: str) -> None:
        """Take the Lease and read all that there is, as an invocation does."""
        self.clock = clock = Clock(now)
        self.server = server = Server(ground, clock)
        self.session = session = WalkSession(server, clock)
        self.is_done = False
        self.mark: Hashable = None
        self.latest: dict[str, int] = {}
        recorder = Recorder()
        leadership = Leadership(server, clock, recorder, holder, None)
        leadership.look()
        leadership.take()
        view = View()
        reader.is_any_work(server, view)
        reader.read_pods(server, view, now)
        reader.read_facts(server, view, SETTINGS.capacity_labels, recorder, clock)
        self.loop = loop_of(
            SETTINGS,
            Opened(server, session, clock),
            view,
            Memory(server, SimulatedInstances(), SETTINGS.capacity_labels, recorder),
            OnceRecorder(recorder, LowCounts(server, clock, recorder)),
            leadership,
            Telling(SETTINGS, None, clock, recorder),
        )
        self.loop.begin(timedelta(), _always)
        self._work()

    def go_on(self, ground: Ground, now: datetime, hear: Callable[[WalkSession], None]) -> "Brain":
        """What becomes of it when it hears something: until it waits again, or is done."""
        copied: Brain = Copier().copy(self)
        copied.server.ground, copied.clock.time = ground, now
        hear(copied.session)
        copied._work()
        return copied

    def _work(self) -> None:
        session, now = self.session, self.clock.now()
        session.outbox = []
        self.mark = None
        while not self.is_done:
            submitted, has_mail = session.submitted, bool(session.mailbox)
            self.is_done = self.loop.turn(now, now + LONG) is not None
            if session.submitted == submitted and not has_mail:
                return

    def fingerprint(self, tell: Callable[[datetime], Fingerprint]) -> Hashable:
        """What tells it from others; it is found once. ``latest``: how far it knows of each."""
        if self.mark is None:
            told = tell(self.clock.now())
            self.mark = told.of(self.loop)
            self.latest = told.latest
        return self.mark


def _always() -> timedelta:
    return LONG


def waits_for(brain: Brain) -> timedelta:
    """How long it would wait for news."""
    found: Any = brain.session.patience
    assert isinstance(found, timedelta)
    return found
