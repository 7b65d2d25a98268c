"""Pods that start slowly, or find no room: what their drains cost, and what stays afterwards."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.release import Cooldown
from tests.kit.drainer import Drainer
from tests.kit.manifests import Manifest, apart, deployment
from tests.stories.gate.gated import Gated

START = 420
"""Seconds until a pod of the model server is Ready."""

SIX = "s1 s2 s3 s4 s5 s6"


def model(replicas: int = 1, start: int = START, **more: Any) -> Manifest:
    """A model server, each of its pods on a node of its own."""
    pod = {"annotations": {"evenkeel.test/ready-after": f"{start}s"}, **apart("llm")}
    return deployment("llm", replicas, pod=pod, **more)


def went_back(gated: Gated) -> set[str]:
    """The pods that were put back."""
    return {told.subject.name for _, told in gated.told() if told.verb is Verb.ROLL_BACK}


def resting(gated: Gated) -> None:
    """The model server rests for an hour."""
    until = gated.clock.now() + timedelta(hours=1)
    rest = msgspec.json.encode(Cooldown(failures=5, until=until)).decode()
    notes = {"metadata": {"annotations": {names.EVICTION_COOLDOWN: rest}}}
    gated.cluster.server.patch("Deployment", ("default", "llm"), notes)


def drained(gated: Gated, *nodes: str) -> list[Drainer]:
    """Each of these nodes begins to be drained."""
    drainers = [gated.drainer(node) for node in nodes]
    for drainer, node in zip(drainers, nodes, strict=True):
        drainer.drain(node)
    return drainers


@pytest.mark.parametrize(
    ("start", "more"),
    [
        pytest.param(START, {}, id="as its Deployment's progress deadline allows"),
        pytest.param(800, {"notes": {names.GATE_PATIENCE: "15m"}}, id="as its owner says"),
    ],
)
def test_a_replacement_that_starts_on_its_node_is_waited_for_longer(
    start: int, more: dict[str, Any], gated: Gated
) -> None:
    gated.given(model(start=start, **more), spare="o1", settle=start + 10)
    assert start <= gated.drain("s1", within=start + 20)
    assert gated.seconds_at_zero("llm") == 0


def test_a_replacement_stays_when_patience_is_over_and_its_pod_goes(gated: Gated) -> None:
    (old,) = gated.given(model(progressDeadlineSeconds=350), spare="o1", settle=START + 10)
    drainers = drained(gated, "s1")
    gated.settle(5)
    (new,) = gated.pods("llm", "o1")
    assert 345 <= gated.finish(*drainers, within=400) <= 360
    gated.settle(START - 340)
    assert [(pod.name, pod.ready) for pod in gated.pods("llm")] == [(new.name, True)]
    assert old not in went_back(gated)
    assert gated.seconds_at_zero("llm") <= START - 340


def test_a_replacement_that_finds_no_room_is_there_to_start_once_there_is(gated: Gated) -> None:
    gated.given(model(), settle=START + 10)
    drainers = drained(gated, "s1")
    gated.settle(5)
    (new,) = (pod for pod in gated.pods("llm") if not pod.spec.node_name)
    assert 290 <= gated.finish(*drainers, within=400) <= 311
    gated.add_node("o1", spot=False)
    gated.settle(START + 10)
    assert [(pod.name, pod.ready) for pod in gated.pods("llm")] == [(new.name, True)]


def test_six_nodes_that_are_drained_one_after_the_other_take_no_pod_too_many(gated: Gated) -> None:
    gated.given(model(6), on=SIX, spare="o1 o2 o3 o4 o5 o6", settle=START + 10)
    took = [gated.drain(node, within=START + 20) for node in SIX.split()]
    assert gated.lowest("llm") == 6
    assert min(took) >= START


@pytest.mark.parametrize("nodes", ["s1", SIX], ids=["one node", "all its nodes at once"])
def test_a_workload_that_rests_lets_one_pod_pass_and_the_next_waits(
    nodes: str, gated: Gated
) -> None:
    gated.given(model(6), on=SIX, settle=START + 10)
    resting(gated)
    drainers = drained(gated, *nodes.split())
    gated.settle(10)
    assert sum(drainer.is_done for drainer in drainers) == 1
    gated.settle(280)
    assert gated.lowest("llm") == 5
    for drainer in drainers:
        drainer.kill()


def test_a_workload_that_rests_waits_for_a_replacement_that_starts(gated: Gated) -> None:
    gated.given(model(2), on="s1 s2", spare="o1 o2", settle=START + 10)
    resting(gated)
    gated.finish(*drained(gated, "s1", "s2"), within=2 * START + 60)
    assert gated.lowest("llm") == 2


def test_a_replacement_that_crashes_beside_its_old_pod_is_away_no_longer_for_the_gate(
    gated: Gated,
) -> None:
    """The old pod has a lock. A start takes 2 s, and by then a back-off lasts five minutes."""
    notes = {"evenkeel.test/lock": "data", "evenkeel.test/stop-after": "4s"}
    gated.given(deployment("llm", 1, pod={"annotations": notes}), spare="s2")
    assert 320 <= gated.drain("s1", within=450) <= 400
    gated.settle(30)
    assert gated.seconds_at_zero("llm") <= 12.1
