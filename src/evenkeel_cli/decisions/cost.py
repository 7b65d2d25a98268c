"""What workloads cost a month: the prices of the nodes, shared by what their pods request.

A pod's part of its node is the greatest of its shares of the node's CPU, of its memory and of its
devices. Where the parts come to more than the node, they are scaled down to it. Where they come to
less, the rest is idle. So the costs of all workloads and of what is idle are the nodes' prices.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Self

import msgspec

from evenkeel.decisions.floor.standing import Standing
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.meta import Reference
from evenkeel.model.node import Node
from evenkeel.model.node_bound import is_mirror
from evenkeel.model.pod import Pod
from evenkeel.model.quantity import number
from evenkeel_cli.decisions.prices import Gaps, Price, Prices, gaps

NETWORK: Final = "vpc.amazonaws.com/"
"""Resources of Amazon's network plugin: addresses and interfaces."""


class Cost(NamedTuple):
    """US dollars a month: now, all on on-demand nodes, and as the floors want it."""

    now: float = 0.0
    on_demand: float = 0.0
    at_floor: float = 0.0

    def plus(self, other: Self) -> "Cost":
        """Both together."""
        return Cost(*(one + more for one, more in zip(self, other, strict=True)))


class Share(msgspec.Struct, frozen=True):
    """What one workload costs.

    ``pods`` have a node, ``unpriced`` of them one whose price is not known, which count as nothing.
    ``survivors`` are Ready on on-demand nodes: what would be left if every spot node died now.
    """

    cost: Cost
    pods: int
    survivors: int
    unpriced: int


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What all nodes of known price cost, and how much of that each workload does.

    ``idle`` is what no pod requests. ``gaps`` are what is not known of the nodes.
    """

    workloads: Mapping[Reference, Share]
    idle: Cost
    nodes: Cost
    gaps: Gaps


def reckon(snapshot: Snapshot, prices: Prices) -> Bill:
    """Share the prices of all nodes.

    ``snapshot``: its candidates are what has a floor; other pods count for their controllers.
    """
    fleet = snapshot.fleet
    found = {name: prices.of(node) for name, node in fleet.nodes.items()}
    priced = {name: price for name, price in found.items() if price is not None}
    spot = {n for n, node in fleet.nodes.items() if fleet.labels.of(node) is Capacity.SPOT}
    parts = {name: _scaled(its) for name, its in _parts(snapshot).items()}
    tallies: defaultdict[Reference, _Tally] = defaultdict(_Tally)
    owners = {pod.uid: each.workload.reference for each in snapshot.candidates for pod in each.pods}
    for pod in snapshot.pods:
        node = pod.spec.node_name
        if node in fleet.nodes:
            owner = owners.get(pod.uid) or _owner(pod)
            part = parts[node].get(pod.uid, 0.0)
            tallies[owner].add(pod, part, priced.get(node), is_spot=node in spot)
    standings = {each.workload.reference: each.standing for each in snapshot.candidates}
    idle, nodes = Cost(), Cost()
    for name, price in priced.items():
        whole = _of_node(price, is_spot=name in spot)
        rest = max(0.0, 1 - sum(parts.get(name, {}).values()))
        nodes = nodes.plus(whole)
        idle = idle.plus(Cost(*(rest * each for each in whole)))
    return Bill(
        workloads={
            reference: tally.share(standings.get(reference), fleet.labels)
            for reference, tally in tallies.items()
        },
        idle=idle,
        nodes=nodes,
        gaps=gaps(list(fleet.nodes.values()), fleet.labels, prices),
    )


def of_nodes(nodes: Iterable[Node], labels: CapacityLabels, prices: Prices) -> float | None:
    """US dollars a month of these nodes; None where the price of one is not known."""
    total = 0.0
    for node in nodes:
        price = prices.of(node)
        if price is None:
            return None
        total += _of_node(price, is_spot=labels.of(node) is Capacity.SPOT).now
    return total


def of_pod(pod: Pod, node: Node, labels: CapacityLabels, prices: Prices) -> float | None:
    """US dollars a month of one pod on a node, alone; None where the node's price is not known."""
    price = prices.of(node)
    if price is None:
        return None
    return part_of(pod, node) * _of_node(price, is_spot=labels.of(node) is Capacity.SPOT).now


