"""The API server's objects as a value, and the simulator's own parts that change them.

``tests/contract`` holds those parts to a real control plane: the API server with its patches,
evictions and selections, and the ReplicaSet controller.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from evenkeel.errors import ClusterError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.names import TEMPLATE_HASH
from evenkeel.model.pod import Pod
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    is_active,
    is_ready,
    key_of,
    labels_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.api.server import ApiServer
from evenkeel_sandbox.simulator.api.store import Store
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.controllers.replicaset import ReplicaSetController
from evenkeel_sandbox.simulator.controllers.work import errors_in
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.session import decode
from evenkeel_sandbox.simulator.world import World
from tests.kit.manifests import resource

NAMESPACE = "shop"
DYING, ALIVE = "dying", "alive"
FIRST = 1_000_000
"""No other number in the drain is as large as a revision."""

FIRST_UID = 1_000
"""Pods that are made get uids above those that were there."""


class Changed(NamedTuple):
    """What became of one object by one step; ``new`` None: it is gone."""

    kind: str
    old: Obj | None
    new: Obj | None
    revision: int


class _Numbers(random.Random):
    """Gives uids and names in turn, so that they depend on nothing but how many were given."""

    def __init__(self, given: int) -> None:
        super().__init__(0)
        self.given = given

    def getrandbits(self, _bits: int) -> int:
        self.given += 1
        return FIRST_UID + self.given

    def choices(self, *_population: object, **_how: object) -> Any:
        return str(self.given + 1)


class _ReplicaSets(ReplicaSetController):
    """Works when it is told to, not when something changes."""

    def observe(self) -> None:
        pass

    def work(self, key: Key) -> None:
        """Bring a ReplicaSet nearer to what it asks for, all at once."""
        steps, answer = self.reconcile(key), None
        while True:
            try:
                wanted = steps.send(answer)
            except StopIteration:
                return
            answer = [each() for each in wanted] if isinstance(wanted, Sequence) else wanted()
            if isinstance(answer, list) and (errors := errors_in(answer)):
                raise errors[0]


class _Server(ApiServer):
    """As the simulator's. The counts in a ReplicaSet's status are left out: no plan reads them."""

    def set_status(self, kind: str, key: Key, status: Obj, revision: str = "") -> Obj:
        if kind == "ReplicaSet":
            return self.get(kind, key)
        return super().set_status(kind, key, status, revision)


class Engine(SimulatedCluster):
    """The simulated cluster on given objects, without time and without any part of its own will."""

    def __init__(self, ground: "Ground", now: datetime) -> None:  # the parts are chosen here
        self.clock = SimulatedClock(now)
        self.options = SimulatorOptions(cache_lag=timedelta())
        self._interceptors = []
        self.rng = _Numbers(ground.given)
        store = Store(self.clock, self.options.history)
        for obj in ground.objects:
            store.revision = int(obj["metadata"]["resourceVersion"]) - 1
            store.write(obj)
        store.revision = ground.revision
        self.server = _Server(self.clock, store, self.rng)

    def replace_pods(self) -> None:
        """Let the ReplicaSet controller do its work, and the scheduler place what it made."""
        controller = _ReplicaSets(World(self.clock, self.server, self.options, self.rng))
        for replica_set in list(self.server.store.all("ReplicaSet", NAMESPACE)):
            controller.work(key_of(replica_set))
        for pod in list(self.server.store.all("Pod", NAMESPACE)):
            if not node_of(pod):
                self.server.bind(key_of(pod), ALIVE, uid_of(pod))

    def set_ready(self, pod: Key, status: str) -> None:
        """Let a kubelet say whether a pod is Ready."""
        found = self.server.get("Pod", pod)
        if found["status"]["phase"] != "Running":
            self.server.set_status("Pod", pod, {**found["status"], "phase": "Running"})
        self.server.set_condition(pod, {"type": "Ready", "status": status})

    def end(self, pod: Key) -> None:
        """Let a kubelet end a pod that was told to go."""
        self.server.delete("Pod", pod, grace=0)


@dataclass(frozen=True, eq=False)
class Ground:
    """All objects in the order of their revisions, and what names they have on every path.

    ``versions``: how many versions each object had by now; ``names``: whose version, and the
    how manieth, a revision is.
    """

    objects: Sequence[Obj]
    revision: int
    given: int
    versions: Mapping[str, int]
    names: Mapping[int, tuple[str, int]]
    decoded: Mapping[Key, Pod]

    @cached_property
    def template_hash(self) -> str:
        """The one of the Deployment's only ReplicaSet."""
        (replica_set,) = self.of_kind("ReplicaSet")
        return labels_of(replica_set)[TEMPLATE_HASH]

    def of_kind(self, kind: str) -> list[Obj]:
        return [obj for obj in self.objects if obj["kind"] == kind]

    @property
    def pods(self) -> list[Obj]:
        """The pods that were not told to go."""
        return [pod for pod in self.of_kind("Pod") if is_active(pod)]

    @property
    def available(self) -> int:
        """How many pods serve."""
        return sum(map(is_ready, self.pods))

    def changed(
        self, now: datetime, deed: Callable[[Engine], object]
    ) -> "tuple[Ground, object, Sequence[Changed]]":
        """The ground after a deed, its answer, and what it changed, each object once.

        A ClusterError that it raises is the answer.
        """
        engine = Engine(self, now)
        store = engine.server.store
        try:
            answer = deed(engine)
        except ClusterError as error:
            answer = error
        last: dict[tuple[str, Key], Changed] = {}
        for change in store.since(self.revision):
            obj = change.new or change.old
            if obj is None or obj["kind"] == "Event":
                continue
            key = change.kind, key_of(obj)
            first = last.pop(key, None)
            old = change.old if first is None else first.old
            last[key] = Changed(change.kind, old, change.new, change.revision)
        if not last:
            return self, answer, ()
        versions, names = dict(self.versions), dict(self.names)
        for found in last.values():
            uid = uid_of(found.new or found.old or {})
            versions[uid] = versions.get(uid, 0) + 1
            names[found.revision] = (uid, versions[uid])
        objects = [obj for obj in self.objects if (obj["kind"], key_of(obj)) not in last]
        objects += [found.new for found in last.values() if found.new is not None]
        decoded = dict(self.decoded)
        for found in last.values():
            if found.kind == "Pod":
                decoded.pop(key_of(found.new or found.old or {}), None)
                if found.new is not None:
                    decoded[key_of(found.new)] = decode(found.new, Pod)
        ground = Ground(objects, store.revision, engine.rng.given, versions, names, decoded)
        return ground, answer, list(last.values())


