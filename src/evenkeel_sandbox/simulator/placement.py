"""Whether a pod may run on a node, and how well it would: the scheduler's filters and scores."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Protocol

from evenkeel.model.quantity import number
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    at,
    controller_of,
    key_of,
    labels_of,
    requests_of,
)
from evenkeel_sandbox.simulator.api.selectors import holds, selects

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
HOSTNAME = "kubernetes.io/hostname"
ROUNDING = 1e-9
type Port = tuple[str, int]
"""A protocol and a port of the node."""
type Closed = tuple[str, str]
"""A topology key and a domain of it that a pod must keep out of."""


class Clause(Protocol):
    """What a pod's spreads and volumes say of a node."""

    def refusal(self, node: Obj, /) -> str:
        """Why the pod may not go to a node, or empty."""
        ...  # pragma: no cover


@dataclass
class Room:
    """One node with what is on it; ``owned``: how many pods each controller has there, by uid."""

    node: Obj
    pods: dict[Key, Obj] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)
    owned: Counter[str] = field(default_factory=Counter)
    allocatable: dict[str, float] = field(default_factory=dict)

    def renew(self, node: Obj) -> None:
        """Take the node's new state."""
        self.node = node
        room = at(node, "status", "allocatable", default=None) or {}
        self.allocatable = {name: number(str(quantity)) for name, quantity in room.items()}

    def add(self, pod: Obj) -> None:
        """Book a pod, or take its new state."""
        known = self.pods.get(key_of(pod))
        if (
            known is not None
            and known["spec"] is pod["spec"]
            and controller_of(known) == controller_of(pod)
        ):
            self.pods[key_of(pod)] = pod
            return
        self.remove(pod)
        self.pods[key_of(pod)] = pod
        if controller := controller_of(pod):
            self.owned[controller["uid"]] += 1
        for name, amount in requests_of(pod).items():
            self.used[name] = self.used.get(name, 0) + amount

    def remove(self, pod: Obj) -> None:
        """Free what a pod had booked."""
        booked = self.pods.pop(key_of(pod), None)
        if booked is not None:
            if controller := controller_of(booked):
                self.owned[controller["uid"]] -= 1
            for name, amount in requests_of(booked).items():
                self.used[name] -= amount


@dataclass(frozen=True, slots=True)
class Needs:
    """What a pod takes of the node that it gets: cores, bytes and the like, and host ports.

    And whether it says which nodes it wants, and which pods it keeps away from.
    """

    requests: Mapping[str, float]
    ports: AbstractSet[Port]
    chooses: bool
    keeps_away: bool

    @classmethod
    def of(cls, pod: Obj) -> "Needs":
        """Those of a pod, to be found out once for all nodes."""
        spec = pod["spec"]
        chooses = "nodeSelector" in spec or at(spec, "affinity", "nodeAffinity") is not None
        return cls(requests_of(pod), ports_of(pod), chooses, bool(anti_affinity(pod)))


def refusal(
    pod: Obj,
    needs: Needs,
    room: Room,
    rooms: Iterable[Room],
    closed: Collection[Closed] = (),
    clauses: Iterable[Clause] = (),
) -> str:
    """Why the pod cannot run on this node, or empty."""
    if reason := _node_refuses(pod, needs, room.node) or _room_refuses(needs, room):
        return reason
    if (needs.keeps_away and repelled(pod, room, rooms)) or (
        closed and any(domain_of(room.node, key) == domain for key, domain in closed)
    ):
        return "node(s) didn't match pod anti-affinity rules"
    for clause in clauses:
        if reason := clause.refusal(room.node):
            return reason
    return ""


def _node_refuses(pod: Obj, needs: Needs, node: Obj) -> str:
    spec = node["spec"]
    if spec.get("unschedulable") and not tolerates(pod, UNSCHEDULABLE):
        return "node(s) were unschedulable"
    if spec.get("taints") and not bears_taints(pod, node):
        return "node(s) had untolerated taint(s)"
    if needs.chooses and not matches_node(pod, node):
        return "node(s) didn't match Pod's node affinity/selector"
    return ""


def _room_refuses(needs: Needs, room: Room) -> str:
    if needs.ports and any(needs.ports & ports_of(other) for other in room.pods.values()):
        return "node(s) didn't have free ports for the requested pod ports"
    if len(room.pods) + 1 > room.allocatable.get("pods", 110):
        return "Too many pods"
    for name, amount in needs.requests.items():
        if room.used.get(name, 0) + amount > room.allocatable.get(name, 0) + ROUNDING:
            return f"Insufficient {name}"
    return ""


def domain_of(node: Obj, key: str) -> str:
    """A node's value of a topology key; its name where the hostname label is missing."""
    return labels_of(node).get(key) or (node["metadata"]["name"] if key == HOSTNAME else "")


def tolerates(pod: Obj, taint: Obj) -> bool:
    """Whether one of a pod's tolerations matches the taint."""
    return any(is_tolerated(taint, each) for each in pod["spec"].get("tolerations") or ())


