"""What may keep workloads from having too few pods, as a cluster that has it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.meta import Reference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel_cli import words
from evenkeel_cli.decisions.cost import of_pod
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.headroom import printed, sizing
from evenkeel_cli.headroom.sizing import Kept
from evenkeel_cli.simulate.trial import Objects
from evenkeel_sandbox import snapshot_cluster
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    controller_of,
    is_finished,
    key_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.mounts import mounts_of
from evenkeel_sandbox.simulator.placement import Clause, Needs, Room, refusal
from evenkeel_sandbox.storms.new_nodes import empty, named, shapes

RECREATE: Final = "Recreate"
MOST: Final = 3
"""So many workloads are named."""

RESERVED: Final = {names.HEADROOM: names.SINGLES}

type Hurt = Mapping[Reference, int]
"""How many replicas are to be left of each workload that had too few."""


class Placed(NamedTuple):
    """A pod that a remedy places on a node; ``before`` is where it was, if it is not a new one."""

    pod: Obj
    before: Obj | None
    after: Obj


class Remedy(NamedTuple):
    """A cluster with one more thing in it. ``nodes``: so many on-demand nodes that it adds.

    ``what`` is its name, and ``how`` tells what to do. ``values`` is what is written on each
    workload, or about it, where it is not the same for all. ``placed``: the pods that are
    elsewhere. ``kept``: nodes that it has for itself, of which it pays all.
    """

    what: str
    how: str
    objects: Objects
    nodes: int = 0
    values: Mapping[str, str] = MappingProxyType({})
    placed: Sequence[Placed] = ()
    kept: Sequence[Obj] = ()

    def cost(self, labels: CapacityLabels, prices: Prices) -> float | None:
        """US dollars a month more than before; None where a price is not known."""
        whole = [prices.of(msgspec.convert(each, Node)) for each in self.kept]
        costs = [price and price.on_demand for price in whole]
        for pod, before, after in self.placed:
            old = _cost(pod, before, labels, prices) if before is not None else 0.0
            new = _cost(pod, after, labels, prices)
            costs.append(None if new is None or old is None else new - old)
        known = [each for each in costs if each is not None]
        return sum(known) if len(known) == len(costs) else None


def _cost(pod: Obj, node: Obj, labels: CapacityLabels, prices: Prices) -> float | None:
    return of_pod(msgspec.convert(pod, Pod), msgspec.convert(node, Node), labels, prices)


def remedies(objects: Objects, hurt: Hurt, labels: CapacityLabels) -> Iterator[Remedy]:
    """Those that the cluster may have, and that change anything."""
    yield _floors(objects, hurt, labels)
    if (found := _rolling(objects, hurt)) is not None:
        yield found
    cluster = snapshot_cluster.build(objects, SimulatedClock())
    snapshot = read(cluster, SystemClock(), Terms(), Scope(capacity_labels=labels))
    if (pool := sizing.of_largest_pool(snapshot)) is not None:
        yield _headroom(objects, pool[1].kept, labels)
    if (pool := sizing.of_largest_pool(snapshot, singles=True)) is not None:
        yield _headroom(objects, pool[1].kept, labels, reserved=True)


class _Site:
    """A copy of a cluster's objects, with what of its on-demand nodes is free."""

    def __init__(self, objects: Objects, labels: CapacityLabels) -> None:
        self._objects = {_reference(each): dict(each) for each in objects}
        self._bound = {
            (each["kind"], key_of(dict(each))): dict(each)
            for each in objects
            if each["kind"].startswith("PersistentVolume")
        }
        self.made: list[Obj] = []
        self.placed: list[Placed] = []
        nodes = self.all("Node")
        self._nodes = {each["metadata"]["name"]: each for each in nodes}
        self._shapes = shapes(nodes, labels)
        self.rooms: dict[str, Room] = {
            node["metadata"]["name"]: empty(node)
            for node in nodes
            if labels.of(msgspec.convert(node, Node)) is not Capacity.SPOT
        }
        for pod in self.all("Pod"):
            if node_of(pod) in self.rooms and not is_finished(pod):
                self.rooms[node_of(pod)].add(pod)

    @property
    def added(self) -> int:
        """How many nodes were made."""
        return len(self.made)

    @property
    def objects(self) -> list[Obj]:
        """All of them as they are by now."""
        return list(self._objects.values())

    def all(self, kind: str) -> list[Obj]:
        """The objects of a kind."""
        return [each for each in self.objects if each["kind"] == kind]

    def put(self, changed: Obj) -> None:
        """Add an object, or replace the one of its name."""
        self._objects[_reference(changed)] = changed

    def place(self, pod: Obj, kept: Mapping[str, str] = MappingProxyType({})) -> str:
        """The on-demand node for a pod, made for it if none has room; empty if none can be.

        ``kept``: only on nodes with these labels and taints.
        """
        needs, mounts = Needs.of(pod), self._mounts(pod)
        for name, room in self.rooms.items():
            its = room.node["metadata"].get("labels", {})
            if kept.items() <= its.items() and not refusal(pod, needs, room, (), clauses=mounts):
                self._add(pod, room)
                return name
        for shape in self._shapes:
            room = empty(named(_kept(shape, kept), f"remedy-{self.added + 1}"))
            if not refusal(pod, needs, room, (), clauses=mounts):
                self._add(pod, room)
                self.made.append(room.node)
                name = str(room.node["metadata"]["name"])
                self.rooms[name] = room
                self.put({**room.node, "status": {**room.node["status"], **_READY}})
                return name
        return ""

    def _mounts(self, pod: Obj) -> Sequence[Clause]:
        """What a pod's volumes say of nodes."""
        return list(mounts_of(pod, lambda *which: self._bound.get(which), ()))

    def _add(self, pod: Obj, room: Room) -> None:
        self.placed.append(Placed(pod, self._nodes.get(node_of(pod)), room.node))
        room.add(pod)


