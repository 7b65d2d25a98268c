"""Groups of LeaderWorkerSets when nodes of theirs die: one is recreated once, as late as can be.

What their controller does is played, see ``lws``.
"""

from collections.abc import Mapping

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError
from evenkeel.model.gang import LeaderWorkerSet
from evenkeel.model.request import Delete, Evict, List, Request
from tests.kit.custom_kinds import simulate
from tests.kit.lws import keeping, leader_worker_set
from tests.kit.scene import Scene

GRACE = 10
LAST = 109
"""Seconds from the warning to the last moment of a pod that takes so long to stop."""

LEADERS = ("llm-0", "llm-1")
WORKERS = ("llm-0-1", "llm-1-1")


def begin(scene: Scene, size: int = 2, policy: str = "RecreateGroupOnPodRestart") -> None:
    """Two groups, each pod of which has a spot node of its own; o1 has room."""
    made = leader_worker_set("llm", 2, size, policy=policy, grace=GRACE, cpu="1")
    scene.place(made, on="s1 s2 s3 s4", room={"s": "1"})
    (owner,) = scene.cluster.objects("LeaderWorkerSet")
    simulate(scene.cluster, keeping(owner))
    scene.settle(30)
    scene.given(on="", spare="o1")
    assert [pod.name for pod in scene.pods("llm")] == sorted((*LEADERS, *WORKERS)[: 2 * size])


def uids(scene: Scene) -> Mapping[str, str]:
    """Of the pods that are Ready and stay, by their names."""
    return {pod.name: pod.uid for pod in scene.pods("llm") if pod.ready and not pod.leaving}


def node_of(scene: Scene, name: str) -> str:
    (found,) = (pod.spec.node_name for pod in scene.pods("llm") if pod.name == name)
    return found


@pytest.mark.parametrize("name", ["llm-0", "llm-0-1"], ids=["a leader", "a worker"])
def test_a_group_is_recreated_once_and_the_other_group_is_left_alone(
    scene: Scene, name: str
) -> None:
    begin(scene)
    before = uids(scene)
    scene.interrupt(node_of(scene, name)).run(until=LAST - 1)
    assert uids(scene) == before
    seen = {*before.items()}
    for second in range(LAST, LAST + 50):
        scene.run(until=second)
        seen |= {*uids(scene).items()}

    assert scene.story(name).order() == ["wait Gang", "evict GangBroken"]
    evicted = [sent.name for sent in scene.written() if isinstance(sent.write, Evict | Delete)]
    assert evicted == [name], "the others are left to the set's controller"
    after = uids(scene)
    assert after.keys() == before.keys()
    changed = {each for each in after if after[each] != before[each]}
    assert changed == {"llm-0", "llm-0-1"}
    assert len(seen) == 4 + 2, "each was recreated once"


def test_members_on_dying_nodes_go_together_at_the_earliest_last_moment(scene: Scene) -> None:
    begin(scene)
    first, then = node_of(scene, "llm-0"), node_of(scene, "llm-0-1")
    scene.interrupt(first).run(until=20)
    scene.interrupt(then).run(until=160)
    times = [scene.gone_at(name) for name in ("llm-0", "llm-0-1")]
    assert max(times) - min(times) < 0.1
    assert max(times) == pytest.approx(LAST, abs=0.5)


def test_of_two_groups_each_goes_by_the_deadline_of_its_own_members(scene: Scene) -> None:
    begin(scene)
    scene.interrupt(node_of(scene, "llm-0")).run(until=20)
    scene.interrupt(node_of(scene, "llm-1-1")).run(until=160)
    times = [scene.gone_at(name) for name in ("llm-0", "llm-1-1")]
    assert times == pytest.approx([LAST, LAST + 20], abs=0.5)


def test_a_hint_leaves_a_group_where_it_is(scene: Scene) -> None:
    begin(scene)
    before = uids(scene)
    scene.recommend("s1", "s2", "s3", "s4").run(until=1000)
    assert uids(scene) == before


def test_where_the_others_are_not_recreated_a_pod_goes_as_a_stateful_sets(scene: Scene) -> None:
    begin(scene, policy="None")
    before = uids(scene)
    scene.interrupt(node_of(scene, "llm-0-1")).run(until=30)
    after = uids(scene)
    assert {each for each in before if after[each] != before[each]} == {"llm-0-1"}


def test_groups_of_one_go_one_after_the_other(scene: Scene) -> None:
    begin(scene, size=1)
    before = uids(scene)
    scene.interrupt(*(node_of(scene, each) for each in LEADERS))
    fewest = 2
    for tenth in range(400):
        scene.run(until=tenth / 10)
        fewest = min(fewest, len(uids(scene)))
    assert fewest == 1
    assert not {*before.values()} & {*uids(scene).values()}


def is_of_set(request: Request) -> bool:
    """Whether it asks for LeaderWorkerSets."""
    return isinstance(request, List) and request.selection.kind is LeaderWorkerSet


@pytest.mark.parametrize("error", [ForbiddenError("no right"), NotFoundError("another version")])
def test_one_that_cannot_be_read_counts_as_recreated_as_a_whole(
    scene: Scene, error: ClusterError
) -> None:
    begin(scene, policy="None")
    scene.fail(error, is_of_set)
    scene.interrupt(node_of(scene, "llm-0-1")).run(until=LAST + 1)
    assert scene.gone_at("llm-0-1") == pytest.approx(LAST, abs=0.5)
