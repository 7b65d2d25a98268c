"""What is known of pods, by watches and lists that come in any order."""

import pytest

from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import Queue
from evenkeel.model.pod import Pod
from tests.kit import builders


@pytest.fixture
def pods() -> Pods:
    return Pods(Queue())


def seen(revision: int, node: str = "n1", name: str = "web-1") -> Pod:
    return builders.pod(name, node=node, revision=revision)


def names(pods: Pods) -> set[str]:
    return {pod.name for pod in pods}


@pytest.mark.parametrize(("revision", "node"), [(11, "n2"), (10, "n1"), (9, "n1")])
def test_only_a_later_sighting_counts(pods: Pods, revision: int, node: str) -> None:
    pods.update(seen(10))
    pods.update(seen(revision, node="n2"))
    assert [pod.spec.node_name for pod in pods] == [node]
    assert [len(pods.on(each)) for each in ("n1", "n2")] == [node == "n1", node == "n2"]


def test_a_list_takes_away_what_it_selects_and_does_not_show(pods: Pods) -> None:
    for pod in (seen(10), seen(12, name="web-2"), seen(30, name="web-3"), seen(10, name="other")):
        pods.update(pod)
    pods.replace([seen(12, name="web-2")], 20, lambda pod: pod.name.startswith("web"))
    assert names(pods) == {"web-2", "web-3", "other"}


def test_a_list_of_some_takes_away_no_others(pods: Pods) -> None:
    for pod in (seen(10), seen(10, name="web-2", node="n2")):
        pods.update(pod)
    pods.replace([], 20, lambda _: True, among=pods.on("n1"))
    assert names(pods) == {"web-2"}


def test_what_a_list_took_away_is_not_there_again_as_it_was_before(pods: Pods) -> None:
    pods.update(seen(10))
    pods.replace([], 20, lambda _: True)
    pods.update(seen(15))
    assert names(pods) == set()
    pods.update(seen(21))
    assert names(pods) == {"web-1"}


@pytest.mark.parametrize(("at", "is_there"), [(9, True), (10, True), (11, False), (None, False)])
def test_a_pod_is_gone_if_that_is_later_than_it_was_seen(
    pods: Pods, at: int | None, *, is_there: bool
) -> None:
    pods.update(seen(10))
    pods.delete("web-1-uid", at)
    assert (pods.get("web-1-uid") is not None) is is_there


def test_a_marked_node_goes_once() -> None:
    nodes = MarkedNodes()
    assert not nodes.delete("n1")
    nodes.update(builders.node("n1"))
    assert nodes.delete("n1")
    assert not nodes.delete("n1")