def digest(item: KubernetesObject) -> int:
    """The content of an object but for its revision, as a number. It is kept with the object."""
    kept = item.__dict__
    found = kept.get("walked")
    if found is None:
        unversioned = msgspec.structs.replace(
            item, metadata=msgspec.structs.replace(item.metadata, resource_version="")
        )
        found = kept["walked"] = hash(msgspec.json.encode(unversioned, order="deterministic"))
    return int(found)


def beginning(pods: int) -> tuple[Ground, datetime]:
    """A Deployment all of whose pods are on one node, and another node with room for all."""
    clock = SimulatedClock()
    cluster = SimulatedCluster(clock, SimulatorOptions(controller_qps=None))
    cluster.apply(_node(DYING), _deployment(pods))
    clock.advance(timedelta(seconds=10))
    cluster.apply(_node(ALIVE))
    clock.advance(timedelta(seconds=10))
    kinds = ("Namespace", "Node", "Deployment", "ReplicaSet", "Pod")
    objects: list[Obj] = []
    versions, names = dict[str, int](), dict[int, tuple[str, int]]()
    found = [obj for kind in kinds for obj in cluster.objects(kind)]
    needed = [obj for obj in found if obj["kind"] != "Namespace" or key_of(obj)[1] == NAMESPACE]
    for number, obj in enumerate(needed):
        revision = FIRST + number
        uid = f"00000000-0000-4000-8000-{number:012d}" if obj["kind"] == "Pod" else uid_of(obj)
        versions[uid], names[revision] = 0, (uid, 0)
        metadata = {**obj["metadata"], "uid": uid, "resourceVersion": str(revision)}
        objects.append({**obj, "metadata": metadata})
    decoded = {key_of(obj): decode(obj, Pod) for obj in objects if obj["kind"] == "Pod"}
    ground = Ground(objects, FIRST + len(objects), 0, versions, names, decoded)
    return ground, clock.now()


def _node(name: str) -> Obj:
    return resource(
        "Node",
        name,
        labels={"karpenter.sh/capacity-type": "spot"},
        spec={"providerID": f"aws:///eu-central-1a/i-{name}"},
    )


def _deployment(replicas: int) -> Obj:
    labels = {"app": "web"}
    return resource(
        "Deployment",
        "web",
        NAMESPACE,
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "main"}]},
            },
        },
    )