_READY: Final = {"conditions": [{"type": "Ready", "status": "True"}]}


def _kept(shape: Obj, kept: Mapping[str, str]) -> Obj:
    """A node that is kept for pods that tolerate it."""
    taints = [{"key": k, "value": v, "effect": "NoSchedule"} for k, v in kept.items()]
    metadata = {**shape["metadata"], "labels": {**shape["metadata"]["labels"], **kept}}
    spec = {**shape["spec"], "taints": [*shape["spec"].get("taints", ()), *taints]}
    return {**shape, "metadata": metadata, "spec": spec}


def _floors(objects: Objects, hurt: Hurt, labels: CapacityLabels) -> Remedy:
    """The floors' pods are on on-demand nodes from the beginning, in managed namespaces."""
    site = _Site(objects, labels)
    managed = _manage(site, {each.namespace for each in hurt})
    of_pods = _pods_by_workload(site.objects)
    for each in site.objects:
        floor = hurt.get(_reference(each))
        if floor is None:
            continue
        notes = {**each["metadata"].get("annotations", {}), names.ON_DEMAND: str(floor)}
        site.put({**each, "metadata": {**each["metadata"], "annotations": notes}})
        on_spot = [pod for pod in of_pods[_reference(each)] if node_of(pod) not in site.rooms]
        missing = floor - len(of_pods[_reference(each)]) + len(on_spot)
        for pod in on_spot[: max(0, missing)]:
            if node := site.place(pod):
                site.put({**pod, "spec": {**pod["spec"], "nodeName": node}})
    values = {words.workload_name(each): str(floor) for each, floor in hurt.items()}
    how = _annotated(values, managed)
    return Remedy(names.ON_DEMAND, how, site.objects, site.added, values, site.placed)


def _manage(site: _Site, wanted: Iterable[str]) -> int:
    """Have these namespaces managed, as floors need it; how many were not."""
    there = {each["metadata"]["name"]: each for each in site.all("Namespace")}
    missing = 0
    for name in wanted:
        new = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        found = there.get(name, new)
        told = found["metadata"].get("labels", {})
        if told.get(names.MANAGED) != names.TRUE:
            missing += 1
            metadata = {**found["metadata"], "labels": {**told, names.MANAGED: names.TRUE}}
            site.put({**found, "metadata": metadata})
    return missing


def _rolling(objects: Objects, hurt: Hurt) -> Remedy | None:
    """Deployments that break first because their strategy says so make first."""
    wrong = {_reference(e) for e in objects if _strategy(e) == RECREATE}.intersection(hurt)
    if not wrong:
        return None
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    changed = [
        {**each, "spec": {**each["spec"], "strategy": rolling}}
        if _reference(each) in wrong
        else each
        for each in objects
    ]
    values = {words.workload_name(each): "RollingUpdate" for each in hurt if each in wrong}
    return Remedy("strategy RollingUpdate", f"on {_listed([*values])}", changed, values=values)


def _headroom(
    objects: Objects, rooms: Sequence[Kept], labels: CapacityLabels, *, reserved: bool = False
) -> Remedy:
    """Room that is free on on-demand nodes, those that it needs added."""
    site = _Site(objects, labels)
    kept = RESERVED if reserved else {}
    for each in rooms:
        _, made = printed.pause_pods(each, labels, reserved=reserved)
        for number in range(each.room.placeholders):
            name = f"{made['metadata']['name']}-{number}"
            metadata = {"name": name, "namespace": names.SYSTEM_NAMESPACE}
            site.place({"metadata": metadata, "spec": made["spec"]["template"]["spec"]}, kept)
    what = f"headroom {'--reserved' if reserved else '--for pool'}"
    remedy = Remedy(what, "; ".join(map(str, rooms)), site.objects, site.added)
    return remedy._replace(kept=site.made) if reserved else remedy._replace(placed=site.placed)


def _pods_by_workload(objects: Iterable[Obj]) -> defaultdict[Reference, list[Obj]]:
    """The running pods of each workload, by the top of their owners."""
    objects = list(objects)
    owners = {
        uid_of(each): each
        for each in objects
        if each["kind"] != "Pod" and "uid" in each["metadata"]
    }
    found: defaultdict[Reference, list[Obj]] = defaultdict(list)
    for pod in objects:
        if pod["kind"] != "Pod" or is_finished(pod):
            continue
        top = pod
        while (owner := owners.get((controller_of(top) or {}).get("uid", ""))) is not None:
            top = owner
        found[_reference(top)].append(pod)
    return found


def _reference(each: Mapping[str, Any]) -> Reference:
    metadata = each["metadata"]
    return Reference(
        kind=each["kind"], namespace=metadata.get("namespace", ""), name=metadata["name"]
    )


def _strategy(each: Mapping[str, Any]) -> str:
    found: str = each.get("spec", {}).get("strategy", {}).get("type", "")
    return found


def _annotated(values: Mapping[str, str], managed: int) -> str:
    """What is written on workloads, and on so many namespaces that were not managed."""
    more = f"; and {names.MANAGED}=true on {words.counted(managed, 'namespace')}" if managed else ""
    return f"on {_spelled(values)}{more}"


def _spelled(values: Mapping[str, str]) -> str:
    """``2 workloads: shop/deploy/login: 1, data/sts/db: 2``, the first of them."""
    return _listed([f"{name}: {value}" for name, value in values.items()])


def _listed(each: Sequence[str]) -> str:
    more = [f"and {len(each) - MOST} more"] if len(each) > MOST else []
    return f"{words.counted(len(each), 'workload')}: {', '.join([*each[:MOST], *more])}"
