"""What others do to a workload while its pods are handed over."""

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.request import Delete, Evict
from tests.kit.manifests import Manifest, deployment
from tests.kit.scene import Scene

SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "20s"}}
"""A replacement takes 22 s, so that there is a middle in which something can happen."""


@pytest.fixture
def begun(scene: Scene) -> Scene:
    """Three replicas on s1, released a second after its warning; o1 has room."""
    scene.given(deployment("web", 3, pod=SLOW), spare="o1", settle=30)
    scene.interrupt("s1")
    return scene


def at(scene: Scene, seconds: float, action: Callable[..., object], *args: Any) -> None:
    """Let another client do something to the cluster then."""
    scene.later(seconds, lambda: action(*args))


def released(scene: Scene) -> list[str]:
    """The names of the released pods."""
    return [pod.name for pod in scene.pods("web") if pod.released]


def test_a_rollout_replaces_the_old_pods_and_nothing_dips(begun: Scene) -> None:
    new = deployment("web", 3, pod={**SLOW, "cpu": "200m"})
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 10, begun.apply, new)

    begun.run(until=100)

    assert begun.lowest("web") >= 3
    assert released(begun) == []
    assert len(begun.pods("web", "o1")) == 3
    assert all(begun.gone_at(pod) < 88 for pod in old)
    reasons = {begun.story(pod).order()[-1] for pod in old}
    assert reasons <= {"evict ReplacementAvailable", "delete ScaledToZero"}


def test_a_rollout_that_ends_first_leaves_released_pods_to_be_deleted_at_once(
    begun: Scene,
) -> None:
    """Its owner lets all go at once: with the old ReplicaSet at zero they are not replaced."""
    fast = {"annotations": {"evenkeel.test/ready-after": "1s"}}
    bounds = {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 3}}
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 5, begun.apply, deployment("web", 3, pod=fast, strategy=bounds))

    begun.run(until=30)

    for pod in old:
        assert begun.story(pod)[-1] == "5.0 delete ScaledToZero"
        assert isinstance(begun.written(pod)[-1].write, Delete)
    assert len(begun.pods("web", "o1")) == 3


def test_scaling_in_gives_the_surplus_up(begun: Scene) -> None:
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 5, begun.cluster.scale, "Deployment", "web", "default", 1)

    begun.run(until=60)

    gone = sorted(begun.gone_at(pod) for pod in old)
    assert gone[0] == pytest.approx(5, abs=0.5)
    assert gone[1] == pytest.approx(5, abs=0.5)
    assert gone[2] == pytest.approx(23, abs=0.5)
    assert begun.lowest("web") == 1
    assert len(begun.pods("web")) == 1


def test_released_pods_of_a_workload_that_is_scaled_to_zero_are_deleted_at_once(
    begun: Scene,
) -> None:
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 5, begun.cluster.scale, "Deployment", "web", "default", 0)
    begun.run(until=20)
    for pod in old:
        assert begun.story(pod).order()[-1] == "delete ScaledToZero"
        assert begun.gone_at(pod) < 7
    assert begun.pods("web") == []


def test_released_pods_go_with_their_deployment(begun: Scene) -> None:
    """The garbage collector takes them: nothing is left to Evenkeel."""
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 5, begun.cluster.delete, "Deployment", "web", "default")
    begun.run(until=20)
    assert begun.pods("web") == []
    assert not [sent for pod in old for sent in begun.written(pod, after=5)]


def test_released_pods_that_their_deployment_leaves_behind_are_deleted(begun: Scene) -> None:
    """``kubectl delete --cascade=orphan`` takes the reference off, and then the ReplicaSet goes."""
    old = [pod.name for pod in begun.pods("web")]

    def orphan() -> None:
        for name in old:
            body = {"metadata": {"ownerReferences": None}}
            begun.cluster.server.patch("Pod", ("default", name), body)
        begun.cluster.delete("Deployment", "web", "default")

    at(begun, 5, orphan)
    begun.run(until=20)
    for name in old:
        assert begun.story(name).order()[-1] == "delete WorkloadDeleted"
        assert begun.gone_at(name) < 7


def test_scaling_out_waits_for_no_pod_beyond_the_minimum_available(begun: Scene) -> None:
    """Three were to stay available: the three more that are asked for are not waited for."""
    old = [pod.name for pod in begun.pods("web")]
    at(begun, 5, begun.cluster.scale, "Deployment", "web", "default", 6)

    begun.run(until=60)

    assert begun.lowest("web") == 3
    assert max(begun.gone_at(pod) for pod in old) < 24
    assert len(begun.pods("web", "o1")) == 6


def test_a_new_workload_of_the_same_name_does_not_keep_the_old_ones_pods(
    begun: Scene,
) -> None:
    old = {pod.name for pod in begun.pods("web")}
    at(begun, 5, begun.cluster.delete, "Deployment", "web", "default")
    at(begun, 8, begun.apply, deployment("web", 3, pod=SLOW))

    begun.run(until=60)

    assert old.isdisjoint(pod.name for pod in begun.pods("web"))
    assert len(begun.pods("web", "o1")) == 3


def test_a_released_pod_that_another_relabelled_goes_back_and_is_released_again(
    begun: Scene,
) -> None:
    first = begun.pods("web")[0]

    def take_the_label_off() -> None:
        begun.cluster.server.patch(
            "Pod",
            ("default", first.name),
            {"metadata": {"labels": {names.RELEASED_FROM: None}}},
        )

    at(begun, 5, take_the_label_off)
    begun.run(until=110)

    assert "roll-back ReleaseRefused" in begun.story(first.name).order()
    assert begun.gone_at(first.name) < 60
    assert begun.lowest("web") == 3


def test_an_autoscaler_s_ups_and_downs_cost_no_replica(begun: Scene) -> None:
    for second, replicas in ((3, 5), (9, 4), (15, 8), (21, 3), (30, 4)):
        at(begun, second, begun.cluster.scale, "Deployment", "web", "default", replicas)

    begun.run(until=100)

    assert begun.lowest("web") == 3
    assert released(begun) == []
    assert len(begun.pods("web", "o1")) == 4
    assert not [s for s in begun.writes if isinstance(s.write, Evict) and s.at > 88]
