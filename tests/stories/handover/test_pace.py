"""How fast pods are released and evicted: the window, the order, and a slow API server."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import ThrottledError, UnavailableError
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, List, Patch, Request, Write
from tests.kit.manifests import SYSTEM, bare_pod, deployment
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

SLOW_CONTROLLER = replace(CALM, controller_qps=4, controller_burst=1)
"""The ReplicaSet controller makes few pods a second, so that the window matters."""


def pending_replacements(scene: Scene) -> int:
    """Counted from the objects, as the design has it."""
    pods = [msgspec.convert(obj, Pod) for obj in scene.cluster.objects("Pod")]
    total = 0
    for obj in scene.cluster.objects("ReplicaSet"):
        replica_set = msgspec.convert(obj, ReplicaSet)
        owned = sum(
            pod.active and pod.controller is not None and pod.controller.uid == replica_set.uid
            for pod in pods
        )
        released = sum(
            pod.active and pod.released and pod.name.startswith(replica_set.name) for pod in pods
        )
        total += min(released, max(0, replica_set.spec.replicas - owned))
    return total


def order_of_release(scene: Scene) -> list[str]:
    """The workloads of the released pods, in the order of their releases."""
    return [decision.subject.name.split("-")[0] for _, decision in scene.told("NodeDoomed")]


def busy_node(scene: Scene, sizes: Mapping[str, int], **pod: Any) -> None:
    """One spot node with Deployments of these sizes, then a large node without them."""
    scene.given(
        *(deployment(app, size, pod=pod.get(app)) for app, size in sizes.items()),
        spare="o1",
        room={"s1": "40", "o1": "40"},
        settle=60,
    )


@pytest.mark.parametrize("window", [1, 3, 10])
def test_no_more_replacements_are_pending_than_the_window(
    make_scene: MakeScene, window: int
) -> None:
    """While a workload waits that would reach zero; after that at most four times as many."""
    scene = make_scene(options=SLOW_CONTROLLER, window=window)
    busy_node(scene, {"big": 30, **{f"one{number}": 1 for number in range(window)}})
    counts: list[tuple[bool, int]] = []

    def look(request: Request, proceed: Callable[[], Any]) -> Any:
        result = proceed()
        if isinstance(request, Patch) and request.kind is Pod:
            released = {app for app in order_of_release(scene) if app != "big"}
            counts.append((len(released) < window, pending_replacements(scene)))
        return result

    scene.cluster.intercept(look)
    scene.interrupt("s1").run(until=15)

    assert max(count for _, count in counts) <= 4 * window
    assert max((count for zeros_wait, count in counts if zeros_wait), default=0) <= window
    assert max(count for _, count in counts) >= window


def test_those_that_would_reach_zero_go_first_then_rounds(make_scene: MakeScene) -> None:
    scene = make_scene(options=SLOW_CONTROLLER, window=1)
    busy_node(scene, {"big": 8, "one": 1, "two": 2})

    scene.interrupt("s1").run(until=40)

    order = order_of_release(scene)
    assert set(order[:3]) == {"big", "one", "two"}
    assert set(order[3:5]) == {"big", "two"}
    assert Counter(order) == {"big": 8, "one": 1, "two": 2}
    assert [scene.lowest(app) for app in ("big", "one", "two")] == [8, 1, 2]


def test_a_replacement_that_is_never_made_holds_up_others_a_minute(make_scene: MakeScene) -> None:
    """Nothing else happens then to the pods that wait for it: the next goes, and not both."""
    scene = make_scene(window=1)
    busy_node(scene, {"a": 1, "b": 1, "c": 1})
    scene.cluster.limit_controllers(0.001, 0)

    scene.interrupt("s1").run(until=80)

    first, second = (round(at) for at, _ in scene.told("NodeDoomed"))
    assert (first, second) == (1, 61)


def test_an_api_server_with_much_to_do_is_not_read_to_death(scene: Scene) -> None:
    """Fresh reads leave room for what they are made for: the evictions."""
    apps = [f"app{number:02}" for number in range(20)]
    busy_node(scene, dict.fromkeys(apps, 5))
    scene.cluster.options = replace(CALM, requests_per_second=120)

    scene.interrupt("s1").run(until=10)

    assert [pod.name for app in apps for pod in scene.pods(app, "s1")] == []
    assert {scene.lowest(app) for app in apps} == {5}
    assert len(scene.requests) < 500


@pytest.mark.parametrize("latency", [0.3, 0.9])
def test_a_slow_api_server_slows_everything_and_stops_nothing(
    make_scene: MakeScene, latency: float
) -> None:
    scene = make_scene(options=replace(CALM, latency=timedelta(seconds=latency)))
    scene.given(deployment("web", 3), spare="o1", settle=30)

    scene.interrupt("s1").run(until=85)

    assert len(scene.pods("web", "o1")) == 3
    assert scene.pods("web", "s1") == []
    assert scene.lowest("web") == 3


def test_a_throttled_api_server_gets_its_pause(make_scene: MakeScene) -> None:
    """Two of three writes are told to come back in a second."""
    scene = make_scene()
    scene.given(deployment("web", 6), spare="o1")
    count = 0

    def throttle(request: Request) -> bool:
        nonlocal count
        if isinstance(request, Get | List):
            return False
        count += 1
        return count % 3 != 0

    scene.apply(SYSTEM)
    scene.fail(ThrottledError("busy", retry_after=1), throttle)
    scene.interrupt("s1").run(until=85)

    assert scene.lowest("web") == 6
    assert scene.pods("web", "s1") == []
    tries = Counter(s.name for s in scene.writes if isinstance(s.write, Evict | Patch))
    assert max(tries.values()) < 60


def test_an_api_server_that_is_down_in_the_middle_costs_only_time(scene: Scene) -> None:
    slow = {"annotations": {"evenkeel.test/ready-after": "5s"}}
    old = scene.given(deployment("web", 3, pod=slow), spare="o1")
    scene.fail(UnavailableError("refused"), lambda _: 2 <= scene.seconds < 32)

    scene.interrupt("s1").run(until=85)

    assert scene.lowest("web") == 3
    assert all(32 <= scene.gone_at(pod) < 36 for pod in old)
    assert len([r for at, r in scene.requests if 2 <= at < 32]) < 400


def test_an_api_server_that_is_down_then_is_asked_until_it_answers(scene: Scene) -> None:
    (old,) = scene.given(deployment("stuck"))
    scene.fail(UnavailableError("refused"), lambda _: 80 <= scene.seconds < 100)

    scene.interrupt("s1").run(until=115)

    assert 100 <= scene.gone_at(old) < 103


@pytest.mark.parametrize("latency", [0.3, 0.9])
def test_a_slow_api_server_s_last_moments_are_begun_early_enough(
    make_scene: MakeScene, latency: float
) -> None:
    """The next invocation begins as much earlier as its first reads take."""
    scene = make_scene(options=replace(CALM, latency=timedelta(seconds=latency)))
    scene.given(bare_pod("alone"))

    scene.interrupt("s1").run(until=115)

    assert 88.9 <= scene.gone_at("alone") <= 89 + latency + 0.1


def test_planning_takes_a_small_share_of_the_time(
    make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much news there is, and however often there is a look at it."""
    scene = make_scene(options=replace(CALM, controller_qps=40))
    apps = [f"web-{number}" for number in range(8)]
    busy_node(scene, dict.fromkeys(apps, 12))
    spent: list[tuple[float, float]] = []
    plan = Planner.plan

    def take_a_while(*args: Any) -> Any:
        began = scene.seconds
        scene.clock.sleep(timedelta(seconds=0.02))
        spent.append((began, scene.seconds - began))
        return plan(*args)

    monkeypatch.setattr(Planner, "plan", take_a_while)
    scene.interrupt("s1").run(until=40)

    assert sum(seconds for began, seconds in spent if 2 <= began < 6) < 0.4 * 4
    assert {scene.lowest(app) for app in apps} == {12}


