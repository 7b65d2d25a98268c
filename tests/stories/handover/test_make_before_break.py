"""A Deployment's pod on a dying node: its replacement serves before it goes."""

from evenkeel.model.request import Evict, Patch
from tests.kit.manifests import budget, deployment
from tests.kit.scene import BEGUN, Scene


def test_a_single_replica_behind_a_budget_moves_without_a_dip(scene: Scene) -> None:
    (old,) = scene.given(deployment("one"), budget("one", minAvailable=1), spare="o1")

    scene.interrupt("s1").run(until=60)

    assert scene.story(old).order() == [*BEGUN, "evict ReplacementAvailable"]
    assert scene.lowest("one") == 1
    assert scene.gone_at(old) == 3.2
    assert scene.pod("one") == scene.pod("one", "o1")
    assert [type(sent.write) for sent in scene.writes if sent.name == old] == [Patch, Evict, Evict]


def test_every_pod_of_a_workload_is_replaced_before_it_goes(scene: Scene) -> None:
    scene.given(deployment("web", 6), spare="o1")
    old = scene.pods("web")

    scene.interrupt("s1").run(until=20)

    assert scene.lowest("web") == 6
    assert len(scene.pods("web", "o1")) == 6
    assert {pod.name for pod in old}.isdisjoint(pod.name for pod in scene.pods("web"))
    assert max(scene.gone_at(pod.name) for pod in old) < 5


def test_a_pod_counts_when_it_has_been_ready_for_min_ready_seconds(scene: Scene) -> None:
    (old,) = scene.given(deployment("slow", minReadySeconds=10), spare="o1")

    scene.interrupt("s1").run(until=60)

    assert scene.story(old).order() == [*BEGUN, "evict ReplacementAvailable"]
    assert scene.gone_at(old) == 13.0
    assert scene.lowest("slow") == 1


def test_a_selector_of_expressions_selects_as_well(scene: Scene) -> None:
    """Each operator of a label selector, in what the fresh reads ask for."""
    made = deployment("web", 2, pod={})
    made["spec"]["selector"] = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [
            {"key": "app", "operator": "In", "values": ["web", "site"]},
            {"key": "track", "operator": "NotIn", "values": ["canary"]},
            {"key": "app", "operator": "Exists"},
            {"key": "legacy", "operator": "DoesNotExist"},
        ],
    }
    scene.given(made, spare="o1")

    scene.interrupt("s1").run(until=20)

    assert scene.lowest("web") == 2
    assert len(scene.pods("web", "o1")) == 2
    assert scene.pods("web", "s1") == []
