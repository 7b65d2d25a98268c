"""Watches that break, expire, lie about deletions, or show pods twice."""

from typing import Any

import pytest

from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Request, Selection
from evenkeel.ports import Reply
from sandbox.simulator.session import SimulatedSession
from tests.fixtures.scene import Scene
from tests.unit.drain.manifests import Manifest, bare_pod, budget, deployment

SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "10s"}}


def begin(scene: Scene) -> list[str]:
    """Four slow pods on s1, which is interrupted; o1 has room. Their names."""
    scene.add_node("s1")
    scene.apply(deployment("web", 4, pod=SLOW), budget("web", minAvailable=4))
    scene.settle(20)
    scene.add_node("o1", spot=False)
    scene.begin()
    scene.interrupt("s1")
    return [pod.name for pod in scene.pods("web")]


@pytest.mark.parametrize("seconds", [1.05, 1.5, 5, 12.9, 13.05])
def test_watches_that_are_cut_go_on_where_they_were(scene: Scene, seconds: float) -> None:
    old = begin(scene)
    scene.later(seconds, scene.cluster.disconnect_watches)
    scene.run(until=40)

    assert scene.lowest("web") == 4
    assert max(scene.gone_at(pod) for pod in old) < 17
    assert scene.recorder.total("PodsReleased") == 4


@pytest.mark.parametrize("seconds", [1.05, 1.5, 5, 12.9, 13.05])
def test_watches_that_expired_list_again(scene: Scene, seconds: float) -> None:
    old = begin(scene)
    scene.later(seconds, scene.cluster.expire_watches)
    scene.run(until=40)

    assert scene.lowest("web") == 4
    assert max(scene.gone_at(pod) for pod in old) < 17
    assert scene.recorder.total("PodsReleased") == 4


def test_watches_that_break_all_the_time_only_cost_time(scene: Scene) -> None:
    old = begin(scene)
    for second in range(1, 60):
        scene.later(second + 0.3, scene.cluster.disconnect_watches)
        scene.later(second + 0.7, scene.cluster.expire_watches)
    scene.run(until=60)

    assert scene.lowest("web") == 4
    assert max(scene.gone_at(pod) for pod in old) < 20


def test_a_node_marked_while_watches_were_gone_is_found_by_listing_again(scene: Scene) -> None:
    begin(scene)
    scene.add_node("s2")
    scene.apply(deployment("late", pod={"nodeSelector": {"kubernetes.io/hostname": "s2"}}))
    scene.run(until=8)
    late = scene.pod("late")
    scene.cluster.expire_watches()
    scene.interrupt("s2")
    scene.run(until=12)

    assert scene.story(late)[0].split(" ", 1)[1] == "release NodeDoomed"
    assert scene.lowest("web") == 4


def test_a_released_pod_that_leaves_one_selection_for_the_other_is_counted_once(
    scene: Scene,
) -> None:
    """Its release is a deletion to one watch and a new pod to the other."""
    old = begin(scene)
    scene.run(until=12)

    told = {d.message for _, d in scene.told("ReplacementPending")}
    assert told == {"4 available, 4 wanted"}
    assert all(scene.written(pod) for pod in old)


def test_pods_of_other_namespaces_with_the_same_hash_are_not_touched(scene: Scene) -> None:
    """The same template in two namespaces gives the same hash."""
    scene.add_node("s1", room="0.3")
    ours = deployment("web", 3)
    scene.apply(ours)
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.apply({**ours, "metadata": {**ours["metadata"], "namespace": "elsewhere"}})
    scene.settle()
    scene.begin()
    theirs = [pod.name for pod in scene.pods("web", "o1")]
    assert len({pod.metadata.labels[names.TEMPLATE_HASH] for pod in scene.pods("web")}) == 1

    scene.interrupt("s1")
    scene.run(until=60)

    assert all(scene.story(pod) == [] for pod in theirs)
    assert {pod.name for pod in scene.pods("web", "o1")} > set(theirs)
    assert len(scene.pods("web", "o1")) == 6


def test_while_no_watch_shows_anything_nothing_is_released_and_the_last_moment_kept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without all pods in view nobody knows what a release would cost."""
    scene.add_node("s1")
    scene.apply(deployment("web"), bare_pod("alone"))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.begin()
    pod = scene.pod("web")
    open_session = scene.cluster.session

    def open_blind_session() -> SimulatedSession:
        session = open_session()
        monkeypatch.setattr(session, "watch", lambda _selection: None)
        return session

    monkeypatch.setattr(scene.cluster, "session", open_blind_session)
    scene.interrupt("s1")
    scene.run(until=110)

    assert scene.story(pod) == ["88.9 evict LastMoment"]
    assert scene.gone_at("alone") == 88.9


def test_a_mark_found_in_the_middle_whose_pods_cannot_be_read_ends_the_invocation(
    scene: Scene,
) -> None:
    """The next one reads them."""
    begin(scene)
    scene.add_node("s2")
    scene.apply(bare_pod("late", nodeSelector={"kubernetes.io/hostname": "s2"}, grace=60))
    scene.run(until=6)

    def reads_s2(request: Request) -> bool:
        return isinstance(request, List) and request.selection.fields == "spec.nodeName=s2"

    scene.fail(UnavailableError("reset"), reads_s2, times=1)
    scene.interrupt("s2")
    scene.run(until=100)

    assert "ClusterUnavailable" in scene.outcomes()
    assert scene.story("late")[0].split(" ", 1)[1] == "wait BarePod"
    assert scene.gone_at("late") == 79.9
    assert scene.lowest("web") == 4


def test_a_watch_that_is_refused_is_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody forgot a right: without the pods in view nothing is handed over."""
    scene.add_node("s1")
    scene.apply(deployment("web"))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.begin()
    watch = SimulatedSession.watch

    def refuse_pods(session: SimulatedSession, selection: Selection[Any]) -> None:
        if selection.kind is not Pod:
            watch(session, selection)
            return
        error = ForbiddenError("pods is forbidden: cannot watch resource")
        session._deliver(Reply(List(selection), error=error))

    monkeypatch.setattr(SimulatedSession, "watch", refuse_pods)
    scene.interrupt("s1")
    scene.run(until=20)

    assert any("cannot watch resource" in text for text, _ in scene.recorder.notes)
    assert len(scene.recorder.values["WatchesRefused"]) >= 2