CAPACITY = 8
FAR_AWAY = replace(CALM, latency=timedelta(seconds=0.2), capacity=CAPACITY)


@pytest.fixture
def storm(make_scene: MakeScene) -> Scene:
    """Forty pods that find no new place; each answer takes 0.2 s."""
    scene = make_scene(options=FAR_AWAY)
    scene.given(*(deployment(f"one-{number}") for number in range(40)), room={"s1": "8"}, settle=60)
    return scene


def most_at_once(scene: Scene, kind: type[Write]) -> int:
    """So many writes of a kind were carried out at the same time: they had been sent at once."""
    pods = (sent for sent in scene.writes if sent.write.reference.kind == "Pod")
    return max(Counter(round(s.at, 1) for s in pods if isinstance(s.write, kind)).values())


def test_releases_get_half_of_it(storm: Scene) -> None:
    storm.interrupt("s1").run(until=80)
    assert 1 < most_at_once(storm, Patch) <= CAPACITY // 2


def test_forced_evictions_get_all_of_it_when_they_are_all_late(storm: Scene) -> None:
    storm.interrupt("s1", action="hibernate").run(until=10)
    assert CAPACITY // 2 < most_at_once(storm, Evict) <= CAPACITY


def test_the_longest_grace_period_goes_first_where_all_are_late(make_scene: MakeScene) -> None:
    """The API server was away until it was time for all of them."""
    scene = make_scene(options=FAR_AWAY)
    graces = {"a": 5, "b": 40, "c": 20}
    scene.given(
        *(deployment(app, 16, pod={"grace": grace}) for app, grace in graces.items()),
        room={"s1": "8"},
        settle=30,
    )
    going = {app: [pod.name for pod in scene.pods(app)] for app in graces}
    scene.fail(UnavailableError("refused"), lambda _: 10 <= scene.seconds < 116)
    scene.interrupt("s1").run(until=130)
    told = {app: sorted(map(scene.gone_at, pods)) for app, pods in going.items()}
    assert all(each[0] > 116 for each in told.values())
    assert told["b"][-1] <= told["c"][0]
    assert told["c"][-1] <= told["a"][0]
