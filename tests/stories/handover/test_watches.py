"""Watches that break, expire, lie about deletions, or show pods twice."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.errors import DisruptionRefusedError, ForbiddenError, UnavailableError
from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Evict, Get, List, Request, Selection
from evenkeel.ports import Arrival, Reply
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.session import SimulatedSession
from tests.kit.asking import asks
from tests.kit.manifests import Manifest, bare_pod, budget, deployment, on_node, stateful_set
from tests.kit.scene import Scene
from tests.stories.handover.hands import blind

SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "10s"}}


def begin(scene: Scene) -> list[str]:
    """Four slow pods on s1, which is interrupted; o1 has room. Their names."""
    old = scene.given(deployment("web", 4, pod=SLOW), budget("web", minAvailable=4), spare="o1")
    scene.interrupt("s1")
    return old


@pytest.mark.parametrize("seconds", [1.05, 1.5, 5, 12.9, 13.05])
@pytest.mark.parametrize(
    "lose",
    [SimulatedCluster.disconnect_watches, SimulatedCluster.expire_watches],
    ids=["cut, they go on where they were", "expired, they list again"],
)
def test_watches_that_are_lost_in_the_middle_cost_little_time(
    scene: Scene, lose: Callable[[SimulatedCluster], None], seconds: float
) -> None:
    old = begin(scene)
    scene.later(seconds, lambda: lose(scene.cluster))
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
    scene.apply(deployment("late", pod=on_node("s2")))
    scene.run(until=8)
    late = scene.pod("late")
    scene.cluster.expire_watches()
    scene.interrupt("s2").run(until=12)

    assert scene.story(late).order()[0] == "release NodeDoomed"
    assert scene.lowest("web") == 4


def test_a_released_pod_that_changes_from_watch_to_watch_is_counted_once(scene: Scene) -> None:
    """Its release is a deletion to one watch and a new pod to the other."""
    old = begin(scene)
    scene.run(until=12)

    told = {d.message for _, d in scene.told("ReplacementPending")}
    assert told == {"4 available, 4 wanted"}
    assert all(scene.written(pod) for pod in old)


def test_pods_of_other_namespaces_with_the_same_hash_are_not_touched(scene: Scene) -> None:
    """The same template in two namespaces gives the same hash."""
    scene.place(deployment("web", 3), room={"s1": "0.3"})
    scene.given(deployment("web", 3, namespace="elsewhere"), on="o1")
    theirs = [pod.name for pod in scene.pods("web", "o1")]
    assert len({pod.metadata.labels[names.TEMPLATE_HASH] for pod in scene.pods("web")}) == 1

    scene.interrupt("s1").run(until=60)

    assert all(scene.story(pod) == [] for pod in theirs)
    assert {pod.name for pod in scene.pods("web", "o1")} > set(theirs)
    assert len(scene.pods("web", "o1")) == 6


def test_while_no_watch_shows_anything_workloads_are_read(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.given(deployment("web"), bare_pod("alone"), spare="o1")
    pod = scene.pod("web")
    blind(scene, monkeypatch)
    scene.interrupt("s1").run(until=110)

    assert scene.story(pod)[0] == "2.0 release NodeDoomed"
    assert scene.gone_at(pod) < 8
    assert scene.lowest("web") == 1
    assert scene.gone_at("alone") == pytest.approx(88.9, abs=0.2)


def test_a_mark_found_in_the_middle_whose_pods_cannot_be_read_is_read_again(
    scene: Scene,
) -> None:
    begin(scene)
    scene.add_node("s2")
    scene.apply(bare_pod("late", **on_node("s2"), grace=60))
    scene.run(until=6)

    def reads_s2(request: Request) -> bool:
        return isinstance(request, List) and request.selection.fields == "spec.nodeName=s2"

    scene.fail(UnavailableError("reset"), reads_s2, times=1)
    scene.interrupt("s2").run(until=100)

    assert any("reset" in note for note, _ in scene.recorder.notes)
    assert scene.story("late").order()[0] == "wait BarePod"
    assert scene.gone_at("late") == 64.9
    assert scene.lowest("web") == 4


def refuse_watches_of(monkeypatch: pytest.MonkeyPatch, kind: type[KubernetesObject]) -> None:
    """Somebody forgot a right."""
    watch = SimulatedSession.watch

    def refuse(session: SimulatedSession, selection: Selection[Any]) -> None:
        if selection.kind is not kind:
            watch(session, selection)
            return
        error = ForbiddenError("forbidden: cannot watch resource")
        session._deliver(Reply(List(selection), error=error))

    monkeypatch.setattr(SimulatedSession, "watch", refuse)


@pytest.mark.parametrize("kind", [Pod, ReplicaSet])
def test_where_a_watch_is_refused_workloads_are_read_and_that_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, kind: type[KubernetesObject]
) -> None:
    scene.given(deployment("web", 2), stateful_set("db", 2), spare="o1")
    refuse_watches_of(monkeypatch, kind)
    old = {app: [pod.name for pod in scene.pods(app)] for app in ("web", "db")}
    scene.interrupt("s1").run(until=30)

    assert any("cannot watch resource" in text for text, _ in scene.recorder.notes)
    assert scene.recorder.values["WatchesRefused"]
    assert scene.lowest("web") == 2
    assert scene.lowest("db") == 1
    assert all(scene.gone_at(pod) < 12 for pod in old["web"])
    # Seats are listed every ten seconds, where they may not be watched.
    assert all(scene.gone_at(pod) < 25 for pod in old["db"])


def test_marks_that_nobody_may_watch_are_listed_every_ten_seconds(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.place(deployment("late", pod={**on_node("s2"), "grace": 60}), on="s2")
    begin(scene)
    refuse_watches_of(monkeypatch, Node)
    scene.run(until=3)
    pod = scene.pod("late")
    scene.interrupt("s2").run(until=20)

    (first, *_) = scene.story(pod)
    assert first.endswith("release NodeDoomed")
    assert float(first.split()[0]) < 14
    assert scene.lowest("web") == 4


def hold_back(scene: Scene, monkeypatch: pytest.MonkeyPatch, *, after: float) -> None:
    """The watches of pods show nothing that happens later."""
    deliver = SimulatedSession._deliver

    def only_others(session: SimulatedSession, arrival: Arrival) -> None:
        is_of_pods = isinstance(arrival, Change) and arrival.selection.kind is Pod
        if not is_of_pods or scene.seconds <= after:
            deliver(session, arrival)

    monkeypatch.setattr(SimulatedSession, "_deliver", only_others)


def test_a_watch_that_lags_behind_a_release_is_listed_again_before_anything_goes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_back(scene, monkeypatch, after=1)
    *old, _ = scene.given(deployment("web", 2), bare_pod("dying"), spare="o1")
    scene.interrupt("s1").run(until=40)

    listed_at = [at for at, request in scene.requests if is_list(request)]
    read_at = [at for at, r in scene.requests if isinstance(r, Get) and r.kind is ReplicaSet]
    assert 3 < listed_at[0] < 5
    assert all(later - earlier >= 10 for earlier, later in itertools.pairwise(listed_at))
    evicted_at = [s.at for s in scene.written() if isinstance(s.write, Evict) and s.name in old]
    assert len(evicted_at) == 2
    assert all(listed_at[0] <= at < listed_at[0] + 1 for at in evicted_at)
    assert not [at for at in read_at if 1.5 < at < listed_at[0]]
    assert scene.lowest("web") == 2


def is_list(request: Request) -> bool:
    """Whether it asks for what a watch of pods selects."""
    if not isinstance(request, List):
        return False
    selection = request.selection
    is_of_pods = selection.kind is Pod and not selection.namespace
    return is_of_pods and selection.labels.startswith(names.TEMPLATE_HASH)


def test_a_workload_is_listed_by_itself_as_long_as_its_watch_lags(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget refuses the first pod's eviction; then the watch stalls, and cannot be listed."""
    hold_back(scene, monkeypatch, after=3.5)
    scene.given(deployment("web", 2), on="s1 s2", spare="o1", room={"s": "0.1"})
    scene.interrupt("s1")
    scene.fail(DisruptionRefusedError("a budget"), asks(Evict))
    scene.run(until=3.6)
    scene.interrupt("s2")

    scene.fail(UnavailableError("no answer"), is_list)
    scene.run(until=30)

    read_at = [at for at, r in scene.requests if isinstance(r, Get) and r.kind is ReplicaSet]
    tried_at = [sent.at for sent in scene.writes if isinstance(sent.write, Evict)]
    late = [at for at in tried_at if at > 8]
    assert late
    assert all(any(read <= at < read + 1.5 for read in read_at) for at in late)
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(read_at))
