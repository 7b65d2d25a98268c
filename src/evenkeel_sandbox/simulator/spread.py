"""Topology spread: how even pods are over the domains of a node label, and where one more may go.

After pkg/scheduler/framework/plugins/podtopologyspread of Kubernetes 1.36, its filter alone:
``DoNotSchedule`` with ``minDomains``, ``matchLabelKeys`` and both node policies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenkeel_sandbox.simulator.api.objects import Obj, is_leaving, labels_of
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.placement import Room, bears_taints, matches_node

NO_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"
UNEVEN = "node(s) didn't match pod topology spread constraints"


@dataclass(frozen=True)
class Spread:
    """One constraint of a pod: how many pods count in each domain, itself included where it does.

    ``most`` is how many there may be in a domain when the pod is there.
    """

    key: str
    counts: dict[str, int]
    itself: int
    most: int

    def refusal(self, node: Obj) -> str:
        """Why the pod may not go to a node, or empty."""
        domain = labels_of(node).get(self.key)
        if domain is None:
            return NO_LABEL
        return UNEVEN if self.counts.get(domain, 0) + self.itself > self.most else ""


def is_spread(pod: Obj) -> bool:
    """Whether a pod says itself how it is spread."""
    return bool(pod["spec"].get("topologySpreadConstraints"))


def spreads_of(pod: Obj, rooms: Iterable[Room]) -> Sequence[Spread]:
    """What a pod's constraints come to with the pods that are there."""
    constraints = [
        each
        for each in pod["spec"].get("topologySpreadConstraints") or ()
        if each["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    if not constraints:
        return ()
    keys = {each["topologyKey"] for each in constraints}
    labelled = [room for room in rooms if keys <= labels_of(room.node).keys()]
    return [_spread(pod, each, labelled) for each in constraints]


def _spread(pod: Obj, constraint: Obj, rooms: Iterable[Room]) -> Spread:
    key = constraint["topologyKey"]
    same = {
        label: labels_of(pod)[label]
        for label in constraint.get("matchLabelKeys") or ()
        if label in labels_of(pod)
    }

    def counts(other: Obj) -> bool:
        labels = labels_of(other)
        return selects(constraint.get("labelSelector"), labels) and same.items() <= labels.items()

    found: dict[str, int] = {}
    for room in rooms:
        if not _is_eligible(pod, constraint, room.node):
            continue
        domain = labels_of(room.node)[key]
        found[domain] = found.get(domain, 0) + sum(
            counts(other)
            for other in room.pods.values()
            if other["metadata"]["namespace"] == pod["metadata"]["namespace"]
            and not is_leaving(other)
        )
    enough = len(found) >= constraint.get("minDomains", 1)
    least = min(found.values(), default=0) if enough else 0
    return Spread(key, found, int(counts(pod)), least + constraint["maxSkew"])


def _is_eligible(pod: Obj, constraint: Obj, node: Obj) -> bool:
    """Whether a node's domain counts: by default nodes that the affinity excludes do not."""
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not matches_node(pod, node):
        return False
    return constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore" or bears_taints(pod, node)
