"""Somebody else cordons a node that Evenkeel holds, too: it stays as they want it."""

from functools import partial

import pytest

from evenkeel.model import names
from tests.kit.manifests import budget, deployment, stateful_set
from tests.kit.others import cordon
from tests.kit.scene import Scene


def is_cordoned(scene: Scene, node: str) -> bool:
    return scene.node(node).spec.unschedulable


def test_an_operator_s_cordon_outlives_the_hint(scene: Scene) -> None:
    """What kubectl does is to set the field, if it is not set."""
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    scene.later(10, partial(cordon, scene.cluster, "s1"))

    scene.recommend("s1").run(until=1000)

    assert names.DOOMED not in scene.node("s1").metadata.labels
    assert is_cordoned(scene, "s1")


def test_a_cordon_that_is_lifted_and_set_again_outlives_the_hint(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    for at, cordoned in ((10, True), (20, False), (30, True)):
        scene.later(at, partial(cordon, scene.cluster, "s1", cordoned=cordoned))

    scene.recommend("s1").run(until=1000)

    assert names.DOOMED not in scene.node("s1").metadata.labels
    assert is_cordoned(scene, "s1")


def test_a_cordon_that_was_there_before_outlives_the_hint(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    cordon(scene.cluster, "s1")

    scene.recommend("s1").run(until=1000)

    assert is_cordoned(scene, "s1")


def test_a_node_that_nobody_else_cordons_takes_pods_again_after_the_hint(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")

    scene.recommend("s1").run(until=1000)

    assert not is_cordoned(scene, "s1")
    assert not [t for t in scene.node("s1").spec.taints if t.key == names.DOOMED]


@pytest.mark.parametrize("again", [False, True])
def test_an_operator_s_cordon_outlives_a_warning_that_comes_to_nothing(
    scene: Scene, *, again: bool
) -> None:
    """On a warning the node is cordoned by Evenkeel, so that it has to be lifted to be set."""
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    scene.later(10, partial(cordon, scene.cluster, "s1", cordoned=False))
    scene.later(20, partial(cordon, scene.cluster, "s1"))
    if again:
        scene.later(30, partial(cordon, scene.cluster, "s1", cordoned=False))
        scene.later(40, partial(cordon, scene.cluster, "s1"))

    scene.interrupt("s1", carried_out=False).run(until=400)

    assert names.DOOMED not in scene.node("s1").metadata.labels
    assert is_cordoned(scene, "s1")


def test_a_pod_that_the_cordon_alone_keeps_off_is_planned_for_anew_when_that_is_lifted(
    scene: Scene,
) -> None:
    """It tolerates Evenkeel's taint. What is cordoned is not what its own next pod comes to."""
    tolerant = {"tolerations": [{"key": names.DOOMED, "operator": "Exists"}]}
    scene.given(
        deployment("web", 3, pod=tolerant, strategy={"type": "Recreate"}),
        stateful_set("db", 3, pod=tolerant),
        budget("db", maxUnavailable=0),
        spare="o1",
    )
    scene.later(10, partial(cordon, scene.cluster, "s1", cordoned=False))

    scene.interrupt("s1").run(until=60)

    assert scene.story("db-2").order()[-1] == "wait ReturnsToNode"


def test_nobody_fights_over_a_cordon_that_is_lifted_during_a_hint(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    scene.recommend("s1").run(until=10)
    cordon(scene.cluster, "s1")
    cordon(scene.cluster, "s1", cordoned=False)

    scene.run(until=800)

    assert len(scene.written("s1", after=10)) <= 1
    assert not is_cordoned(scene, "s1")
