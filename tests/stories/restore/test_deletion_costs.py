"""Somebody else writes what it costs to delete a pod, as Karpenter can do.

With its feature PodDeletionCostManagement Karpenter 1.15.0 ranks nodes, and writes or removes the
annotation on their ReplicaSets' pods over whatever is there, once a minute at most.
https://github.com/kubernetes-sigs/karpenter/tree/v1.15.0/pkg/controllers/pod/deletioncost
"""

from collections.abc import Callable, Collection
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.reasons import Reason
from evenkeel_cli.explain import gather as explaining
from evenkeel_cli.explain import lookup
from evenkeel_cli.status import gather as standing
from tests.kit.manifests import deployment, resource
from tests.kit.restoring import RestoreScene

HOUR = 3_600
EVERY = 300
SIZE = 10
LARGE = 14
WANTED = {"on-demand": 3, "spot": 7}
MISSING = 2
"""So many are missing of the floor of SIZE at most, where LARGE - SIZE of its pods are taken: a
larger size has a larger floor."""

type Costs = Callable[[str, int], str | None]


def rewrite(scene: RestoreScene, costs: Costs) -> None:
    """Write each ReplicaSet's pod a cost by its node and the turn, every 300 s."""

    def turn() -> None:
        number = int(scene.seconds) // EVERY
        for pod in scene.cluster.objects("Pod"):
            metadata = pod["metadata"]
            if metadata["ownerReferences"][0]["kind"] == "ReplicaSet":
                cost = costs(pod["spec"].get("nodeName", ""), number)
                note: Any = {"metadata": {"annotations": {names.POD_DELETION_COST: cost}}}
                scene.cluster.server.patch("Pod", (metadata["namespace"], metadata["name"]), note)
        scene.later(scene.seconds + EVERY, turn)

    turn()


def floor_first(node: str, _turn: int) -> str:
    """On-demand nodes are to be emptied first: what the floor wants least."""
    return "-999" if node.startswith("o") else "-1"


def one_after_the_other(node: str, turn: int) -> str:
    """Another node each time; the least number that there is for it."""
    return str(-(2**31)) if node.endswith(str(turn % 3)) else "-1"


def removed(_node: str, _turn: int) -> None:
    """No node is to be emptied."""


every_way = pytest.mark.parametrize("costs", [floor_first, one_after_the_other, removed])


def begun(scene: RestoreScene, costs: Costs) -> Collection[str]:
    """A workload on its floor; the uids of its pods, and of all that come."""
    floor = {names.ON_DEMAND: "30%"}
    scene.given(deployment("web", SIZE, notes=floor), on="s0 s1 s2 o0 o1 o2")
    rewrite(scene, costs)
    return scene.made("web")


def agree(scene: RestoreScene) -> None:
    """What status and explain tell is what is there."""
    (row,) = standing.gather(scene.cluster, clock=scene.clock).standings
    split = scene.split("web")
    assert (row.on_demand, row.spot, row.waiting) == (split["on-demand"], split["spot"], 0)
    told = explaining.answer(
        scene.cluster, lookup.find(scene.cluster, lookup.parse("default/deploy/web", ""))
    )
    assert [each.way for each in told.on_interruption_warning] == ["handover"]
    assert sum(each.pods for each in told.on_interruption_warning) == sum(split.values())


@every_way
def test_nothing_is_done_about_other_costs(scene: RestoreScene, costs: Costs) -> None:
    made = begun(scene, costs)
    scene.run(until=HOUR)
    assert len(made) == SIZE
    assert scene.split("web") == WANTED
    assert scene.written() == []
    agree(scene)


@every_way
def test_a_handover_costs_each_pod_one_replacement(scene: RestoreScene, costs: Costs) -> None:
    made = begun(scene, costs)
    lost = len(scene.pods("web", "s0"))
    # The costs are written again in the middle of it.
    scene.run(until=2 * EVERY - 3)
    scene.interrupt("s0").run(until=HOUR)
    assert len(made) == SIZE + lost
    assert scene.split("web") == WANTED
    assert scene.lowest("web") == SIZE
    agree(scene)


def test_scaling_in_that_takes_the_floor_costs_a_move_for_each_of_its_pods(
    scene: RestoreScene,
) -> None:
    made = begun(scene, floor_first)
    turns = range(1, 2 * 6 + 1)
    for turn in turns:
        replicas = LARGE if turn % 2 else SIZE
        scene.apply(resource("Deployment", "web", spec={"replicas": replicas}))
        scene.run(until=EVERY * turn - 10)
        assert scene.split("web")["on-demand"] == (5 if turn % 2 else 3)
    grown, shrunk = 6 * (LARGE - SIZE), 6
    moves = scene.moves("web")
    assert {each.reason for each in moves} == {Reason.FLOOR_MISSING}
    assert len(moves) <= shrunk * MISSING
    assert len(made) == SIZE + grown + len(moves)
    agree(scene)
