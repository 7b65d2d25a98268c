"""No run of restore leaves a workload's pods less even than its owner asks for.

A workload of any kind, size and floor, with or without a spread or a preference of its owner, is
made on nodes in three zones while nobody places its pods. Then its namespace is managed, other
nodes may come, and restore works for hours.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import assume, example, given, note
from hypothesis import strategies as st

from evenkeel.model import names
from evenkeel.model.floor import read
from evenkeel.model.pod import Pod
from tests.kit.manifests import deployment, stateful_set
from tests.kit.restoring import RestoreScene
from tests.property.judging import IS_DEEP, tries

LARGEST = 12 if IS_DEEP else 6
HOURS = 3
CAPACITY = names.KARPENTER_CAPACITY
KEYS = {"zone": names.ZONE, "node": names.HOSTNAME, "capacity": CAPACITY}


@dataclass(frozen=True)
class World:
    """``first`` and ``later`` are nodes, as o or s and their zone: those that are there when the
    pods are made, and those that come.

    ``spread`` is over zones, nodes or capacity types, ``hard`` or not; empty without one.
    ``rather`` is the capacity type that its template prefers; ``floor`` is empty where nobody says
    one.
    """

    kind: str
    size: int
    floor: str
    first: tuple[str, ...]
    later: tuple[str, ...] = ()
    spread: str = ""
    hard: bool = True
    skew: int = 1
    rather: str = ""

    @property
    def rules(self) -> Mapping[str, Any]:
        """What its pods say of nodes."""
        rules: dict[str, Any] = {}
        if self.spread:
            rules["topologySpreadConstraints"] = [
                {
                    "maxSkew": self.skew,
                    "topologyKey": KEYS[self.spread],
                    "whenUnsatisfiable": "DoNotSchedule" if self.hard else "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ]
        if self.rather:
            clause = {"key": CAPACITY, "operator": "In", "values": [self.rather]}
            term = {"weight": 100, "preference": {"matchExpressions": [clause]}}
            preferred = "preferredDuringSchedulingIgnoredDuringExecution"
            rules["affinity"] = {"nodeAffinity": {preferred: [term]}}
        return rules


nodes = st.lists(st.sampled_from(["oa", "ob", "oc", "sa", "sb", "sc"]), max_size=6).map(tuple)
worlds = st.builds(
    World,
    kind=st.sampled_from(["Deployment", "StatefulSet"]),
    size=st.integers(1, LARGEST),
    floor=st.sampled_from(["", "none", "all", "majority", "1", "2"]),
    first=nodes,
    later=nodes,
    spread=st.sampled_from(["", *KEYS]),
    hard=st.booleans(),
    skew=st.integers(1, 3),
    rather=st.sampled_from(["", "", "on-demand", "spot"]),
)


class Where:
    """Where the pods of the workload are at a moment."""

    def __init__(self, scene: RestoreScene, zones: Sequence[str]) -> None:
        self.pods: Sequence[Pod] = [pod for pod in scene.pods("web") if pod.active]
        # Nodes are called by type, zone and number: oa0.
        placed = [pod.spec.node_name for pod in self.pods]
        self.on_nodes = Counter(placed)
        self.zones = Counter(dict.fromkeys(zones, 0) | Counter(name[1:2] for name in placed))
        self.on_demand = sum(name.startswith("o") for name in placed)
        self.most = max(self.on_nodes.values())
        self.skew = max(self.zones.values()) - min(self.zones.values())
        self.in_use = sum(map(bool, self.zones.values()))

    def __repr__(self) -> str:
        return str(sorted(self.on_nodes.items()))


def _add(scene: RestoreScene, added: Sequence[str], start: int = 0) -> None:
    for number, name in enumerate(added, start):
        zone: Any = {names.ZONE: name[1]}
        scene.add_node(f"{name}{number}", spot=name[0] == "s", room="64", **zone)


def _worse(world: World, before: Where, after: Where, there: Sequence[str]) -> Sequence[str]:
    """What is worse than before."""
    found = []
    floor = read(world.floor)
    wanted = floor.of(world.size) if floor is not None else 0
    takers = sum(name[0] == "o" for name in there)
    share = -(-wanted // takers) if takers else 0
    if after.skew > before.skew:
        found.append("its zones are less even")
    if after.in_use < before.in_use:
        found.append("a zone is empty")
    if after.most > max(before.most, share):
        found.append("a node has more of it")
    moved = before.on_demand - after.on_demand
    if moved > 0 and world.rather == "on-demand":
        found.append("its preference is counted out")
    if world.spread == "capacity" and moved > 0:
        spot = world.size - after.on_demand
        if spot - after.on_demand > max(world.skew, world.size - 2 * before.on_demand):
            found.append("its ratio of capacity types is broken")
    return found


@tries(0.5)
@example(World("Deployment", 6, "all", ("oa", "sa", "sb", "sc")[1:], ("oa",), "zone"))
@example(World("Deployment", 6, "", ("oa", "ob", "oc") * 2, ("sa",), "node"))
@example(World("Deployment", 6, "", ("oa", "ob", "oc") * 2, ("sa",)))
@example(World("StatefulSet", 3, "none", ("oa", "ob", "oc"), ("sa", "sa", "sa")))
@example(World("Deployment", 6, "", ("oa", "sa", "ob", "sb"), (), "capacity"))
@example(World("Deployment", 4, "", ("oa", "ob", "sa", "sb"), (), rather="on-demand"))
@given(worlds)
def test_no_workload_is_spread_worse_than_it_was_placed_at_first(world: World) -> None:
    assume(world.first)
    scene = RestoreScene()
    try:
        scene.webhook.down = True
        _add(scene, world.first)
        kind = {"Deployment": deployment, "StatefulSet": stateful_set}[world.kind]
        manifest = kind("web", world.size, pod=world.rules)
        if world.floor:
            manifest["metadata"]["annotations"] = {names.ON_DEMAND: world.floor}
        scene.apply(manifest)
        scene.settle(60)
        there = [*world.first, *world.later]
        zones = sorted({name[1] for name in there})
        before = Where(scene, zones)
        assume(all(pod.ready for pod in before.pods) and len(before.pods) == world.size)
        scene.webhook.down = False
        _add(scene, world.later, len(world.first))
        scene.begin()
        scene.settle(HOURS * 3600)
        after = Where(scene, zones)
        moves = [f"{each.subject.name} {each.reason}" for each in scene.moves()]
        note(f"before {before}, after {after}, moves {moves}")
        assert len(after.pods) == world.size
        assert not _worse(world, before, after, there)
        assert len(moves) <= world.size, "it goes to and fro"
    finally:
        scene.close()
