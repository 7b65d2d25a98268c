"""What is known of a cluster that answers slowly, or out of order: never more than it said."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import ClusterError, UnavailableError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.flows.drain.queue import Queue
from evenkeel.model import names
from evenkeel.model.cluster_objects import NetworkPolicy, Service
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, List, Patch, Request
from evenkeel.ports import Reply, TimeLeft
from evenkeel_sandbox.simulator.api import watch
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.session import SimulatedSession
from tests.kit import builders
from tests.kit.asking import asks
from tests.kit.builders import NOW
from tests.kit.manifests import budget, deployment, on_node
from tests.kit.scene import CALM, INTERRUPTION, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import set_unready

REPLICA_SET = builders.replica_set()
OWNED = builders.pod("web-1", of=REPLICA_SET, node="s1", revision=90)
RELEASED = builders.pod(
    "web-1", of=REPLICA_SET, node="s1", revision=100, released=builders.release(REPLICA_SET)
)


def delay_replies(
    monkeypatch: pytest.MonkeyPatch, clock: SimulatedClock, seconds_of: Callable[[Request], float]
) -> None:
    """Requests are carried out as ever; their replies come so much later."""

    def run(
        session: SimulatedSession,
        request: Request,
        answer: Callable[[Reply], None],
        _left: TimeLeft | None,
    ) -> None:
        try:
            reply = Reply(request, session._backend.execute(request))
        except ClusterError as error:
            reply = Reply(request, error=error)

        def arrive() -> None:
            session._running -= 1
            answer(reply)
            session._signal.set()
            session._pump()

        clock.call_in(timedelta(seconds=seconds_of(request)), arrive)

    monkeypatch.setattr(SimulatedSession, "_run", run)


def bears_hash(pod: Pod) -> bool:
    return pod.metadata.labels.get(names.TEMPLATE_HASH) == builders.HASH


def test_a_list_of_one_selection_says_nothing_of_a_pod_that_changed_into_another() -> None:
    """Released at 100; the hashes are listed again at 105, before the release is shown."""
    pods = Pods(Queue())
    pods.update(OWNED)
    pods.replace([], 105, bears_hash)
    assert pods.get(OWNED.uid) is None
    pods.update(RELEASED)
    assert pods.get(OWNED.uid) is RELEASED


def test_what_such_a_list_refutes_does_not_come_back() -> None:
    """What an older watch shows late was so before the list, and is so no more."""
    pods = Pods(Queue())
    pods.update(OWNED)
    pods.replace([], 105, bears_hash)
    older, newer = (
        builders.pod("web-1", of=REPLICA_SET, node="s1", revision=each) for each in (104, 106)
    )
    pods.update(older)
    assert pods.get(OWNED.uid) is None
    pods.update(newer)
    assert pods.get(OWNED.uid) is newer


def test_a_pod_that_came_and_went_before_a_list_is_not_believed_to_be_there() -> None:
    """A watch that lags shows it late, for the first time."""
    pods = Pods(Queue())
    pods.replace([], 105, bears_hash, whole="hashes")
    pods.update(OWNED)
    assert pods.get(OWNED.uid) is None


def test_a_pod_that_a_list_showed_is_believed_again_once_it_has_changed() -> None:
    pods = Pods(Queue())
    pods.replace([OWNED], 105, bears_hash, whole="hashes")
    pods.update(RELEASED)
    assert pods.get(OWNED.uid) is RELEASED


@pytest.mark.parametrize(
    ("revision", "selects", "whole"),
    [(105, bears_hash, None), (105, lambda _: False, "others"), (89, bears_hash, "hashes")],
    ids=["of some", "of others", "older"],
)
def test_other_lists_say_nothing_of_a_pod_that_is_not_known(
    revision: int, selects: Callable[[Pod], bool], whole: str | None
) -> None:
    pods = Pods(Queue())
    pods.replace([], revision, selects, whole=whole)
    pods.update(OWNED)
    assert pods.get(OWNED.uid) is OWNED


def test_two_lists_of_a_read_may_lie_on_both_sides_of_a_release() -> None:
    """Released pods were listed at 99, owned ones at 101: neither shows it."""
    view = View()
    view.pods.update(OWNED)
    view.pods.update(RELEASED)
    view.replace_workload(REPLICA_SET.key, Listed(controller=REPLICA_SET, revision=99), NOW)
    assert view.pods.get(OWNED.uid) is RELEASED
    view.replace_workload(REPLICA_SET.key, Listed(controller=REPLICA_SET, revision=101), NOW)
    assert view.pods.get(OWNED.uid) is None


def test_a_read_of_single_pods_says_nothing_of_others() -> None:
    view = View()
    view.pods.update(OWNED)
    view.replace_workload(REPLICA_SET.key, Listed(controller=REPLICA_SET), NOW)
    assert view.pods.get(OWNED.uid) is OWNED


def test_a_pod_that_came_and_went_before_its_workload_was_listed_does_not_count() -> None:
    """A watch that lags shows it late, for the first time."""
    view = View()
    listed = Listed(controller=REPLICA_SET, revision=OWNED.revision)
    view.replace_workload(REPLICA_SET.key, listed, NOW)
    view.pods.update(OWNED)
    assert view.pods.get(OWNED.uid) is None


def test_a_slow_read_takes_nothing_away_when_the_watches_know_better(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replacement is Ready when its pods are read, and is not when the read is complete."""
    scene.given(deployment("web"), spare="o1")

    def is_slow(request: Request) -> bool:
        return isinstance(request, Get) and request.kind is ReplicaSet and scene.seconds > 2

    def ail() -> None:
        (new,) = scene.pods("web", "o1")
        set_unready(scene, new.name)

    delay_replies(monkeypatch, scene.clock, lambda request: 4.0 if is_slow(request) else 0.0)
    scene.interrupt("s1")
    scene.later(5.0, ail)
    scene.run(until=20)
    assert scene.lowest("web") == 1


