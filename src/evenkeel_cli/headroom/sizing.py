"""How much headroom is needed: for the single replicas, and for the largest spot pool.

Headroom is kept in *placeholders*: pieces as large as the largest pod that may need one. Pods that
need nodes of a kind, by rules of their own or for devices, have placeholders of their own there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import ceil
from typing import Final, NamedTuple, Self

import msgspec

from evenkeel.decisions.placement.own_rules import own_rules
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rules import OF_THE_MOMENT, NodeRequest, accepts
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.node_bound import is_of_node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool, pools_of
from evenkeel_cli import words

MI: Final = 1 << 20
GI: Final = 1 << 30


class Size(NamedTuple):
    """CPU in thousandths of a core, memory in bytes."""

    cpu: int = 0
    memory: int = 0

    @property
    def quantities(self) -> dict[str, str]:
        """As Kubernetes writes them: ``{"cpu": "500m", "memory": "1Gi"}``; memory in whole Mi."""
        found = {}
        if self.cpu:
            found["cpu"] = f"{self.cpu}m" if self.cpu % 1000 else f"{self.cpu // 1000}"
        if self.memory:
            whole, rest = divmod(self.memory, GI)
            found["memory"] = f"{ceil(self.memory / MI)}Mi" if rest else f"{whole}Gi"
        return found

    def __str__(self) -> str:
        """As people read it."""
        return " and ".join(f"{amount} {name}" for name, amount in self.quantities.items())


class Room(NamedTuple):
    """So many placeholders of one size."""

    placeholders: int
    size: Size

    def __str__(self) -> str:
        """As people read it."""
        size = f" of {self.size}" if any(self.size) else ""
        return f"{words.counted(self.placeholders, 'placeholder')}{size}"


class Kind(msgspec.Struct, frozen=True):
    """What pods need of a node besides room: their own rules, and how many of which devices."""

    rules: NewPodSpec = NewPodSpec()
    devices: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """Eight hexadecimal digits, the same for the same kind; empty where any node will do."""
        if self == ANY:
            return ""
        return sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:8]

    def __str__(self) -> str:
        """As people read it."""
        selector = self.rules.node_selector or {}
        found = [f"{key}={value}" for key, value in sorted(selector.items())]
        found += ["their node affinity"] if self.rules.node_affinity.required is not None else []
        found += [f"{amount} {name}" for name, amount in self.devices]
        return ", ".join(found)


ANY: Final = Kind()
"""That of pods that any on-demand node without a taint will do for."""


class Kept(NamedTuple):
    """Room for pods that need nodes of a kind."""

    room: Room
    kind: Kind = ANY

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.room} on nodes for {self.kind}" if self.kind.name else str(self.room)


class Need(NamedTuple):
    """The pods that may need a place at the same time, and what they ask for together.

    ``room``: the placeholders into which those fit that any node will do for; ``rooms`` are for the
    others, by kinds. No placeholder helps ``others``: their own rules exclude on-demand.
    """

    pods: int
    total: Size
    room: Room
    others: int = 0
    rooms: tuple[Kept, ...] = ()

    @classmethod
    def of(cls, pods: Iterable[tuple[Kind | None, Size]]) -> Self:
        """What pods of these kinds and sizes need. No placeholder helps one of no kind."""
        kinds = dict[str, Kind]()
        sizes = defaultdict[str, list[Size]](list)
        others = 0
        for kind, size in pods:
            if kind is None:
                others += 1
            else:
                kinds[kind.name] = kind
                sizes[kind.name].append(size)
        every = [size for of_kind in sizes.values() for size in of_kind]
        any_node = room_for(sizes.pop("", ()))
        found = (Kept(_room_of(kinds[name], sizes[name]), kinds[name]) for name in sorted(sizes))
        rooms = tuple(each for each in found if each.room.placeholders)
        return cls(len(every), total_of(every), any_node, others, rooms)

    @property
    def kept(self) -> Sequence[Kept]:
        """All rooms that it needs."""
        return [*([Kept(self.room)] if self.room.placeholders else []), *self.rooms]

    def __str__(self) -> str:
        """As people read it."""
        verb = "asks" if self.pods == 1 else "ask"
        what = f"{verb} for {self.total}" if any(self.total) else f"{verb} for nothing"
        return f"{what}, and {self.beside}" if self.others else what

    @property
    def beside(self) -> str:
        """Whom no placeholder helps."""
        rules = "its own rules exclude" if self.others == 1 else "their own rules exclude"
        return f"no placeholder helps {self.others} more: {rules} on-demand"


def size_of(requests: Mapping[str, float]) -> Size:
    """What a pod asks for, of its requests in cores and bytes."""
    cores, memory = requests.get("cpu", 0.0), requests.get("memory", 0.0)
    return Size(ceil(round(cores * 1000, 3)), ceil(memory))


def total_of(pods: Iterable[Size]) -> Size:
    """What pods of these sizes ask for together."""
    return Size(*map(sum, zip(Size(), *pods, strict=True)))


def of_singles(snapshot: Snapshot) -> Need:
    """What the Deployments and StatefulSets of one replica need that are on spot or may go there.

    They may where their namespace is managed, without a floor, unless their own rules exclude spot.
    With a default floor a pod on on-demand prefers to stay there, and counts once it is on spot.
    """
    kinds = Kinds(snapshot.fleet)
    singles = [
        each
        for each in snapshot.candidates
        if each.standing.replicas == 1 and each.owned and _may_be_on_spot(each)
    ]
    return Need.of(
        (
            kinds.of(each.rules(), each.owned[0].spec.requests),
            max(size_of(pod.spec.requests) for pod in each.owned),
        )
        for each in singles
    )


def of_largest_pool(snapshot: Snapshot, *, singles: bool = False) -> tuple[Pool, Need] | None:
    """The spot pool whose pods ask for the most CPU, and what they need; None without any pod.

    ``singles``: only managed Deployments' and StatefulSets' of one replica count.
    """
    counted = {
        pod.uid
        for candidate in snapshot.candidates
        if candidate.standing.replicas == 1 and candidate.standing.is_managed
        for pod in candidate.owned
    }
    kinds = Kinds(snapshot.fleet)
    pools = defaultdict[Pool, list[tuple[Kind | None, Size]]](list)
    of_nodes = pools_of(snapshot.fleet.nodes.values(), snapshot.fleet.labels)
    for pod in snapshot.pods:
        pool = of_nodes.get(pod.spec.node_name)
        if pool is not None and _is_replaced(pod) and (not singles or pod.uid in counted):
            kind = kinds.of(own_rules(pod, snapshot.fleet.labels), pod.spec.requests)
            pools[pool].append((kind, size_of(pod.spec.requests)))
    needs = {pool: Need.of(pods) for pool, pods in pools.items()}
    if not needs:
        return None
    largest = max(needs, key=lambda pool: (needs[pool].total, pool))
    return largest, needs[largest]


class Kinds:
    """Which nodes pods need for a placeholder to help them."""

    def __init__(self, fleet: Fleet) -> None:
        """A placeholder of any kind goes to an on-demand node without a taint."""
        self._labels = fleet.labels
        self._nodes = [
            node
            for node in fleet.nodes.values()
            if fleet.capacities[node.name] is Capacity.ON_DEMAND and not node.spec.taints
        ]
        self._known: dict[bytes, Kind | None] = {}

    def of(self, rules: NewPodSpec, requests: Mapping[str, float]) -> Kind | None:
        """What pods with these rules and requests need; None if they may go to spot alone."""
        devices = tuple(sorted((k, ceil(each)) for k, each in requests.items() if "/" in k))
        key = msgspec.json.encode((rules, devices))
        if key not in self._known:
            self._known[key] = self._of(rules, devices)
        return self._known[key]

    def _of(self, rules: NewPodSpec, devices: tuple[tuple[str, int], ...]) -> Kind | None:
        if Capacity.ON_DEMAND not in allowed_by(rules, self._labels):
            return None
        request = NodeRequest(resources={}, rules=rules)
        if not devices and all(accepts(request, node, ()) for node in self._nodes):
            return ANY
        lasting = (e for e in rules.tolerations or () if not e.key.startswith(OF_THE_MOMENT))
        return Kind(msgspec.structs.replace(rules, tolerations=tuple(lasting) or None), devices)


def _room_of(kind: Kind, pods: Sequence[Size]) -> Room:
    """As ``room_for``; of pods with devices none shares a placeholder."""
    return (
        Room(len(pods), Size(*map(max, zip(*pods, strict=True))))
        if kind.devices
        else room_for(pods)
    )


def room_for(pods: Iterable[Size]) -> Room:
    """As few placeholders as pods of these sizes fit into, the largest pods first.

    A pod that asks for nothing needs none.
    """
    counts = Counter(size for size in pods if any(size))
    size = Size(*map(max, zip(*counts, strict=True))) if counts else Size()
    left = sorted(counts, key=lambda pod: _share(pod, size), reverse=True)
    placeholders = 0
    while left:
        placeholders += 1
        free = size
        for pod in left:
            number = min(counts[pod], _times(pod, free))
            free = Size(free.cpu - number * pod.cpu, free.memory - number * pod.memory)
            counts[pod] -= number
        left = [pod for pod in left if counts[pod]]
    return Room(placeholders, size)


def _share(pod: Size, whole: Size) -> float:
    """The larger of its shares of CPU and memory."""
    return max(part / most for part, most in zip(pod, whole, strict=True) if most)


def _times(pod: Size, free: Size) -> int:
    """How many pods of this size fit."""
    return min(room // part for part, room in zip(pod, free, strict=True) if part)


def _may_be_on_spot(candidate: Candidate) -> bool:
    """Whether a storm can take its pods: not those on nodes that no EC2 instance runs."""
    fleet, nodes = candidate.fleet, {pod.spec.node_name for pod in candidate.owned}
    if candidate.left_to_scheduler is not None or nodes & fleet.elsewhere:
        return False
    if any(fleet.capacities.get(node) is Capacity.SPOT for node in nodes):
        return True
    standing, allowed = candidate.standing, allowed_by(candidate.rules(), fleet.labels)
    return standing.is_managed and not standing.wanted and Capacity.SPOT in allowed


def _is_replaced(pod: Pod) -> bool:
    """Whether a controller makes it again elsewhere when its node goes."""
    return pod.active and pod.controller is not None and not is_of_node(pod)
