"""Moves that come to nothing are taken back, and the workload rests."""

from itertools import pairwise

from evenkeel.errors import DisruptionRefusedError, ForbiddenError, UnavailableError
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, Patch
from tests.kit.asking import asks, noting
from tests.kit.manifests import MAJORITY, PAUSED, deployment, quota, stateful_set
from tests.kit.restoring import RestoreScene

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}
ON_PORT_80 = {"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]}
ON_SPOT = {"nodeSelector": {names.CAPACITY_LABELS[-1]: "spot"}}


def story(scene: RestoreScene) -> list[str]:
    """What was decided about the pod of the first move."""
    moved = scene.moves("web")[0].subject.name
    return scene.story(moved).order()


def test_without_a_webhook_a_replacement_goes_astray_and_the_move_back(scene: RestoreScene) -> None:
    scene.place(deployment("web", 5, notes=FLOOR_OF_TWO), on="o0 o1")
    scene.add_node("s0", room="0.1")
    for number in range(9):  # the scheduler rather takes one of these
        scene.add_node(f"p{number}", spot=False, room="64")
    scene.begin()
    scene.webhook.down = True
    before = {pod.uid for pod in scene.pods("web")}

    scene.run(until=200)

    assert story(scene) == [
        "release AboveFloor",
        "wait ReplacementPending",
        "roll-back WrongCapacityType",
    ]
    assert len(scene.moves("web")) == 1
    assert {pod.uid for pod in scene.pods("web")} == before
    assert scene.lowest("web") == 5
    rest = scene.cooldown("web")
    assert rest is not None
    assert rest.failures == 1


def test_a_replacement_without_place_is_deleted_and_the_old_pod_stays(scene: RestoreScene) -> None:
    """Room was only estimated: of host ports it knows nothing."""
    scene.place(deployment("web", 2, notes={names.ON_DEMAND: "1"}, pod=ON_PORT_80), on="o0 o1 o2")
    scene.given(deployment("port", 1, pod={**ON_PORT_80, **ON_SPOT}), on="s0")
    before = {pod.uid for pod in scene.pods("web")}

    scene.run(until=280)
    assert scene.split("web") == {"on-demand": 2, "none": 1}
    scene.run(until=330)

    assert story(scene)[-1] == "roll-back DeadlinePassed"
    assert {pod.uid for pod in scene.pods("web")} == before
    assert scene.lowest("web") == 2


def test_each_failure_doubles_the_rest(scene: RestoreScene) -> None:
    scene.place(deployment("web", 5, notes=FLOOR_OF_TWO), on="o0 o1 o2")
    scene.given(quota(pods="5"), on="s0")

    scene.run(until=3 * 3600)

    begun = [at / 60 for at, decision in scene.told("AboveFloor") if decision.verb is Verb.RELEASE]
    gaps = [round(later - earlier) for earlier, later in pairwise(begun)]
    assert gaps == [6, 11, 21, 41, 81]
    rest = scene.cooldown("web")
    assert rest is not None
    assert rest.failures == 6
    assert scene.split("web") == {"on-demand": 5}
    assert scene.lowest("web") == 5


def test_a_replacement_whose_move_was_lost_is_deleted(scene: RestoreScene) -> None:
    """It may go to spot alone, and the pod that it was made for is gone: no move is rolled back."""
    scene.place(deployment("web", 2, notes={names.ON_DEMAND: "1"}, pod=ON_PORT_80), on="o0 o1 o2")
    scene.given(deployment("port", 1, pod={**ON_PORT_80, **ON_SPOT}), on="s0")
    scene.run(until=30)
    (moved,) = {decision.subject.name for decision in scene.moves("web")}

    scene.cluster.delete("Pod", moved, "default", grace=0)
    scene.run(until=100)

    assert [decision.verb for _, decision in scene.told("MoveIsOver")] == [Verb.DELETE]
    assert scene.split("web") == {"on-demand": 2}


def test_a_paused_evenkeel_moves_nothing(scene: RestoreScene) -> None:
    scene.place(deployment("web", 5, notes=FLOOR_OF_TWO), on="o0 o1 o2")
    scene.given(PAUSED, on="s0 s1")

    scene.run(until=200)
    assert scene.moves() == []
    assert scene.written() == []

    scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    scene.run(until=400)
    assert scene.split("web") == {"on-demand": 2, "spot": 3}


def test_where_a_nodes_capacity_type_is_unknown_the_move_goes_back(scene: RestoreScene) -> None:
    scene.given(deployment("web", 3, notes={names.ON_DEMAND: "2"}), on="o0 o1 o2", spare="s0")
    asked = noting(scene.cluster, asks(Get, of=Node, name="s0"))
    scene.fail(ForbiddenError("no nodes for you"), asks(Get, of=Node, name="s0"))
    scene.run(until=400)

    assert story(scene)[-1] == "roll-back DeadlinePassed"
    assert scene.lowest("web") == 3
    assert 10 < len(asked) < 400  # once a second at most


def test_a_release_whose_answer_was_lost_is_looked_after_at_once(scene: RestoreScene) -> None:
    scene.given(deployment("web", 2, notes={names.ON_DEMAND: "1"}), on="o0 o1 o2", spare="s0")
    scene.schedule.stop()
    scene.fail(UnavailableError("lost"), asks(Patch, of=Pod), times=1, done=True)

    scene.run(until=60)

    assert scene.split("web") == {"on-demand": 1, "spot": 1}


def test_an_ordinal_that_was_not_evicted_did_not_come_back(scene: RestoreScene) -> None:
    """Its budget's count lagged behind: that is no failure, and needs no rest."""
    scene.given(stateful_set("db", 3, notes=MAJORITY), on="o0 o1 o2", spare="s0")
    refused = DisruptionRefusedError("not now")
    scene.fail(refused, asks(Evict), times=1)

    scene.run(until=150)

    assert scene.told("MoveDidNotLast") == []
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
