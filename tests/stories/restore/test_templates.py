"""Templates that place pods: what a day of them is like."""

from collections.abc import Mapping
from typing import Any

from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.settings import Mode
from evenkeel_sandbox.simulator.api.objects import Obj, annotations_of
from evenkeel_sandbox.simulator.controllers.deployment import without_hash
from evenkeel_sandbox.simulator.controllers.rollout import REVISION
from tests.kit.manifests import deployment, resource, stateful_set
from tests.kit.restoring import RestoreScene
from tests.stories.restore.conftest import MakeScene

BY_TEMPLATE = {names.PLACEMENT: names.BY_TEMPLATE}
HOUR = 3_600


def notes(floor: str) -> Mapping[str, str]:
    return BY_TEMPLATE | {names.ON_DEMAND: floor}


def with_notes(manifest: dict[str, Any], floor: str) -> dict[str, Any]:
    manifest["metadata"].setdefault("annotations", {}).update(notes(floor))
    return manifest


def rollouts(scene: RestoreScene, app: str) -> list[str]:
    """Why the template of a workload was written."""
    return [
        decision.reason
        for _, decision in scene.told()
        if decision.verb is Verb.PATCH_TEMPLATE and decision.subject.name == app
    ]


def scale(scene: RestoreScene, app: str, replicas: int) -> None:
    scene.apply(resource("Deployment", app, spec={"replicas": replicas}))


def begun(scene: RestoreScene) -> None:
    """Two workloads on two nodes of each type, with a webhook that leaves them alone."""
    scene.given(
        deployment("web", 5, notes=notes("2")),
        with_notes(stateful_set("db", 3), "majority"),
        on="s0 s1 o0 o1",
    )