def is_tolerated(taint: Obj, toleration: Obj) -> bool:
    """Whether a toleration matches a taint."""
    return (
        toleration.get("effect", "") in ("", taint["effect"])
        and toleration.get("key", "") in ("", taint["key"])
        and (
            toleration.get("operator") == "Exists"
            or toleration.get("value", "") == taint.get("value", "")
        )
    )


def bears_taints(pod: Obj, node: Obj) -> bool:
    """Whether no taint keeps a pod off a node."""
    return all(
        tolerates(pod, taint)
        for taint in node["spec"].get("taints") or ()
        if taint["effect"] in ("NoSchedule", "NoExecute")
    )


def matches_node(pod: Obj, node: Obj) -> bool:
    """Whether nodeSelector and required node affinity allow the node."""
    labels = labels_of(node)
    selector = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    required = at(
        pod,
        "spec",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    )
    return required is None or any(
        matches_term(term, node) for term in required.get("nodeSelectorTerms") or ()
    )


def matches_term(term: Obj, node: Obj) -> bool:
    """Whether a node selector term matches; one that is empty matches nothing."""
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = labels_of(node)
    name = {"metadata.name": node["metadata"]["name"]}
    return all(
        holds(clause["key"], clause["operator"], clause.get("values") or [], where)
        for where, clauses in ((labels, expressions), (name, fields))
        for clause in clauses
    )


def ports_of(pod: Obj) -> set[Port]:
    """The host ports that a pod takes, with their protocols."""
    return {
        (port.get("protocol", "TCP"), port["hostPort"])
        for container in pod["spec"].get("containers") or ()
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def anti_affinity(pod: Obj) -> list[Obj]:
    """A pod's required anti-affinity terms."""
    found: Any = at(
        pod,
        "spec",
        "affinity",
        "podAntiAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    )
    return list(found or ())


def repels(term: Obj, namespace: str, other: Obj) -> bool:
    """Whether an anti-affinity term of a pod in this namespace is about another pod."""
    namespaces = term.get("namespaces") or [namespace]
    return other["metadata"]["namespace"] in namespaces and selects(
        term.get("labelSelector"), labels_of(other)
    )


def repelled(pod: Obj, room: Room, rooms: Iterable[Room]) -> bool:
    """Whether the pod's own anti-affinity forbids the node, for what runs in its domain."""
    namespace = pod["metadata"]["namespace"]
    for term in anti_affinity(pod):
        key = term["topologyKey"]
        domain = domain_of(room.node, key)
        near = [room] if key == HOSTNAME else [r for r in rooms if domain_of(r.node, key) == domain]
        if domain and any(
            repels(term, namespace, other) for there in near for other in there.pods.values()
        ):
            return True
    return False


def closed_to(pod: Obj, others: Iterable[tuple[Obj, Obj]]) -> Iterator[Closed]:
    """The domains that are closed to a pod, by pods (with their nodes) that repel it."""
    for other, node in others:
        for term in anti_affinity(other):
            if repels(term, other["metadata"]["namespace"], pod):
                key = term["topologyKey"]
                if domain := domain_of(node, key):
                    yield key, domain


def scores(pod: Obj, needs: Needs, rooms: list[Room]) -> list[float]:
    """How well each node suits: preferred affinity, even spreading, free room.

    A pod that says itself how it is spread is not spread by default.
    """
    preferred = preferences(pod)
    liked = [liking(preferred, room.node) if preferred else 0 for room in rooms]
    owner = None if pod["spec"].get("topologySpreadConstraints") else controller_of(pod)
    near = [room.owned[owner["uid"]] if owner else 0 for room in rooms]
    most_liked, most_near = max(liked, default=0) or 1, max(near, default=0) or 1
    return [
        2 * 100 * liked[i] / most_liked
        + 2 * 100 * (1 - near[i] / most_near)
        + 100 * _free(needs, room)
        for i, room in enumerate(rooms)
    ]


def preferences(pod: Obj) -> Sequence[Obj]:
    """A pod's preferred node affinity terms."""
    found: Sequence[Obj] = at(
        pod,
        "spec",
        "affinity",
        "nodeAffinity",
        "preferredDuringSchedulingIgnoredDuringExecution",
        default=(),
    )
    return found


def liking(preferred: Iterable[Obj], node: Obj) -> int:
    """The weights of those of a pod's preferences that a node meets, together."""
    return sum(each["weight"] for each in preferred if matches_term(each["preference"], node))


def _free(needs: Needs, room: Room) -> float:
    """The share of cores and memory that stays free, as LeastAllocated counts it."""
    shares = [
        1 - (room.used.get(name, 0) + needs.requests.get(name, 0)) / room.allocatable[name]
        for name in ("cpu", "memory")
        if room.allocatable.get(name)
    ]
    return sum(shares) / len(shares) if shares else 0.0
