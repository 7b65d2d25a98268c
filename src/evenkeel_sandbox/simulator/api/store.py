"""The objects, their versions and what happened to them: what etcd is to an API server."""

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.errors import ExpiredError
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    controller_of,
    key_of,
    node_of,
    owners_of,
    uid_of,
)
from evenkeel_sandbox.simulator.clock import SimulatedClock

type Observer = Callable[[Obj | None, Obj | None], None]
"""Called at once with the old and the new state of an object; it must not write."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of one object: ``old`` is None at its creation, ``new`` at its deletion.

    The last state of a deleted object is ``old`` with the revision of the deletion.
    """

    revision: int
    time: datetime
    kind: str
    old: Obj | None
    new: Obj | None


class Store:
    """All objects by kind, namespace and name, under one counter of revisions.

    Also indexed, because controllers ask for it at every change: what depends on an owner,
    the pods of a node, and the pods that no controller owns.
    """

    def __init__(self, clock: SimulatedClock, history: int) -> None:
        """Keep the last ``history`` transitions."""
        self._clock = clock
        self._kinds: defaultdict[str, defaultdict[str, dict[str, Obj]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._observers: defaultdict[str, list[Observer]] = defaultdict(list)
        self._dependents: defaultdict[str, dict[tuple[str, Key], Obj]] = defaultdict(dict)
        self._pods_on: defaultdict[str, dict[Key, Obj]] = defaultdict(dict)
        self._orphans: defaultdict[str, dict[str, Obj]] = defaultdict(dict)
        self._uids: set[str] = set()
        self._history: deque[Transition] = deque(maxlen=history)
        self._forgotten = 0
        self.revision = 0

    def observe(self, kind: str, observer: Observer) -> None:
        """Call the observer at every change of an object of this kind."""
        self._observers[kind].append(observer)

    def get(self, kind: str, key: Key) -> Obj | None:
        """The object, or None."""
        return self._kinds[kind][key[0]].get(key[1])

    def all(self, kind: str, namespace: str = "", node: str = "") -> Iterable[Obj]:
        """The objects of a kind, in one namespace or in all, in no particular order.

        With ``node``, all pods that are bound to it, of all namespaces.
        """
        if node:
            return self.pods_on(node)
        if namespace:
            return self._kinds[kind][namespace].values()
        return itertools.chain.from_iterable(
            objects.values() for objects in self._kinds[kind].values()
        )

    def dependents(self, uid: str, kind: str = "") -> list[Obj]:
        """The objects (of a kind) with an owner reference to this uid."""
        found = self._dependents.get(uid)
        if not found:
            return []
        return [obj for (of_kind, _), obj in found.items() if not kind or of_kind == kind]

    def owned(self, owner: Obj, kind: str) -> list[Obj]:
        """The objects of a kind that refer to this owner, and are where it can own them.

        Controllers look in their own namespace: anybody may write a uid from another one.
        """
        namespace = owner["metadata"].get("namespace", "")
        found = self.dependents(uid_of(owner), kind)
        return [obj for obj in found if obj["metadata"].get("namespace", "") == namespace]

    def pods_on(self, node: str) -> Iterable[Obj]:
        """The pods that are bound to a node."""
        found = self._pods_on.get(node)
        return found.values() if found else ()

    def orphans(self, namespace: str) -> Iterable[Obj]:
        """The pods of a namespace that no controller owns."""
        found = self._orphans.get(namespace)
        return found.values() if found else ()

    def has_uid(self, uid: str) -> bool:
        """Whether any object has this uid."""
        return uid in self._uids

    def assume(self, uid: str) -> None:
        """Take it that an object with this uid exists, though it is not kept here."""
        self._uids.add(uid)

    def write(self, obj: Obj) -> Obj:
        """Store an object, new or changed, under the next revision; answers it as stored."""
        kind, key = obj["kind"], key_of(obj)
        self.revision += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}
        siblings = self._kinds[kind][key[0]]
        old = siblings.get(key[1])
        siblings[key[1]] = stored
        self._record(kind, key, old, stored)
        return stored

    def remove(self, kind: str, key: Key) -> Obj:
        """Forget an object; answers its last state with the revision of the deletion."""
        old = self._kinds[kind][key[0]].pop(key[1])
        self.revision += 1
        self._record(kind, key, old, None)
        return last_state(old, self.revision)

    def as_of(
        self, kind: str, namespace: str = "", node: str = "", *, age: timedelta
    ) -> tuple[Iterable[Obj], int]:
        """The objects as they were this long ago, and the revision then.

        With ``node``, at least all pods that were bound to it.
        """
        cutoff = self._clock.now() - age
        undone: dict[Key, Obj | None] = {}
        revision = self.revision
        for change in reversed(self._history):
            if change.time <= cutoff:
                break
            revision = change.revision - 1
            obj = change.old or change.new
            if change.kind != kind or obj is None:
                continue
            key = key_of(obj)
            if not namespace or key[0] == namespace:
                undone[key] = change.old
        found = self.all(kind, namespace, node)
        if not undone:
            return found, revision
        then = {key_of(obj): obj for obj in found} | undone
        return [obj for obj in then.values() if obj is not None], revision

    def since(self, revision: int) -> Iterator[Transition]:
        """What happened after this revision; ExpiredError if that is forgotten."""
        if revision < self._forgotten:
            raise ExpiredError(f"too old resource version: {revision} ({self._forgotten})")
        newer = itertools.takewhile(lambda c: c.revision > revision, reversed(self._history))
        return reversed(list(newer))

    def revision_at(self, when: datetime) -> int:
        """The revision that was the newest at this time, as far as the history goes back."""
        for change in reversed(self._history):
            if change.time <= when:
                return change.revision
        return self._forgotten

    def compact(self) -> None:
        """Forget what happened so far: no watch can go on from where it was."""
        self.revision += 1
        self._history.clear()
        self._forgotten = self.revision

    def go_back(self, revision: int) -> None:
        """All is as it was at a revision of the history, and the next one follows that.

        So it is where etcd was restored from a backup.
        """
        then: dict[tuple[str, Key], Obj | None] = {}
        for change in reversed(self._history):
            if change.revision <= revision:
                break
            if obj := change.old or change.new:
                then[change.kind, key_of(obj)] = change.old
        self.revision = revision
        for (kind, key), obj in then.items():
            objects = self._kinds[kind][key[0]]
            now = objects.pop(key[1], None)
            if obj is not None:
                objects[key[1]] = obj
            if now != obj:
                self._record(kind, key, now, obj)
        self._history.clear()
        self._forgotten = revision

    def _record(self, kind: str, key: Key, old: Obj | None, new: Obj | None) -> None:
        if len(self._history) == self._history.maxlen:
            self._forgotten = self._history[0].revision
        self._history.append(Transition(self.revision, self._clock.now(), kind, old, new))
        self._index(kind, key, old, new)
        for observer in self._observers[kind]:
            observer(old, new)

    def _index(self, kind: str, key: Key, old: Obj | None, new: Obj | None) -> None:
        if old is not None:
            gone = new is None
            if gone:
                self._uids.discard(uid_of(old))
            if gone or owners_of(old) != owners_of(new or old):
                for owner in owners_of(old):
                    self._dependents[owner["uid"]].pop((kind, key), None)
                    if not self._dependents[owner["uid"]]:
                        del self._dependents[owner["uid"]]
        if new is not None:
            self._uids.add(uid_of(new))
            for owner in owners_of(new):
                self._dependents[owner["uid"]][kind, key] = new
        if kind == "Pod":
            self._index_pod(key, old, new)

    def _index_pod(self, key: Key, old: Obj | None, new: Obj | None) -> None:
        if old is not None and (new is None or node_of(old) != node_of(new)) and node_of(old):
            del self._pods_on[node_of(old)][key]
        if new is not None and node_of(new):
            self._pods_on[node_of(new)][key] = new
        if new is not None and controller_of(new) is None:
            self._orphans[key[0]][key[1]] = new
        elif old is not None:
            self._orphans[key[0]].pop(key[1], None)


def last_state(obj: Obj, revision: int) -> Obj:
    """An object with the revision of the change that took it away."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
