"""The nodes on which a pod's volumes can be mounted, as far as the scheduler looks at that.

After the plugins volumebinding, volumezone and volumerestrictions in
pkg/scheduler/framework/plugins of Kubernetes 1.36. Storage classes are not simulated: a claim that
is not bound gets its volume wherever its pod goes, unless it says that it is of no class.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evenkeel_sandbox.simulator.api.objects import Key, Obj, at, labels_of
from evenkeel_sandbox.simulator.placement import Clause, Room, matches_term
from evenkeel_sandbox.simulator.volumes import claims_of

UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
ZONE = "node(s) had no available volume zone"
IN_USE = (
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
)

SEPARATOR = "__"
"""Between the zones of a volume that is in several."""

BETA = "failure-domain.beta.kubernetes.io/"
TOPOLOGY = "topology.kubernetes.io/"
ZONES = {
    f"{prefix}{domain}": f"{TOPOLOGY}{domain}"
    for prefix in (BETA, TOPOLOGY)
    for domain in ("zone", "region")
}
"""Labels that say where a volume is, and the names that they have now."""


@dataclass(frozen=True)
class Unmountable:
    """A claim that no node can mount, whichever it is.

    ``comes_first``: the scheduler says so without a look at any node.
    """

    why: str
    comes_first: bool = True

    def refusal(self, _node: Obj) -> str:
        """Why the pod may not go to a node."""
        return self.why


@dataclass(frozen=True)
class Mount:
    """A volume that a pod mounts."""

    volume: Obj

    def refusal(self, node: Obj) -> str:
        """Why the pod may not go to a node, or empty."""
        required = at(self.volume, "spec", "nodeAffinity", "required")
        if required is not None and not any(
            matches_term(term, node) for term in required.get("nodeSelectorTerms") or ()
        ):
            return AFFINITY
        return "" if self._is_in_zone_of(labels_of(node)) else ZONE

    def _is_in_zone_of(self, labels: dict[str, str]) -> bool:
        """Whether a node with these labels is where the volume is, or none says where it is."""
        return not ZONES.keys() & labels.keys() or all(
            labels.get(key, labels.get(ZONES[key])) in value.split(SEPARATOR)
            for key, value in labels_of(self.volume).items()
            if key in ZONES
        )


type Find = Callable[[str, Key], Obj | None]
"""Finds an object by its kind and key."""


def mounts_of(pod: Obj, find: Find, rooms: Iterable[Room]) -> Iterator[Clause]:
    """What a pod's claims say of nodes; ``rooms`` have the pods that are there."""
    for key in claims_of(pod):
        claim = find("PersistentVolumeClaim", key)
        if claim is None:
            yield Unmountable(f'persistentvolumeclaim "{key[1]}" not found')
            continue
        spec = claim["spec"]
        if "ReadWriteOncePod" in (spec.get("accessModes") or ()) and _is_used(key, rooms):
            yield Unmountable(IN_USE, comes_first=False)
        volume = find("PersistentVolume", ("", spec.get("volumeName", "")))
        if volume is not None:
            yield Mount(volume)
        elif spec.get("volumeName") or spec.get("storageClassName") == "":
            yield Unmountable(UNBOUND)


def _is_used(claim: Key, rooms: Iterable[Room]) -> bool:
    return any(claim in claims_of(other) for room in rooms for other in room.pods.values())