def with_two_nodes(scene: Scene) -> tuple[str, str]:
    """A pod on each node that finds no other place. Their names, that of s1 first."""
    first, second = (deployment(f"on-{node}", pod=on_node(node)) for node in ("s1", "s2"))
    of_first, of_second = scene.given(first, second, on="s1 s2")
    return of_first, of_second


def is_about_an_owner(request: Request) -> bool:
    return isinstance(request, Get) and request.kind in (ReplicaSet, Deployment)


def test_owners_that_take_long_to_read_delay_no_forced_eviction(scene: Scene) -> None:
    """They are those of a node that is doomed shortly before it."""
    first, second = with_two_nodes(scene)
    scene.interrupt("s1")
    scene.later(86, lambda: scene.interrupt("s2"))
    scene.later(86, lambda: scene.delay(timedelta(seconds=4), is_about_an_owner))
    scene.run(until=86 + 118)
    assert scene.gone_at(first) == pytest.approx(88.9, abs=0.2)
    assert scene.story(second).order()[0] == "release NodeDoomed"
    assert 86 + 8 <= float(scene.story(second)[0].split()[0]) <= 86 + 11
    assert scene.gone_at(second) == pytest.approx(86 + 88.9, abs=0.2)


def test_owners_that_could_not_be_read_are_read_a_second_later(scene: Scene) -> None:
    _, second = with_two_nodes(scene)
    error = UnavailableError("reset")
    scene.interrupt("s1")
    scene.later(10, lambda: scene.fail(error, is_about_an_owner, times=3))
    scene.later(10, lambda: scene.interrupt("s2"))
    scene.run(until=16)
    assert any("reset" in note for note, _ in scene.recorder.notes)
    assert scene.story(second).order()[0] == "release NodeDoomed"


def test_a_pod_that_a_watch_shows_does_not_wait_until_its_node_was_read(scene: Scene) -> None:
    """Its ReplicaSet is known, and what surrounds it."""
    scene.given(deployment("web", 20), on="s1 s2", room={"s": "1"})
    on_second = {pod.name for pod in scene.pods("web", "s2")}
    assert on_second
    scene.interrupt("s1").run(until=10)
    scene.delay(timedelta(seconds=6), asks(List, selection=selections.pods_on("s2")))
    scene.interrupt("s2").run(until=40)
    released = [at for at, step in scene.told("NodeDoomed") if step.subject.name in on_second]
    assert len(released) == len(on_second)
    assert 10 <= min(released) < 12


@pytest.mark.parametrize("kind", [Deployment, ReplicaSet, Service, NetworkPolicy])
def test_a_pod_waits_until_its_owner_and_its_namespace_were_read(
    scene: Scene, kind: type[KubernetesObject]
) -> None:
    """It may be one that must not be released. An invocation is at work for another pod."""
    scene.place(deployment("web", 2), room={"s1": "1"})
    scene.given(deployment("stuck", pod=on_node("s2"), namespace="elsewhere"), on="s2")
    scene.interrupt("s2").run(until=10)
    scene.delay(timedelta(seconds=6), asks(Get, List, of=kind))
    scene.interrupt("s1").run(until=40)
    released = [at for at, step in scene.told("NodeDoomed") if step.subject.name.startswith("web")]
    assert len(released) == 2
    assert 16 <= min(released) < 19


