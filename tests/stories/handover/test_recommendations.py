"""Rebalance recommendations: hints that few nodes follow at a time, that expire and roll back."""

from datetime import timedelta

import pytest

from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.deployment import Deployment
from evenkeel.model.request import List, Patch, Request
from tests.kit.asking import asks
from tests.kit.manifests import budget, deployment
from tests.kit.nodes import is_marked
from tests.kit.scene import BEGUN, Scene
from tests.stories.handover.conftest import MakeScene

FIVE_MINUTES = {"rebalance_expiry": timedelta(minutes=5)}


def drained(scene: Scene) -> set[str]:
    """The names of the nodes that have Evenkeel's taint now."""
    return {
        obj["metadata"]["name"]
        for obj in scene.cluster.objects("Node")
        if any(taint["key"] == names.DOOMED for taint in obj["spec"].get("taints", ()))
    }


def counts(request: Request) -> bool:
    """Whether it asks how many spot nodes there are."""
    return isinstance(request, List) and request.metadata_only


@pytest.mark.parametrize(("spot_nodes", "allowed"), [(4, 1), (19, 1), (20, 2), (31, 3)])
def test_a_tenth_of_the_spot_nodes_is_drained_and_at_least_one(
    scene: Scene, spot_nodes: int, allowed: int
) -> None:
    spot = [f"s{number:02}" for number in range(spot_nodes)]
    scene.given(on=" ".join([*spot, *(f"o{number}" for number in range(10))]))
    scene.recommend(*spot).run(until=60)
    assert drained(scene) == set(spot[:allowed])


def test_the_next_is_drained_when_one_is_lifted(make_scene: MakeScene) -> None:
    scene = make_scene(**FIVE_MINUTES)
    scene.given(deployment("web", 6), on="s1 s2 s3", spare="o1")

    scene.recommend("s1")
    scene.later(100, lambda: scene.recommend("s2"))
    scene.run(until=299)
    assert drained(scene) == {"s1"}
    scene.run(until=330)

    assert drained(scene) == {"s2"}
    assert scene.story("s1").order()[-1] == "lift HintExpired"
    assert scene.story("s2").order() == [
        "mark RebalanceRecommendation",
        "drain RebalanceRecommendation",
    ]
    assert scene.pods("web", "s2") == []
    assert scene.lowest("web") == 6


def test_pods_that_are_known_already_leave_the_next_node_too(make_scene: MakeScene) -> None:
    """Both nodes run the same Deployment; the first has a pod that never finds a place."""
    scene = make_scene(rebalance_share=1.0)
    scene.given(
        deployment("web", 4),
        deployment("stuck", pod={"cpu": "3"}),
        on="s1 s2",
        spare="o1",
        room={"o1": "1"},
    )

    scene.recommend("s1")
    scene.later(20, lambda: scene.recommend("s2"))
    scene.run(until=60)

    assert len(scene.pods("web", "o1")) == 4
    assert scene.lowest("web") == 4


@pytest.mark.parametrize(("labels", "drains"), [(WELL_KNOWN, 2), (CapacityLabels(("life",)), 1)])
def test_the_share_is_of_the_nodes_that_the_labels_call_spot(
    make_scene: MakeScene, labels: CapacityLabels, drains: int
) -> None:
    """At least one may be drained, even where no node has the label."""
    scene = make_scene(rebalance_share=0.5, capacity_labels=labels)
    scene.given(on="s1 s2 s3 s4 o1")
    scene.recommend("s1", "s2", "s3", "s4").run(until=20)

    assert len(drained(scene)) == drains


def test_one_superseded_by_a_warning_makes_room_for_the_next(scene: Scene) -> None:
    scene.given(on="s1 s2 o1")

    scene.recommend("s1", "s2").run(until=20)
    assert drained(scene) == {"s1"}
    scene.interrupt("s1").run(until=40)

    assert drained(scene) == {"s1", "s2"}


def test_no_share_means_no_drain(make_scene: MakeScene) -> None:
    scene = make_scene(rebalance_share=0.0, **FIVE_MINUTES)
    scene.given(deployment("web", 2), spare="o1")

    scene.recommend("s1").run(until=400)

    assert drained(scene) == set()
    assert scene.story("s1").order() == ["mark RebalanceRecommendation", "lift HintExpired"]
    assert not is_marked(scene.node("s1"))


def test_the_taint_expires_with_the_hint_and_no_cordon_is_lifted(make_scene: MakeScene) -> None:
    scene = make_scene(rebalance_share=1.0, **FIVE_MINUTES)
    scene.place(on="s1 s2 o1")
    scene.cluster.server.patch("Node", ("", "s2"), {"spec": {"unschedulable": True}})
    scene.begin()

    scene.recommend("s1", "s2").run(until=400)

    for name in ("s1", "s2"):
        assert not is_marked(scene.node(name))
        assert scene.node(name).spec.unschedulable == (name == "s2")
        assert scene.story(name)[-1] == "300.0 lift HintExpired"
    assert scene.is_quiet


