"""How much headroom is needed: for the single replicas, and for the largest spot pool.

Headroom is kept in *placeholders*: pieces as large as the largest pod that may need one. Only CPU
and memory count.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple, Self

from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
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


class Need(NamedTuple):
    """The pods that may need a place at the same time, and what they ask for together.

    ``room``: the placeholders that they fit into.
    """

    pods: int
    total: Size
    room: Room

    @classmethod
    def of(cls, pods: Sequence[Size]) -> Self:
        """What pods of these sizes need."""
        return cls(len(pods), total_of(pods), room_for(pods))

    def __str__(self) -> str:
        """As people read it."""
        verb = "asks" if self.pods == 1 else "ask"
        return f"{verb} for {self.total}" if any(self.total) else f"{verb} for nothing"


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
    found = [
        max(size_of(pod.spec.requests) for pod in each.owned)
        for each in snapshot.candidates
        if each.standing.replicas == 1 and each.owned and _may_be_on_spot(each)
    ]
    return Need.of(found)


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
    pools: defaultdict[Pool, list[Size]] = defaultdict(list)
    of_nodes = pools_of(snapshot.fleet.nodes.values(), snapshot.fleet.labels)
    for pod in snapshot.pods:
        pool = of_nodes.get(pod.spec.node_name)
        if pool is not None and _is_replaced(pod) and (not singles or pod.uid in counted):
            pools[pool].append(size_of(pod.spec.requests))
    if not pools:
        return None
    largest = max(pools, key=lambda pool: total_of(pools[pool]))
    return largest, Need.of(pools[largest])


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