def test_pods_that_are_released_while_watches_expire_are_seen_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each watch comes back in its own time, that of released pods last."""
    scene.given(deployment("web", 4, pod=on_node("s1")), on="s1 s2")
    scene.run(until=35)
    old = [pod.name for pod in scene.pods("web", "s1")]
    expired: list[float] = []
    delay_replies(
        monkeypatch,
        scene.clock,
        lambda request: 0.3 if isinstance(request, Patch) and request.kind is Pod else 0.0,
    )
    list_again = watch.Watch.list

    def list_late(each: watch.Watch) -> None:
        late = bool(expired) and is_of_released_pods(each)
        scene.clock.call_in(timedelta(seconds=0.1 * late), lambda: list_again(each))

    monkeypatch.setattr(watch.Watch, "list", list_late)

    def expire(request: Request, proceed: Callable[[], Any]) -> Any:
        answer = proceed()
        if isinstance(request, Patch) and request.kind is Pod and not expired:
            expired.append(scene.seconds)
            scene.cluster.expire_watches()
        return answer

    scene.cluster.intercept(expire)
    interrupt_late(scene, "s1", by=60)
    scene.run(until=105)
    assert expired
    assert max(scene.gone_at(name) for name in old) == pytest.approx(35 + 60 - 6, abs=0.5)


def is_of_released_pods(each: watch.Watch) -> bool:
    def has(labels: Mapping[str, str]) -> bool:
        return each.filter.matches({"metadata": {"namespace": "default", "labels": labels}})

    return each.filter.kind == "Pod" and has({names.RELEASED_FROM: "x"}) and not has({})


def interrupt_late(scene: Scene, node: str, *, by: float) -> None:
    """A notice that comes so many seconds after it was given."""
    scene.send(node, INTERRUPTION, **{"instance-action": "terminate"})
    scene.notices._messages.clear()
    given = (scene.clock.now() - timedelta(seconds=by)).strftime("%Y-%m-%dT%H:%M:%SZ")
    scene.notices.put(json.dumps(json.loads(scene.events[-1]) | {"time": given}))


def test_budgets_that_are_read_again_and_again_leave_room_for_last_moments(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(options=replace(CALM, latency=timedelta(seconds=1)), rebalance_share=1.0)
    tenants = [f"tenant-{number}" for number in range(40)]
    held = [deployment("held", namespace=each) for each in tenants]
    budgets = [budget("held", namespace=each, maxUnavailable=0) for each in tenants]
    scene.place(*held, *budgets, room={"s1": "64"})
    (old,) = scene.given(deployment("stuck", pod=on_node("s2")), on="s2")
    scene.recommend("s1").run(until=1)
    scene.interrupt("s2").run(until=125)
    (eviction,) = (sent.at for sent in scene.written(old) if isinstance(sent.write, Evict))
    assert eviction < 100


def test_a_node_stays_behind_load_balancers_while_its_pods_are_not_known(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is noticed while others are looked after, and what is on it is known 3 s later."""
    scene.place(deployment("stuck", pod={"cpu": "1", **on_node("s1")}), room={"s1": "1"})
    slow = {"annotations": {"evenkeel.test/ready-after": "10s"}}
    scene.given(deployment("web", 4, pod=slow), on="s2", spare="o1")
    is_about_s2 = asks(List, selection=selections.pods_on("s2"))
    delay_replies(monkeypatch, scene.clock, lambda request: 3.0 if is_about_s2(request) else 0.0)
    scene.interrupt("s1")
    scene.later(8, lambda: scene.interrupt("s2"))
    scene.run(until=20)
    assert len(scene.pods("web", "s2")) == 4
    assert "s2" not in {decision.subject.name for _, decision in scene.told("NodeDying")}
    scene.run(until=40)
    assert "s2" in {decision.subject.name for _, decision in scene.told("NodeDying")}


def test_a_notice_that_two_invocations_have_at_once_marks_its_node_once(scene: Scene) -> None:
    """SQS delivers at least once: a message may be visible while an invocation works at it."""
    scene.given(deployment("web", 3), spare="o1")
    scene.delay(timedelta(seconds=3), asks(Get, of=Node))
    scene.interrupt("s1")
    scene.later(0.5, scene.redeliver)
    scene.later(1.5, scene.redeliver)

    scene.run(until=60)

    assert max(scene.marking.batches) == 1
    assert len(scene.marking.batches) == 3
    assert scene.story("s1").order()[:2] == ["mark SpotInterruption", "leave AlreadyMarked"]
    assert len([sent for sent in scene.written("s1") if sent.at < 6]) == 1
    assert not scene.pods("web", "s1")
    assert scene.lowest("web") == 3