def test_what_was_not_replaced_by_then_goes_back_and_rests(make_scene: MakeScene) -> None:
    """Its annotation for Karpenter is as before, too."""
    scene = make_scene(**FIVE_MINUTES)
    scene.given(deployment("stuck", pod={"annotations": {names.DO_NOT_DISRUPT: "yes"}}))
    (before,) = scene.pods("stuck")

    scene.recommend("s1").run(until=400)

    (after,) = scene.pods("stuck")
    assert after.uid == before.uid
    assert after.metadata.labels == before.metadata.labels
    assert after.metadata.annotations == before.metadata.annotations
    assert after.controller is not None
    assert scene.story(before.name).order() == [*BEGUN, "wait NoPlace", "roll-back DeadlinePassed"]
    assert scene.story("stuck").order() == ["cool-down HandoverRolledBack"]
    rest = scene.cooldown("stuck")
    assert rest is not None
    assert rest.failures == 1
    assert rest.until - scene.at(300) == pytest.approx(
        timedelta(minutes=5), abs=timedelta(seconds=0.1)
    )
    assert scene.is_quiet


def test_the_rest_is_written_before_anything_goes_back(make_scene: MakeScene) -> None:
    """Once all pods are back nothing tells any more that their workload needs a rest."""
    scene = make_scene(**FIVE_MINUTES)
    scene.given(deployment("stuck", 2))
    reset = UnavailableError("reset")
    scene.fail(reset, asks(Patch, of=Deployment), times=1)

    scene.recommend("s1").run(until=400)

    written = [sent.write.reference.kind for sent in scene.written(after=200)]
    assert [kind for kind in written if kind != "Node"] == ["Deployment", "Pod", "Pod"]
    assert scene.cooldown("stuck") is not None


def test_a_cooldown_that_cannot_be_written_keeps_no_pod_released(make_scene: MakeScene) -> None:
    scene = make_scene(**FIVE_MINUTES)
    scene.given(deployment("stuck"))
    scene.fail(ForbiddenError("no"), asks(Patch, of=Deployment))

    scene.recommend("s1").run(until=400)

    (pod,) = scene.pods("stuck")
    assert pod.controller is not None
    assert scene.written(pod.name)[-1].at == pytest.approx(305, abs=0.5)
    assert scene.cooldown("stuck") is None


def test_spot_nodes_that_cannot_be_counted_are_not_asked_for_in_a_hurry(scene: Scene) -> None:
    scene.given(deployment("stuck"), on="s1 s2")

    scene.fail(UnavailableError("reset"), lambda request: counts(request) and scene.seconds < 20)
    scene.interrupt("s1")
    scene.recommend("s2").run(until=40)

    assert drained(scene) == {"s1", "s2"}
    assert sum(counts(request) for _, request in scene.requests) < 8


def test_spot_nodes_are_counted_once_a_minute_at_most(make_scene: MakeScene) -> None:
    scene = make_scene(**FIVE_MINUTES)
    scene.given(deployment("stuck", pod={"cpu": "4"}), on="s0 s1 s2 s3 s4")

    scene.recommend(*(f"s{number}" for number in range(5))).run(until=290)

    asked = [at for at, request in scene.requests if counts(request)]
    assert 1 <= len(asked) <= 2 * (290 // 60 + 1)  # two environments of the function


def test_a_hold_ends_with_its_budget_s_trouble_while_other_work_goes_on(scene: Scene) -> None:
    """A pod without a place keeps the invocation busy; the budget is read again every second."""
    scene.place(deployment("stuck", pod={"cpu": "3"}))
    scene.given(
        deployment("ill", 2), budget("ill", minAvailable=3), on="", spare="o1", room={"o1": "1"}
    )
    pods = [pod.name for pod in scene.pods("ill", "s1")]
    scene.later(6.5, lambda: scene.apply(budget("ill", minAvailable=2)))

    scene.recommend("s1").run(until=15)

    for pod in pods:
        first, second, *_ = scene.story(pod)
        assert first == "1.0 leave BudgetHolds"
        at, what = second.split(" ", 1)
        assert what == "release NodeDoomed"
        assert 6.5 < float(at) < 8
    assert scene.lowest("ill") == 2


def test_an_answer_that_is_not_needed_any_more_keeps_no_invocation_at_work(scene: Scene) -> None:
    """The node is gone before the spot nodes are counted."""
    scene.given(deployment("one"))

    scene.delay(timedelta(seconds=6), counts)
    scene.recommend("s1").run(until=4)
    scene.cluster.server.delete("Node", ("", "s1"))
    scene.run(until=30)

    assert any(counts(request) for _, request in scene.requests)
    assert scene.is_quiet