def test_templates_hold_floors_without_a_pod_being_moved(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
    assert rollouts(scene, "web") == rollouts(scene, "db") == ["TemplateWritten"]
    assert scene.moves() == []
    assert not any(names.PLACED in pod.metadata.annotations for pod in scene.pods("web"))
    assert scene.lowest("web") >= 4


def test_spot_that_comes_and_goes_costs_two_rollouts_each_time(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    scene.remove_nodes("s")
    scene.run(until=1_200)
    assert scene.split("web") == {"on-demand": 5}
    assert scene.split("db") == {"on-demand": 3}
    scene.add_nodes("s", 2, spot=True)
    scene.run(until=2_400)
    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
    expected = ["TemplateWritten", "SpreadDropped", "SpreadPutBack"]
    assert rollouts(scene, "web") == rollouts(scene, "db") == expected


def test_spot_that_flaps_costs_a_rollout_every_ten_minutes_at_most(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    for minute in range(10, 130, 4):
        scene.remove_nodes("s")
        scene.run(until=(minute + 2) * 60)
        scene.add_nodes("s", 2, spot=True)
        scene.run(until=(minute + 4) * 60)
    scene.run(until=3 * HOUR)
    assert len(rollouts(scene, "web")) <= 2 + 2 * 2 * HOUR / 600
    assert scene.split("web") == {"on-demand": 2, "spot": 3}


def test_an_autoscaler_that_goes_up_and_down_seldom_costs_a_rollout(scene: RestoreScene) -> None:
    scene.given(deployment("web", 10, notes=notes("30%")), on="s0 s1 s2 o0 o1 o2")
    scene.run(until=300)
    for turn in range(1, 11):
        scale(scene, "web", 14 if turn % 2 else 10)
        scene.run(until=300 * (turn + 1))
    assert rollouts(scene, "web") == ["TemplateWritten"]
    assert sum(scene.split("web").values()) == 10


def test_a_handover_goes_on_beside_a_template(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    scene.interrupt("s0").run(until=1_200)
    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert scene.lowest("web") >= 4
    assert rollouts(scene, "web") == ["TemplateWritten"]


def test_floors_stand_when_all_spot_nodes_go_at_once(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    scene.interrupt("s0", "s1").run(until=1_200)
    assert scene.split("web") == {"on-demand": 5}
    assert scene.split("db") == {"on-demand": 3}
    assert scene.lowest("web") >= 2
    assert rollouts(scene, "web") == ["TemplateWritten", "SpreadDropped"]


def test_what_is_observed_is_not_written(make_scene: MakeScene) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    begun(scene)
    scene.run(until=300)
    templates = [obj["spec"]["template"]["spec"] for obj in scene.cluster.objects("Deployment")]
    assert "affinity" not in templates[0]
    assert rollouts(scene, "web")


def undo(scene: RestoreScene, app: str, back: int = 1) -> None:
    """Undo the last rollouts of a Deployment, as ``kubectl rollout undo`` does.

    It puts the annotations of that revision's ReplicaSet onto the Deployment as well.
    https://github.com/kubernetes/kubectl/blob/v0.36.3/pkg/polymorphichelpers/rollback.go
    """
    sets = [
        each
        for each in scene.cluster.objects("ReplicaSet")
        if each["metadata"]["labels"]["app"] == app
    ]
    to = sorted(sets, key=lambda each: int(annotations_of(each)[REVISION]))[-1 - back]

    def edit(now: Obj) -> Obj:
        annotations = annotations_of(to) | {REVISION: annotations_of(now)[REVISION]}
        template = without_hash(to["spec"]["template"])
        return {
            **now,
            "metadata": {**now["metadata"], "annotations": annotations},
            "spec": {**now["spec"], "template": template},
        }

    scene.cluster.server.change("Deployment", ("default", app), edit)


def revision(number: int) -> dict[str, Any]:
    """The Deployment ``web`` by another template of its owner's."""
    return deployment("web", 5, notes=notes("2"), pod={"annotations": {"revision": str(number)}})


def test_an_undo_to_a_template_before_the_first_write_is_left_and_told(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    undo(scene, "web")
    scene.run(until=600 + HOUR)
    assert rollouts(scene, "web") == ["TemplateWritten"]
    told = [decision for at, decision in scene.told("TemplateUndone") if at > 600]
    assert told[-1].warning
    assert "kubectl rollout undo" in told[-1].message
    assert sum(scene.split("web").values()) == 5


def test_an_undo_of_the_owners_rollout_keeps_what_was_added(scene: RestoreScene) -> None:
    scene.given(revision(1), on="s0 s1 o0 o1")
    scene.run(until=600)
    scene.apply(revision(2))
    scene.run(until=1_200)
    undo(scene, "web")
    scene.run(until=1_200 + HOUR)
    assert rollouts(scene, "web") == ["TemplateWritten"]
    assert not scene.told("TemplateUndone")
    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert {pod.metadata.annotations["revision"] for pod in scene.pods("web")} == {"1"}


def test_an_undo_to_what_was_added_for_another_floor_is_written_once(scene: RestoreScene) -> None:
    """The floor of that time comes back with it: the Deployment has the annotation of then."""
    begun(scene)
    scene.run(until=600)
    scene.apply(deployment("web", 5, notes=notes("all")))
    scene.run(until=1_200)
    assert scene.split("web") == {"on-demand": 5}
    undo(scene, "web")
    scene.run(until=1_200 + HOUR)
    assert rollouts(scene, "web") == ["TemplateWritten", "TemplateFollowsFloor"]
    assert scene.split("web") == {"on-demand": 2, "spot": 3}


def test_an_undo_of_a_dropped_spread_is_written_once(scene: RestoreScene) -> None:
    begun(scene)
    scene.run(until=600)
    scene.remove_nodes("s")
    scene.run(until=1_200)
    undo(scene, "web")
    scene.run(until=1_200 + HOUR)
    expected = ["TemplateWritten", "SpreadDropped", "SpreadDropped"]
    assert rollouts(scene, "web") == expected
    assert scene.split("web") == {"on-demand": 5}
