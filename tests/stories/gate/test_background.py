"""Evictions in the background: the descheduler asks once, and Evenkeel finishes what it began."""

from evenkeel.model import names
from evenkeel.model.pod import Pod
from tests.kit.manifests import Manifest, budget, deployment
from tests.stories.gate.gated import Gated


def in_background(app: str, replicas: int = 1) -> Manifest:
    """A Deployment whose owner asks for evictions in the background."""
    return deployment(app, replicas, pod={"annotations": {names.REQUEST_EVICT_ONLY: ""}})


def in_progress(gated: Gated) -> list[Pod]:
    """The pods that say that their eviction is in progress."""
    found = gated.pods("web")
    return [pod for pod in found if names.EVICTION_IN_PROGRESS in pod.metadata.annotations]


def asked_once(gated: Gated) -> None:
    """Somebody asks once for the eviction of each pod of s1, and each is refused."""
    drainer = gated.drainer("descheduler")
    for pod in gated.pods("web", "s1"):
        drainer.evict(pod.name, "default", again=False)
    gated.settle(1)
    messages = [text for asking in drainer.pods.values() for _, text in asking.refusals]
    assert len(messages) == len(drainer.pods)
    assert all("Eviction triggered evacuation" in message for message in messages)


def test_pods_go_when_they_are_asked_for_once(gated: Gated) -> None:
    gated.given(in_background("web", 3), budget("web", minAvailable=2), spare="o1")
    old = {pod.name for pod in gated.pods("web")}
    asked_once(gated)
    assert {pod.name for pod in in_progress(gated)} == old
    gated.settle(70)
    assert gated.lowest("web") == 3
    assert not old & {pod.name for pod in gated.pods("web") if pod.active}
    assert in_progress(gated) == []


def test_a_pod_that_cannot_be_replaced_does_not_say_for_ever_that_it_goes(gated: Gated) -> None:
    gated.given(in_background("web"), room={"s1": "1"})
    gated.cluster.server.patch("Node", ("", "s1"), {"spec": {"unschedulable": True}})
    (old,) = gated.pods("web")
    asked_once(gated)
    assert [pod.name for pod in in_progress(gated)] == [old.name]
    gated.settle(400)
    assert [(pod.name, pod.released) for pod in gated.pods("web") if pod.active] == [
        (old.name, False)
    ]
    assert in_progress(gated) == []


def test_a_pod_whose_owner_does_not_ask_for_it_bears_nothing_of_the_protocol(gated: Gated) -> None:
    gated.given(deployment("web"), spare="o1")
    (old,) = gated.pods("web")
    drainer = gated.drainer("descheduler")
    drainer.evict(old.name, "default", again=False)
    gated.settle(1)
    ((_, message),) = drainer.pods[old.name].refusals
    assert "evacuation" not in message
    assert in_progress(gated) == []
