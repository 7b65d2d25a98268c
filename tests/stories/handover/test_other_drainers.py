"""Others who evict pods of the same nodes: Karpenter, a termination handler, a node group."""

from collections.abc import Callable
from datetime import timedelta

from evenkeel.errors import ClusterError
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict
from tests.kit.manifests import budget, deployment, stateful_set
from tests.kit.scene import Scene


def drain(scene: Scene, node: str, *, every: float, spares: Callable[[Pod], bool]) -> None:
    """Another drainer evicts all pods of a node through the API, over and over."""

    def go_on() -> None:
        while True:
            for app in ("web", "one", "db"):
                for pod in scene.pods(app, node):
                    if pod.active and not spares(pod):
                        evict(pod)
            scene.clock.sleep(timedelta(seconds=every))

    def evict(pod: Pod) -> None:
        try:
            scene.cluster.execute(Evict(pod.name, pod.namespace, pod.uid))
        except ClusterError:
            return

    scene.clock.start(go_on)


def nobody(_pod: Pod) -> bool:
    """Spare no pod."""
    return False


def released(pod: Pod) -> bool:
    """Spare what Karpenter may not disrupt: released pods say so."""
    return pod.released


def test_a_second_drainer_that_minds_budgets_costs_no_more_than_they_allow(scene: Scene) -> None:
    scene.given(
        deployment("web", 6),
        budget("web", minAvailable=5),
        deployment("one"),
        budget("one", minAvailable=1),
        spare="o1",
    )

    scene.interrupt("s1")
    drain(scene, "s1", every=0.3, spares=nobody)
    scene.run(until=60)

    assert scene.lowest("web") >= 5
    assert scene.lowest("one") == 1
    assert len(scene.pods("web", "o1")) == 6
    assert not any(pod.released for pod in scene.pods("web"))


def test_pods_that_another_evicts_are_not_missed(scene: Scene) -> None:
    """Without budgets it empties the node at once; nothing is left over, and all comes back."""
    scene.given(deployment("web", 6), deployment("one"), stateful_set("db", 2), spare="o1")

    scene.interrupt("s1")
    scene.later(1.5, lambda: drain(scene, "s1", every=1, spares=nobody))
    scene.run(until=90)

    assert [pod.name for pod in scene.pods("web", "s1")] == []
    assert len(scene.pods("web", "o1")) == 6
    assert scene.pod("one", "o1")
    assert len(scene.pods("db", "o1")) == 2


def test_one_that_waits_for_released_pods_costs_nothing(scene: Scene) -> None:
    """Karpenter's drain begins a moment after ours, and waits for do-not-disrupt."""
    scene.given(deployment("web", 6), deployment("one"), spare="o1")

    scene.interrupt("s1")
    scene.later(1.5, lambda: drain(scene, "s1", every=0.2, spares=released))
    scene.run(until=60)

    assert scene.lowest("web") == 6
    assert scene.lowest("one") == 1


def test_a_replacement_that_another_evicts_is_waited_for_again(scene: Scene) -> None:
    (old,) = scene.given(deployment("one"), spare="o1")

    def evict_the_replacement() -> None:
        replacement = scene.pod("one", "o1")
        scene.cluster.delete("Pod", replacement, "default")

    scene.later(2, evict_the_replacement)
    scene.interrupt("s1").run(until=60)

    assert scene.lowest("one") == 1
    assert scene.gone_at(old) == 4.0


def test_an_uncordon_by_another_changes_nothing_for_the_pods(scene: Scene) -> None:
    """The taint still keeps new pods away."""
    scene.given(deployment("web", 3), spare="o1")
    uncordoned = {"spec": {"unschedulable": None}}
    scene.later(1.5, lambda: scene.cluster.server.patch("Node", ("", "s1"), uncordoned))

    scene.interrupt("s1").run(until=60)

    assert scene.lowest("web") == 3
    assert len(scene.pods("web", "o1")) == 3
