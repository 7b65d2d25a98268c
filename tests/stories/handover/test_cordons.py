"""Whose a node's cordon is: Evenkeel's own is lifted with its mark, and anybody else's stays."""

from collections.abc import Callable
from functools import partial

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.node import Node
from tests.kit.manifests import deployment
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene

type Step = Callable[[Scene], object]


def by_hand(scene: Scene, *, on: bool) -> None:
    """A person cordons the node, or uncordons it."""
    scene.cluster.server.patch("Node", ("", "s1"), {"spec": {"unschedulable": on or None}})


cordon, uncordon = partial(by_hand, on=True), partial(by_hand, on=False)


def hint(scene: Scene) -> None:
    scene.recommend("s1")


def warning(scene: Scene) -> None:
    scene.interrupt("s1", carried_out=False)


def until(*steps: Step) -> Step:
    """These steps, ten seconds apart."""

    def take(scene: Scene) -> None:
        for step in steps:
            step(scene)
            scene.run(until=scene.seconds + 10)

    return take


def after_all(scene: Scene, steps: Step) -> Node:
    """The node when nothing is left of its marks."""
    scene.given(deployment("web"), spare="o1")
    steps(scene)
    scene.run(until=scene.seconds + 20 * 60)
    node = scene.node("s1")
    assert not is_marked(node)
    assert not node.has_taint(names.DOOMED)
    assert scene.pods("web", "s1") == []
    return node


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(until(hint, cordon), id="under a hint"),
        pytest.param(until(cordon, hint), id="before a hint"),
        pytest.param(until(cordon, warning), id="before a warning"),
        pytest.param(until(hint, cordon, warning), id="under a hint that a warning supersedes"),
        pytest.param(until(warning, uncordon, cordon), id="again under a warning"),
        pytest.param(until(hint, warning, uncordon, cordon, hint), id="again between notices"),
    ],
)
def test_a_cordon_stays_that_a_person_set(scene: Scene, steps: Step) -> None:
    assert after_all(scene, steps).spec.unschedulable


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(until(hint), id="a hint"),
        pytest.param(until(warning), id="a warning"),
        pytest.param(until(hint, warning), id="a warning after a hint"),
        pytest.param(until(warning, cordon), id="a person finds it cordoned"),
        pytest.param(until(cordon, hint, uncordon, warning), id="a person took his back before"),
    ],
)
def test_nothing_is_left_of_a_notice_that_came_to_nothing(scene: Scene, steps: Step) -> None:
    assert not after_all(scene, steps).spec.unschedulable


def test_a_hint_taints_its_node_and_a_warning_cordons_it_too(scene: Scene) -> None:
    scene.given(deployment("web"), spare="o1")
    hint(scene)
    scene.run(until=10)
    assert scene.node("s1").has_taint(names.DOOMED)
    assert not scene.node("s1").spec.unschedulable
    warning(scene)
    scene.run(until=12)
    assert scene.node("s1").spec.unschedulable


@pytest.mark.parametrize("person", [False, True], ids=["its own", "a person's"])
def test_a_hint_of_the_version_before_cordoned_its_node(scene: Scene, *, person: bool) -> None:
    """That version says so in the annotation, and writes under the same field manager's name."""
    scene.given(deployment("web"), spare="o1")
    hint(scene)
    scene.run(until=10)
    manager = "kubectl" if person else names.FIELD_MANAGER
    spec = {"spec": {"unschedulable": True}}
    scene.cluster.server.patch("Node", ("", "s1"), spec, manager=manager)
    assert mark.has_our_cordon(scene.node("s1"), scene.notice("s1")) is not person
    scene.run(until=16 * 60)
    assert not is_marked(scene.node("s1"))
    assert scene.node("s1").spec.unschedulable is person