def part_of(pod: Pod, node: Node) -> float:
    """The part of a node that a pod requests, of 1."""
    room = node.status.allocatable
    shares = [
        amount / most
        for name, amount in pod.spec.requests.items()
        if _counts(name) and (most := number(room.get(name, ""))) > 0
    ]
    return min(1.0, max(shares, default=0.0))


class _Tally:
    """The pods of one workload, summed up."""

    def __init__(self) -> None:
        self._cost = Cost()
        self._pods: Counter[Capacity] = Counter()
        self._between: defaultdict[Capacity, float] = defaultdict(float)
        self._survivors = 0
        self._unpriced = 0

    def add(self, pod: Pod, part: float, price: Price | None, *, is_spot: bool) -> None:
        """Count a pod with its part of a node; ``price``: None where it is not known."""
        capacity = Capacity.SPOT if is_spot else Capacity.ON_DEMAND
        self._pods[capacity] += 1
        self._survivors += pod.active and pod.ready and not is_spot
        if price is None:
            self._unpriced += 1
            return
        whole = _of_node(price, is_spot=is_spot)
        self._cost = self._cost.plus(Cost(*(part * each for each in whole)))
        self._between[capacity] += part * (price.on_demand - price.spot)

    def share(self, standing: Standing | None, labels: CapacityLabels) -> Share:
        """What they cost; ``standing`` is that of a workload which has a floor."""
        cost = self._cost
        if standing is not None:
            more = self._moved(Capacity.SPOT, standing.missing + standing.unmet)
            less = self._moved(Capacity.ON_DEMAND, _surplus(standing, labels))
            cost = cost._replace(at_floor=cost.now + more - less)
        return Share(cost, self._pods.total(), self._survivors, self._unpriced)

    def _moved(self, capacity: Capacity, pods: int) -> float:
        """What lies between both prices of so many of the pods there, which count as equal."""
        there = self._pods[capacity]
        return self._between[capacity] * min(1.0, pods / there) if there else 0.0


def _of_node(price: Price, *, is_spot: bool) -> Cost:
    now = price.spot if is_spot else price.on_demand
    return Cost(now, price.on_demand, now)


def _surplus(standing: Standing, labels: CapacityLabels) -> int:
    """How many pods on on-demand nodes may be on spot.

    - None where Evenkeel moves none: in a namespace that is not managed, or is the cluster's own.
    - None where the pods' own rules exclude spot.
    - Else those above the floor.
    """
    workload = standing.workload
    if not standing.is_managed or workload.namespace in names.CLUSTERS_OWN:
        return 0
    if Capacity.SPOT not in allowed_by(workload.spec.template.spec, labels):
        return 0
    return standing.surplus


def _parts(snapshot: Snapshot) -> Mapping[str, Mapping[str, float]]:
    """The part of its node that each pod requests, by node and the pod's uid."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pod in snapshot.pods:
        node = snapshot.fleet.nodes.get(pod.spec.node_name)
        if node is not None:
            found[node.name][pod.uid] = part_of(pod, node)
    return found


def _scaled(parts: Mapping[str, float]) -> Mapping[str, float]:
    """Parts that are the node together at most."""
    whole = max(1.0, sum(parts.values()))
    return {uid: part / whole for uid, part in parts.items()}


def _counts(resource: str) -> bool:
    """Whether a resource is one that nodes are bought for: CPU, memory, or a device.

    Places for the network, which come with each node, are none.
    """
    is_device = "/" in resource and not resource.startswith(NETWORK)
    return resource in ("cpu", "memory") or is_device


def _owner(pod: Pod) -> Reference:
    """What a pod counts for: its controller, or itself if it has none or is a static one."""
    owner = pod.controller
    if owner is None or is_mirror(pod):
        return pod.reference
    return Reference(kind=owner.kind, namespace=pod.namespace, name=owner.name)
