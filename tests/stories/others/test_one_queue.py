"""Two clusters whose functions read the same queue, which is a mistake: what comes of it.

The simulated queue hands all messages to who polled first: here to the one whose they are not.
"""

from collections.abc import Iterator

import pytest

from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.manifests import deployment
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene

NODES = ("s1", "s2")


@pytest.fixture
def first() -> Iterator[Scene]:
    """A cluster whose functions take all messages."""
    scene = Scene()
    scene.given(deployment("web", 4), on=" ".join(NODES), spare="o1")
    yield scene
    scene.close()


@pytest.fixture
def other(first: Scene) -> Scene:
    """Another one that reads the same queues. Its nodes have the same names."""
    return Scene(cluster_name="other", beside=first)


def begin(scene: Scene) -> None:
    scene.given(deployment("web", 4), on=" ".join(NODES), spare="o1")


def is_untouched(scene: Scene) -> bool:
    return scene.written() == [] and not any(is_marked(scene.node(node)) for node in NODES)


def test_a_notice_that_the_wrong_one_takes_is_let_go_and_touches_no_node_of_either(
    first: Scene, other: Scene
) -> None:
    """It cannot know better: most notices of an account are other clusters'."""
    begin(other)
    other.interrupt(*NODES, carried_out=False)
    other.run(until=60)

    told = first.told("OtherCluster")
    assert [decision.message for _, decision in told] == [
        f"instance {other.node(node).instance_id} is another cluster's" for node in NODES
    ]
    assert first.recorder.total("NoticesForeign") == len(NODES)
    assert is_untouched(first)
    assert is_untouched(other)


def test_a_wake_up_that_the_wrong_one_takes_is_made_up_for_by_the_schedule(
    first: Scene, other: Scene
) -> None:
    other.notices = SimulatedQueue(other.clock, "notices of its own")
    begin(other)
    other.interrupt(*NODES).run(until=119)

    assert not any(other.pods("web", node) for node in NODES)
    assert other.lowest("web") == 4
    assert first.outcomes()[-1] == "Quiet"
    assert is_untouched(first)
