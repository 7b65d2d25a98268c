"""What an Eviction of lifecycle.k8s.io says while Evenkeel answers it."""

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, InvalidError
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from evenkeel_responder.eviction import Eviction
from tests.kit.asking import asks
from tests.kit.drainer import Drainer
from tests.kit.eviction_requests import holds
from tests.kit.manifests import PAUSED, RECREATE, Manifest, deployment
from tests.stories.doors.doors import NAMING, EvictionRequests


def test_it_tells_what_it_waits_for_by_when_it_ends_and_that_it_is_done(
    requests: EvictionRequests,
) -> None:
    requests.scene.given(deployment("one", pod=NAMING), spare="o1")
    requests.ask()
    requests.scene.settle(1)
    (said,) = requests.told()
    assert "makes its replacement first" in said["message"]
    assert said["startTime"] <= said["heartbeatTime"] < said["expectedCompletionTime"]
    requests.scene.settle(30)
    (said,) = requests.told()
    assert "it can go" in said["message"]
    assert said["completionTime"] >= said["startTime"]
    (eviction,) = requests.scene.cluster.objects("Eviction", "default")
    assert holds(eviction, "TargetEvicted")


def test_it_goes_on_saying_that_it_is_at_work(requests: EvictionRequests) -> None:
    requests.scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    beats = set[str]()
    for _ in range(280):
        requests.scene.settle(1)
        (said,) = requests.told()
        beats.add(said["heartbeatTime"])
    assert 2 <= len(beats) <= 280 / 20


def test_without_a_replacement_the_next_responder_has_the_pod(requests: EvictionRequests) -> None:
    requests.scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    requests.scene.settle(310)
    (said,) = requests.told()
    assert "completionTime" in said
    assert "no replacement" in said["message"]


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(deployment("one", pod=NAMING, **RECREATE), id="it cannot have a second"),
        pytest.param(
            deployment("one", pod={**NAMING, "annotations": {names.GATE: "false"}}),
            id="it is left out",
        ),
    ],
)
def test_what_the_gate_lets_pass_goes_to_the_next_responder_at_once(
    manifest: Manifest, requests: EvictionRequests
) -> None:
    requests.scene.given(manifest, spare="o1")
    requests.ask()
    requests.scene.settle(3)
    (said,) = requests.told()
    assert "completionTime" in said
    assert "expectedCompletionTime" not in said


def test_a_request_that_is_deleted_is_withdrawn(requests: EvictionRequests) -> None:
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    scene.settle(5)
    (pod,) = (pod for pod in scene.pods("one") if pod.released)
    scene.cluster.delete("EvictionRequest", pod.name, "default")
    scene.cluster.delete("Eviction", f"{pod.name}-1", "default")
    scene.settle(2)
    assert [each.released for each in scene.pods("one") if each.uid == pod.uid] == [False]


def test_a_pod_goes_back_at_once_when_its_request_is_withdrawn(requests: EvictionRequests) -> None:
    requests.scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    requests.scene.settle(5)
    requests.withdraw()
    requests.scene.settle(1)
    assert [pod.released for pod in requests.scene.pods("one") if pod.spec.node_name] == [False]


def test_the_eviction_of_a_pod_that_is_gone_is_done(requests: EvictionRequests) -> None:
    """Another pod has its name."""
    scene = requests.scene
    scene.place(deployment("other", pod=NAMING), on="o1")
    scene.given(deployment("one", pod=NAMING))
    (other,) = scene.pods("other")
    requests.ask()
    requests.stray(other.name, "8c1f0d5e-0000-4000-8000-000000000001")
    scene.settle(2)
    (said,) = (each for each in requests.told() if "with the uid" in each.get("message", ""))
    assert "completionTime" in said
    assert [pod.released for pod in scene.pods("other")] == [False]


@pytest.mark.parametrize(
    ("error", "metric"),
    [(ForbiddenError("no right"), "WritesFailed"), (InvalidError("changed"), "WritesConflicted")],
)
def test_what_could_not_be_told_is_told_again(
    error: ClusterError, metric: str, requests: EvictionRequests
) -> None:
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), spare="o1")
    scene.fail(error, asks(Patch, of=Eviction), times=2)
    requests.ask()
    scene.settle(30)
    (said,) = requests.told()
    assert "completionTime" in said
    assert scene.recorder.total(metric) == 2


def test_a_pod_that_cannot_go_back_at_once_goes_back_a_moment_later(
    requests: EvictionRequests,
) -> None:
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    scene.settle(5)
    (pod,) = (pod for pod in scene.pods("one") if pod.released)
    scene.fail(InvalidError("changed"), asks(Patch, of=Pod), times=2)
    requests.withdraw()
    scene.settle(3)
    assert [each.released for each in scene.pods("one") if each.uid == pod.uid] == [False]


def test_a_pod_that_was_released_for_another_stays_released(requests: EvictionRequests) -> None:
    """A notice came first: whoever withdraws a request does not stop what EC2 does."""
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    scene.interrupt("s1", carried_out=False)
    scene.settle(5)
    requests.ask()
    scene.settle(5)
    requests.withdraw()
    scene.settle(3)
    assert [pod.released for pod in scene.pods("one") if pod.spec.node_name] == [True]


def test_so_does_one_that_a_drainer_asked_for_before(requests: EvictionRequests) -> None:
    scene = requests.scene
    scene.ask_the_gate()
    scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    (pod,) = scene.pods("one")
    Drainer(scene.clock, scene.cluster).drain("s1")
    scene.settle(5)
    requests.ask()
    scene.settle(5)
    requests.withdraw()
    scene.settle(3)
    assert not any("roll-back" in line for line in scene.story(pod.name))


def test_nothing_goes_back_during_a_pause(requests: EvictionRequests) -> None:
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), room={"s1": "1"})
    requests.ask()
    scene.settle(5)
    scene.apply(PAUSED)
    requests.withdraw()
    scene.settle(15)
    assert [pod.released for pod in scene.pods("one") if pod.spec.node_name] == [True]
    scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    scene.settle(15)
    assert [pod.released for pod in scene.pods("one") if pod.spec.node_name] == [False]


def test_nothing_is_said_during_a_pause(requests: EvictionRequests) -> None:
    scene = requests.scene
    scene.given(deployment("one", pod=NAMING), spare="o1")
    scene.apply(PAUSED)
    requests.ask()
    scene.settle(60)
    (said,) = requests.told()
    assert set(said) == {"name", "startTime"}
    assert [pod.released for pod in scene.pods("one")] == [False]
    scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    scene.settle(40)
    assert [pod.spec.node_name for pod in scene.pods("one")] == ["o1"]
    assert scene.lowest("one") == 1
