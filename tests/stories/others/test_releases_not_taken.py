"""A policy refuses releases, or undoes them: pods go one at a time, and stay on a hint."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from evenkeel.model.request import Delete, Evict, Patch
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import budget, deployment
from tests.kit.others import UNDONE, WORDS, Outsider, adopter, refuse, undo
from tests.kit.scene import Scene

MOST = 12
"""No object is written in vain more often in any minute."""

type Obstacle = Callable[[SimulatedCluster], Callable[[], None]]

REFUSED = [partial(refuse, code=code) for code in (422, 403, 400, 413)]


def put_back(parts: Sequence[str], cluster: SimulatedCluster) -> Callable[[], None]:
    """A policy undoes these parts of each release."""
    return undo(cluster, *parts)


NOT_TAKEN = [
    *(pytest.param(each, id=f"refused with {each.keywords['code']}") for each in REFUSED),
    *(
        pytest.param(partial(put_back, parts), id=f"{' and '.join(parts)} are put back")
        for parts in UNDONE
    ),
]


@pytest.fixture(params=NOT_TAKEN)
def obstacle(request: pytest.FixtureRequest) -> Obstacle:
    """One that keeps every release from being taken."""
    found: Obstacle = request.param
    return found


def test_pods_go_one_at_a_time_when_no_release_is_taken(scene: Scene, obstacle: Obstacle) -> None:
    old = scene.given(deployment("web", 5), budget("web", minAvailable=4), spare="o1")
    obstacle(scene.cluster)

    scene.interrupt("s1").run(until=200)

    assert scene.lowest("web") == 4
    assert {pod.spec.node_name for pod in scene.pods("web")} == {"o1"}
    assert all(scene.gone_at(pod) < 85 for pod in old)


def test_the_first_goes_when_its_second_release_was_not_taken(
    scene: Scene, obstacle: Obstacle
) -> None:
    old = scene.given(deployment("web", 3), spare="o1")
    obstacle(scene.cluster)

    scene.interrupt("s1").run(until=200)

    assert min(scene.gone_at(pod) for pod in old) < 2
    assert scene.lowest("web") == 2


def test_it_is_said_once_of_an_object_with_the_refuser_s_words(scene: Scene) -> None:
    scene.given(deployment("web", 3), spare="o1")
    refuse(scene.cluster, 422)

    scene.interrupt("s1").run(until=200)

    told = [decision for _, decision in scene.told("WriteRefused")]
    assert told
    assert len({decision.subject.uid for decision in told}) == len(told)
    assert all(WORDS in decision.message for decision in told)
    assert any(WORDS in decision.message for _, decision in scene.told("ReleaseRefused"))
    assert scene.recorder.total("WritesRefused") > 0


def test_what_undoes_a_release_is_said_too(scene: Scene) -> None:
    scene.given(deployment("web", 3), spare="o1")
    undo(scene.cluster, "labels")

    scene.interrupt("s1").run(until=200)

    told = [decision for _, decision in scene.told("WriteRefused")]
    assert told
    assert len({decision.subject.uid for decision in told}) == len(told)
    assert scene.told("ReleaseRefused")


@pytest.mark.parametrize("parts", UNDONE, ids=" and ".join)
def test_no_pod_is_left_between_its_owners_when_a_part_is_put_back(
    scene: Scene, parts: Sequence[str]
) -> None:
    """The ReplicaSet would not count it, and nobody would ever take it away.

    Where a policy puts the owner back and not the label, the ReplicaSet itself lets go of the pod.
    """
    lets_go = "ownerReferences" in parts and "labels" not in parts
    old = scene.given(deployment("web", 3), *([] if lets_go else [adopter("web")]), spare="o1")
    before = {pod.name: pod.metadata.annotations for pod in scene.pods("web")}
    undo(scene.cluster, *parts)
    outside = Outsider(scene.cluster, "web")

    scene.recommend("s1").run(until=30)

    owners = {owner.kind for pod in scene.pods("web") for owner in pod.metadata.owner_references}
    assert owners == {"ReplicaSet"}
    assert [pod.name for pod in scene.pods("web")] == old
    assert {pod.name: pod.metadata.annotations for pod in scene.pods("web")} == before
    assert outside.lowest == 3
    assert lets_go or not outside.orphans


def test_no_pod_is_asked_more_than_twice(scene: Scene, obstacle: Obstacle) -> None:
    scene.given(deployment("web", 5), spare="o1")
    obstacle(scene.cluster)

    scene.interrupt("s1").run(until=200)

    vain = scene.in_vain(Patch)
    assert vain
    assert max(vain.values()) <= 2


def test_a_hint_takes_no_pod_when_no_release_is_taken(scene: Scene, obstacle: Obstacle) -> None:
    old = scene.given(deployment("web", 3), spare="o1")
    obstacle(scene.cluster)

    scene.recommend("s1").run(until=1000)

    assert scene.lowest("web") == 3
    assert [pod.name for pod in scene.pods("web")] == old
    assert not [sent for sent in scene.writes if isinstance(sent.write, Evict | Delete)]


def test_a_hint_leaves_them_alone_for_five_minutes(scene: Scene, obstacle: Obstacle) -> None:
    """Two releases of a pod, and if something of them is left, two ways back."""
    old = scene.given(deployment("web", 3), spare="o1")
    obstacle(scene.cluster)

    scene.recommend("s1").run(until=290)

    for pod in old:
        assert len([sent for sent in scene.writes if sent.name == pod]) <= 4


def test_a_hint_tries_again_after_five_minutes(scene: Scene) -> None:
    scene.given(deployment("one"), spare="o1")
    end = refuse(scene.cluster, 422)
    scene.later(200, end)

    scene.recommend("s1").run(until=290)
    assert scene.pods("one", "s1")
    scene.run(until=700)

    assert scene.pod("one", "o1")
    assert scene.lowest("one") == 1


def test_a_warning_tries_again_when_the_policy_is_gone_for_five_minutes(scene: Scene) -> None:
    """A scheduled change leaves hours; the policy refuses for a moment at its beginning only."""
    scene.given(deployment("web", 3), on="s1 s2", room={"s": "0.3"}, spare="o1")
    end = refuse(scene.cluster, 422)
    scene.interrupt("s1").run(until=200)
    end()
    scene.run(until=520)
    first = len(scene.told("NodeDoomed"))

    scene.interrupt("s2").run(until=700)

    assert len(scene.told("NodeDoomed")) > first
    assert scene.lowest("web") >= 2


def test_a_release_that_is_refused_once_is_tried_again_at_once(scene: Scene) -> None:
    (old,) = scene.given(deployment("one"), spare="o1")
    end = refuse(scene.cluster, 422)
    scene.later(0.15, end)

    scene.interrupt("s1").run(until=60)

    assert scene.story(old).order()[-1] == "evict ReplacementAvailable"
    assert scene.lowest("one") == 1


def test_one_deployment_s_policy_is_not_another_s_business(scene: Scene) -> None:
    scene.given(deployment("web", 3), deployment("other", 3), spare="o1")
    refuse(
        scene.cluster,
        422,
        lambda old, new: (
            "evenkeel.dev/released-from" in new["metadata"].get("labels", {})
            and new["metadata"]["labels"]["app"] == "web"
            and old is not new
        ),
    )

    scene.interrupt("s1").run(until=200)

    assert scene.lowest("other") == 3
    assert scene.lowest("web") == 2
