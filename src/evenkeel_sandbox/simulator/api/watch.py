"""Watches of selections: what a client sees of the changes, and how it finds the thread again.

A watch begins with a list. A change of an object arrives as added, modified or deleted *as seen
through the selection*: an object that stops matching comes as deleted, in its last matching
state with the revision of the change. A watch whose connection was lost goes on from the last
revision that it knows, thanks to bookmarks one a minute old at most; where the server has
forgotten what came after (410) it lists again.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.errors import ExpiredError
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.api.selectors import (
    Predicate,
    field_predicate,
    label_predicate,
    node_wanted,
)
from evenkeel_sandbox.simulator.api.store import Store, last_state
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.staleness import Lateness, Staleness

BOOKMARK_PERIOD = timedelta(minutes=1)
RECONNECT_AFTER = timedelta(milliseconds=50)
NOTHING_YET = -1
"""The revision that a watch knows whose list has not arrived: no watch can go on from there."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A selection on plain objects; ``node``, where they are pods of one node."""

    kind: str
    namespace: str = ""
    node: str = ""
    labels: Predicate | None = None
    fields: Predicate | None = None

    @classmethod
    def of(cls, kind: str, namespace: str, labels: str, fields: str) -> "Filter":
        """The filter of selectors in the API's syntax; ClusterError if they are not."""
        node = node_wanted(fields) if kind == "Pod" else ""
        return cls(kind, namespace, node, label_predicate(labels), field_predicate(fields))

    def matches(self, obj: Obj) -> bool:
        """Whether the object is in the selection."""
        return (
            (not self.namespace or obj["metadata"].get("namespace") == self.namespace)
            and (self.labels is None or self.labels(obj))
            and (self.fields is None or self.fields(obj))
        )


@dataclass(frozen=True, slots=True)
class Consumer:
    """The watcher: gets (objects, revision) after a list, (object, deleted) after a change."""

    relisted: Callable[[list[Obj], int], None]
    changed: Callable[[Obj, bool], None]


class Watch:
    """One watch of one client."""

    def __init__(self, hub: "WatchHub", selection: Filter, consumer: Consumer) -> None:
        """Not yet connected: the hub does that."""
        self._hub = hub
        self._consumer = consumer
        self._known = NOTHING_YET
        self._connection = 0
        self._since = hub.clock.now()
        self._lateness = hub.lateness()
        self.filter = selection

    def stop(self) -> None:
        """Deliver nothing any more."""
        self._connection += 1
        self._hub.drop(self)

    def list(self) -> None:
        """Read the selection and go on from there."""
        listed = self._hub.select(self.filter)
        revision = self._hub.store.revision
        self._connect()
        self._arrive(timedelta(), revision, lambda: self._consumer.relisted(listed, revision))

    def resume(self) -> None:
        """Go on from the last known revision, or list again where that is too old."""
        try:
            missed = list(self._hub.store.since(self._known))
        except ExpiredError:
            self.list()
            return
        self._connect()
        for change in missed:
            if change.kind == self.filter.kind:
                self.notice(change.old, change.new, change.revision)

    def disconnect(self, *, lists_again: bool = False) -> None:
        """Lose the connection, and what was on its way; only bookmarks were not lost.

        ``lists_again``: the thread is lost, too.
        """
        now, clock = self._hub.clock.now(), self._hub.clock
        self._connection += 1
        self._hub.drop(self)
        self._known = max(self._known, self._bookmark(now))
        connection, come_back = self._connection, self.list if lists_again else self.resume
        clock.call_in(
            RECONNECT_AFTER, lambda: come_back() if self._connection == connection else None
        )

    def notice(self, old: Obj | None, new: Obj | None, revision: int) -> None:
        """See a change; it arrives a moment later if it concerns the selection.

        None is shown up to the revision from which the watch went on, also where that is yet to
        come, because the store has gone back.
        """
        if revision <= self._known:
            return
        was = old is not None and self.filter.matches(old)
        if new is not None and self.filter.matches(new):
            self._send(new, revision, deleted=False)
        elif was and old is not None:
            self._send(last_state(old, revision), revision, deleted=True)

    def _connect(self) -> None:
        self._connection += 1
        self._since = self._hub.clock.now()
        self._hub.add(self)
        lasts = self._lateness.breaks_in()
        if lasts is not None:
            connection = self._connection
            self._hub.clock.call_in(lasts, lambda: self._break(connection))

    def _break(self, connection: int) -> None:
        if self._connection == connection:
            self.disconnect(lists_again=self._lateness.loses_thread())

    def _send(self, obj: Obj, revision: int, *, deleted: bool) -> None:
        self._arrive(self._hub.latency, revision, lambda: self._consumer.changed(obj, deleted))

    def _arrive(self, latency: timedelta, revision: int, show: Callable[[], None]) -> None:
        """Show something when it is due, if the connection lasts; ``latency``: at the earliest."""
        clock, connection = self._hub.clock, self._connection
        due = self._lateness.due(clock.now() + latency)

        def arrive() -> None:
            if self._connection == connection:
                self._known = revision
                show()

        if due <= clock.now():
            arrive()
        else:
            clock.call_at(due, arrive)

    def _bookmark(self, now: datetime) -> int:
        """The revision of the last bookmark that has certainly arrived."""
        late = self._hub.latency + self._lateness.longest
        whole = (now - late - self._since) // BOOKMARK_PERIOD
        return self._hub.store.revision_at(self._since + whole * BOOKMARK_PERIOD) if whole else 0


class WatchHub:
    """All watches, by the kind that they watch."""

    def __init__(
        self, clock: SimulatedClock, store: Store, latency: timedelta, staleness: Staleness
    ) -> None:
        """Deliver changes ``latency`` after they happened, and as late besides as that says."""
        self.clock = clock
        self.store = store
        self.latency = latency
        self._staleness = staleness
        self._numbers = itertools.count()
        self._watches: defaultdict[str, dict[Watch, None]] = defaultdict(dict)
        self._observed: set[str] = set()

    def lateness(self) -> Lateness:
        """How late the next watch is."""
        return Lateness(self._staleness, next(self._numbers), self.clock.now())

    def add(self, watch: Watch) -> None:
        """Tell this watch of changes."""
        kind = watch.filter.kind
        if kind not in self._observed:
            self._observed.add(kind)
            self.store.observe(kind, lambda old, new: self._dispatch(kind, old, new))
        self._watches[kind][watch] = None

    def drop(self, watch: Watch) -> None:
        """Tell this watch nothing any more."""
        self._watches[watch.filter.kind].pop(watch, None)

    @property
    def connected(self) -> int:
        """How many watches are told of changes."""
        return sum(map(len, self._watches.values()))

    def disconnect_all(self) -> None:
        """Cut every connection; the watches come back by themselves."""
        for watches in self._watches.values():
            for watch in list(watches):
                watch.disconnect()

    def select(self, selection: Filter) -> list[Obj]:
        """The objects of a selection, in the order of their namespaces and names."""
        found = self.store.all(selection.kind, selection.namespace, selection.node)
        return in_order(filter(selection.matches, found))

    def _dispatch(self, kind: str, old: Obj | None, new: Obj | None) -> None:
        for watch in self._watches[kind]:
            watch.notice(old, new, self.store.revision)


def in_order(objects: Iterable[Obj]) -> list[Obj]:
    """Sorted as etcd sorts its keys: by namespace, then by name."""
    return sorted(
        objects, key=lambda o: (o["metadata"].get("namespace", ""), o["metadata"]["name"])
    )
