"""Somebody drains nodes: every pod that can be handed over is replaced before it goes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.flows import selections
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.release import Cooldown
from evenkeel.model.request import List, Request
from evenkeel.settings import Mode
from tests.kit.asking import asks, noting
from tests.kit.manifests import budget, deployment
from tests.stories.gate.gated import Gated

START = 2.0
"""Seconds that a pod takes to get Ready in these scenes."""


def released(gated: Gated, app: str) -> list[Pod]:
    return [pod for pod in gated.pods(app) if pod.released]


def test_a_single_replica_behind_a_budget_is_drained_without_a_dip(gated: Gated) -> None:
    gated.given(deployment("one"), budget("one", minAvailable=1), spare="o1")
    took = gated.drain("s1", within=30)
    assert gated.lowest("one") == 1
    assert START < took < 2 * START + 1


def test_two_drains_at_once_take_no_pod_too_many(gated: Gated) -> None:
    gated.given(deployment("web", 6), on="s1 s2", spare="o1")
    drainers = [gated.drainer("alice"), gated.drainer("bob")]
    for drainer, node in zip(drainers, ("s1", "s2"), strict=True):
        drainer.drain(node)
    gated.finish(*drainers, within=60)
    assert gated.lowest("web") == 6
    gated.settle(5)
    assert {pod.spec.node_name for pod in gated.pods("web")} == {"o1"}


@pytest.mark.parametrize(
    ("key", "word"), [(names.SAFE_TO_EVICT, "false"), (names.DO_NOT_DISRUPT, "true")]
)
def test_a_pod_whose_owner_forbids_disruption_is_replaced_before_it_goes(
    key: str, word: str, gated: Gated
) -> None:
    gated.given(deployment("web", 2, pod={"annotations": {key: word}}), spare="o1")
    gated.drain("s1", within=30)
    gated.settle(5)
    assert gated.lowest("web") == 2
    assert {pod.spec.node_name for pod in gated.pods("web")} == {"o1"}


def test_a_pod_whose_owner_forbids_disruption_still_says_so_when_it_is_back(gated: Gated) -> None:
    annotations = {names.DO_NOT_DISRUPT: "true", names.SAFE_TO_EVICT: "false"}
    gated.given(deployment("one", pod={"annotations": annotations}), spare="o1")
    (old,) = gated.pods("one")
    gated.drainer().evict(old.name, "default", again=False)
    gated.settle(1)
    assert released(gated, "one")
    gated.settle(140)
    (back,) = gated.pods("one")
    assert (back.name, back.released) == (old.name, False)
    assert annotations.items() <= back.metadata.annotations.items()


def test_without_the_label_a_drain_breaks_before_it_makes(gated: Gated) -> None:
    gated.cluster.server.patch(
        "Namespace", ("", "default"), {"metadata": {"labels": {"evenkeel.dev/gate": None}}}
    )
    gated.given(deployment("one"), spare="o1")
    gated.drain("s1", within=5)
    gated.settle(5)
    assert gated.lowest("one") == 0


def test_without_room_for_a_replacement_evictions_pass_when_patience_is_over(gated: Gated) -> None:
    gated.given(deployment("one"))
    (old,) = gated.pods("one")
    took = gated.drain("s1", within=400)
    assert 300 <= took <= 310
    assert old.name not in {pod.name for pod in gated.pods("one") if pod.active}
    told = [d.reason for _, d in gated.told() if d.warning and d.subject.name == old.name]
    assert set(told) & {"PatienceOver", "CoolingDown"}


@pytest.mark.parametrize(
    ("rests_from", "passes"),
    [(names.EVICTION_COOLDOWN, True), (names.COOLDOWN, False)],
    ids=["evictions that found no replacement", "moves to spot that failed"],
)
def test_without_room_a_pod_passes_while_its_workload_rests_from_evictions_alone(
    gated: Gated, rests_from: str, *, passes: bool
) -> None:
    gated.given(deployment("web", 2), room={"s1": "0.25"})
    until = gated.clock.now() + timedelta(minutes=5)
    rest = msgspec.json.encode(Cooldown(failures=1, until=until)).decode()
    gated.cluster.server.patch(
        "Deployment", ("default", "web"), {"metadata": {"annotations": {rests_from: rest}}}
    )
    drainer = gated.drainer()
    pod = gated.pods("web")[0].name
    drainer.evict(pod, "default")
    gated.settle(5)
    assert (drainer.pods[pod].accepted_at is not None) is passes
    drainer.kill()


def test_a_pod_that_is_asked_for_once_goes_back_when_nobody_asks_again(gated: Gated) -> None:
    gated.given(deployment("one"), spare="o1")
    (old,) = gated.pods("one")
    gated.drainer().evict(old.name, "default", again=False)
    gated.settle(20)
    assert [pod.name for pod in released(gated, "one")] == [old.name]
    gated.settle(120)
    assert gated.lowest("one") == 1
    assert [(pod.name, pod.released) for pod in gated.pods("one")] == [(old.name, False)]


@pytest.mark.parametrize(
    "taint",
    [
        pytest.param("", id="cordoned"),
        pytest.param("karpenter.sh/disrupted", id="tainted by Karpenter"),
        pytest.param("ToBeDeletedByClusterAutoscaler", id="tainted by the cluster autoscaler"),
    ],
)
def test_a_killed_drain_is_finished_where_its_node_is_kept_empty(taint: str, gated: Gated) -> None:
    gated.given(deployment("web", 3), spare="o1")
    drainer = gated.drainer()
    drainer.drain("s1", taint=taint)
    gated.settle(0.5)
    drainer.kill()
    gated.settle(150)
    assert gated.lowest("web") == 3
    assert {pod.spec.node_name for pod in gated.pods("web")} == {"o1"}
    assert released(gated, "web") == []


@pytest.mark.parametrize("replicas", [1, 12, 40])
def test_no_pod_passes_on_what_the_api_server_s_cache_shows(gated: Gated, replicas: int) -> None:
    """It still shows a replacement that is gone."""
    gated.given(deployment("web", replicas), spare="o1")
    pod = gated.pods("web")[0].name
    gated.drainer().evict(pod, "default", again=False)
    gated.run(until=5)
    (replacement,) = gated.pods("web", "o1")
    assert replacement.ready

    asked = List(selections.of_hash(replacement), fresh=False)
    (before,) = gated.cluster.perform([asked])
    gated.cluster.server.delete("Pod", ("default", replacement.name), grace=0)

    def cached(request: Request, proceed: Callable[[], Any]) -> Any:
        return before.result if request == asked else proceed()

    end = gated.cluster.intercept(cached)
    drainer = gated.drainer()
    drainer.evict(pod, "default", again=False)
    gated.run(until=6)
    end()
    ((_, message),) = drainer.pods[pod].refusals
    assert "its replacement is not available yet" in message
    assert gated.lowest("web") == replicas


def test_a_pod_waits_for_its_replacement_though_a_cache_shows_it_unreleased(gated: Gated) -> None:
    gated.given(deployment("one"), spare="o1")
    (old,) = gated.pods("one")
    asked = List(selections.of_hash(old), fresh=False)
    (before,) = gated.cluster.perform([asked])
    gated.drainer().evict(old.name, "default", again=False)
    gated.run(until=0.5)
    assert released(gated, "one")

    def cached(request: Request, proceed: Callable[[], Any]) -> Any:
        return before.result if request == asked else proceed()

    end = gated.cluster.intercept(cached)
    drainer = gated.drainer()
    drainer.evict(old.name, "default", again=False)
    gated.run(until=1)
    end()
    ((_, message),) = drainer.pods[old.name].refusals
    assert "its replacement is not available yet" in message


def test_while_the_gate_is_down_drains_go_on_as_without_it(gated: Gated) -> None:
    gated.given(deployment("one"), spare="o1")
    gated.gate.down = True
    drainer = gated.drainer()
    drainer.drain("s1")
    assert gated.finish(drainer, within=5) < 1


def test_in_observe_mode_every_eviction_passes_and_nothing_is_written() -> None:
    gated = Gated(Mode.OBSERVE)
    gated.given(deployment("one"), spare="o1")
    (old,) = gated.pods("one")
    drainer = gated.drainer()
    drainer.drain("s1")
    assert gated.finish(drainer, within=5) < 1
    assert [d.reason for _, d in gated.told() if d.subject.name == old.name] == ["Released"]
    assert gated.written(old.name) == []
    gated.close()


def test_a_released_pod_that_was_told_to_go_takes_no_room_in_the_window() -> None:
    gated = Gated(window=1)
    gated.given(deployment("web", 2, pod={"terminationGracePeriodSeconds": 40}), spare="o1")
    first, second = gated.pods("web")
    drainer = gated.drainer()
    drainer.evict(first.name, "default")
    gated.finish(drainer, within=10)
    assert first.name in {pod.name for pod in gated.pods("web") if pod.leaving}
    gated.settle(5)
    drainer.evict(second.name, "default", again=False)
    gated.settle(1)
    assert [pod.name for pod in released(gated, "web") if pod.active] == [second.name]
    gated.close()


def test_in_a_rollout_pods_of_other_versions_are_read_afresh_before_any_goes(gated: Gated) -> None:
    gated.given(deployment("web", 4), spare="o1")
    lists = noting(gated.cluster, asks(List))
    drainer = gated.drainer()
    drainer.drain("s1")
    gated.settle(0.2)
    assert released(gated, "web")
    change = {"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}}
    gated.cluster.server.patch("Deployment", ("default", "web"), change)
    gated.finish(drainer, within=60)
    asked = [each for each in lists if each.kept is not None]
    assert not asked[0].fresh
    assert [each.fresh for each in asked[-2:]] == [False, True]
    assert gated.lowest("web") >= 3


def test_without_room_an_eviction_waits_five_minutes_whenever_its_node_dies(gated: Gated) -> None:
    gated.given(deployment("web"), on="o1")
    gated.scale_in("o1", longest=3_600)
    gated.settle(5)
    took = gated.drain("o1", within=400)
    assert 300 <= took < 311
