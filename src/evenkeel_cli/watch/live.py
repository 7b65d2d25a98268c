"""A real cluster: its watches say when something changes, and its objects what.

No right beyond reading is needed, and no log. Pods are counted as an observer counts them, from the
beginning of the watch on.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from evenkeel.errors import ClusterError
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.interruption import QUIET
from evenkeel.model.pool import pools_of
from evenkeel.model.times import sound_time
from evenkeel.ports import Clock, Cluster, Reply, Session
from evenkeel.settings import Mode
from evenkeel_cli import observed
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.nodes.listing import listing
from evenkeel_cli.nodes.looking import Looker
from evenkeel_cli.screen import course
from evenkeel_cli.screen.around import Surveyor
from evenkeel_cli.screen.known import ON_DEMAND, Known
from evenkeel_cli.watch.witness import Witness
from evenkeel_sandbox.observer.workloads import Observer

TICK: Final = timedelta(seconds=1)
"""How often the seconds change that are left to nodes."""

CALM: Final = timedelta(seconds=10)
"""Where no watch tells of anything the Lease and the pause are read so often."""

REST: Final = 4
"""A pause is so many times as long as the look before it: an API server in a storm is busy."""

LATELY: Final = timedelta(minutes=10)
"""Who was at work so lately is taken to act: in observe mode Evenkeel writes nothing."""

STALE: Final = "nothing newer can be read"

NOTHING: Final = timedelta()


class Live:
    """Implements Source, and never ends. What cannot be read for a while is noted on the screen."""

    def __init__(
        self, cluster: Cluster, name: str, labels: CapacityLabels, prices: Prices, clock: Clock
    ) -> None:
        """``name`` is what the cluster is called; nothing is read yet."""
        self._cluster = cluster
        self._name = name
        self._labels = labels
        self._clock = clock
        self._observer = Observer(clock)
        self._witness = Witness(self._observer, name)
        self._looker = Looker(cluster, clock)
        self._surveyor = Surveyor(cluster, labels, prices, clock)
        self._pools: dict[str, str] = {}
        self._last: Incident | None = None
        self._seen: Known | None = None
        self._note = ""

    def looks(self) -> Iterator[Known]:
        """What there is, each time that something changed, and each second while a node goes."""
        with self._cluster.session() as session:
            self._observer.watch(session)
            while not self._observer.complete:
                if error := self._take(session, CALM):
                    raise error
            self._observer.begin()
            while True:
                began = self._clock.now()
                self._seen = self._look()
                yield self._seen
                took = max(NOTHING, self._clock.now() - began)
                self._clock.sleep(max(TICK, REST * took))
                self._take(session, NOTHING if self._witness.deadlines else CALM)

    def _take(self, session: Session, patience: timedelta) -> ClusterError | None:
        """Take in what has changed, and wait so long for a first change. What a watch met."""
        arrivals = session.next(patience)
        self._observer.absorb(arrivals)
        self._witness.see(arrivals, self._clock.now())
        errors = (each.error for each in arrivals if isinstance(each, Reply))
        error = next((each for each in errors if each is not None), None)
        if arrivals:
            self._note = "" if error is None else f"{STALE}: {error}"
        return error

    def _look(self) -> Known:
        """Raises ClusterError where it is the first."""
        now = self._clock.now()
        try:
            nodes = self._observer.nodes.values()
            look = self._looker.look([n for n in nodes if names.DOOMED in n.metadata.labels])
            around = self._surveyor.around()
        except ClusterError as error:
            if self._seen is None:
                raise
            note = f"{STALE}: {error}"
            return self._seen._replace(at=now, account=self._account(now), note=note)
        self._witness.ask(look)
        there = pools_of(nodes, self._labels)
        gone = {each.name for each in self._last.nodes} if self._last is not None else set[str]()
        self._pools = {
            name: pool for name, pool in self._pools.items() if name in self._witness.nodes | gone
        } | {name: str(pool or ON_DEMAND) for name, pool in there.items()}
        seen = listing(look)
        return Known(
            at=now,
            source=self._name,
            account=self._account(now),
            pools=self._pools,
            left=set(there),
            around=around,
            mode=Mode.ACT if self._witness.deadlines or _was_at_work(look.lease, now) else "",
            lease=seen.lease,
            paused=seen.paused or "",
            note=self._note,
        )

    def _account(self, now: datetime) -> Incident | None:
        """The account of the interruption that is under way, else of the last one."""
        witness, records = self._witness, self._witness.records
        if not records:
            self._observer.begin()
            return self._last
        found = incident.seen(records, observed.of(self._observer, now, ()))
        if not witness.is_calm or now - course.ends(found) < QUIET:
            return found
        if any(node.noticed_at for node in found.nodes):
            self._last = found
        witness.forget()
        return self._last


def _was_at_work(lease: Lease | None, now: datetime) -> bool:
    """Whether a reconciler, or the schedule of deployed functions, wrote to the Lease lately."""
    if lease is None:
        return False
    times = (lease.held_since, sound_time(lease.metadata.annotations.get(names.SCHEDULED_AT)))
    return any(each is not None and now - each <= LATELY for each in times)
