"""The last moment: a pod goes then, replacement or not, and not before.

It is the deadline (120 s) less the grace period (at most 45 s), one second, and what the
evictions of all pods with the same deadline need at 60 a second, and a tenth of that.
"""

import itertools
from dataclasses import replace

import pytest

from evenkeel.model import names
from evenkeel.model.request import Delete, Evict
from tests.kit.builders import seconds
from tests.kit.manifests import (
    Manifest,
    bare_pod,
    budget,
    deployment,
    job,
    stateful_set,
)
from tests.kit.scene import BEGUN, CALM, NO_PLACE, Scene
from tests.stories.handover.conftest import MakeScene


@pytest.mark.parametrize(
    ("grace", "gone_at"),
    [(0, 118.9), (10, 108.9), (30, 88.9), (45, 73.9), (46, 73.9), (3600, 73.9)],
)
def test_a_pod_that_finds_no_new_place_goes_when_its_grace_period_needs_it(
    scene: Scene, grace: int, gone_at: float
) -> None:
    (old,) = scene.given(deployment("stuck", pod={"grace": grace}))

    scene.interrupt("s1").run(until=130)

    assert scene.story(old).order() == [*NO_PLACE, "evict LastMoment"]
    assert scene.gone_at(old) == gone_at


@pytest.mark.parametrize("latency", [0.2, 1.0, 1.5, 2.0, 3.0])
def test_an_api_server_that_is_slow_to_answer_is_told_in_time_and_not_much_earlier(
    make_scene: MakeScene, latency: float
) -> None:
    """Its answers take so long, and an invocation that knows nothing yet many of them.

    The first shows how long the others take to stop, and a majority stands last.
    """
    scene = make_scene(options=replace(CALM, latency=seconds(latency)))
    going = scene.given(deployment("stuck", 5), settle=30)

    scene.interrupt("s1").run(until=118)

    first, second, *last = sorted(map(scene.gone_at, going))
    assert 83 <= first <= 85
    assert 88 <= second <= 90
    assert all(109 <= at <= 115 for at in last)


@pytest.mark.parametrize(
    "budgets",
    [
        [budget("rigid", minAvailable=3)],
        [budget("first", "rigid", minAvailable=1), budget("second", "rigid", minAvailable=1)],
    ],
    ids=["one that allows none", "two on one pod"],
)
def test_a_budget_that_refuses_is_overruled_at_the_last_moment_and_not_before(
    scene: Scene, budgets: list[Manifest]
) -> None:
    (old,) = scene.given(deployment("rigid"), *budgets, spare="o1")

    scene.interrupt("s1").run(until=130)

    assert scene.story(old).order() == [
        *BEGUN,
        "evict ReplacementAvailable",
        "evict LastMoment",
        "delete BudgetRefusedAtLastMoment",
    ]
    assert scene.gone_at(old) == 88.9
    assert scene.lowest("rigid") == 1


def test_a_refused_eviction_is_tried_again_ever_more_rarely(scene: Scene) -> None:
    (old,) = scene.given(deployment("rigid"), budget("rigid", minAvailable=3), spare="o1")

    scene.interrupt("s1").run(until=55)

    tries = [sent.at for sent in scene.writes if sent.name == old and isinstance(sent.write, Evict)]
    pauses = [round(later - at, 1) for at, later in itertools.pairwise(tries)]
    assert pauses[:8] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 18.0]
    assert scene.recorder.total("EvictionsRefused") == len(tries)


def test_a_pod_that_its_owner_wants_to_stay_dies_with_its_node(scene: Scene) -> None:
    stays = {names.AT_DEADLINE: "leave"}
    (old,) = scene.given(deployment("stays", notes=stays), budget("stays", minAvailable=3))

    scene.interrupt("s1").run(until=119)

    assert scene.story(old).order() == [*NO_PLACE, "evict LastMoment", "leave AtDeadlineLeave"]
    assert [pod.name for pod in scene.pods("stays", "s1")] == [old]
    assert not [sent for sent in scene.writes if isinstance(sent.write, Delete)]


def test_a_job_sees_a_disruption_though_its_budget_refused_the_eviction(scene: Scene) -> None:
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    policy = {"rules": [*rules, {"action": "FailJob", "onExitCodes": {}}]}
    (old,) = scene.given(
        job("sums", backoffLimit=0, podFailurePolicy=policy),
        budget("sums", minAvailable=1),
        spare="o1",
    )

    scene.interrupt("s1").run(until=130)

    assert scene.story(old) == [
        "1.0 wait JobMayFinish",
        "88.9 evict LastMoment",
        "88.9 set-condition JobCountsFailures",
        "88.9 delete BudgetRefusedAtLastMoment",
    ]
    (found,) = scene.cluster.objects("Job")
    assert found["status"].get("failed", 0) == 0
    assert len(scene.pods("sums", "o1")) == 1


def test_a_job_that_asks_has_until_the_end_of_its_node_for_its_checkpoint(scene: Scene) -> None:
    (old,) = scene.given(job("sums", pod={"annotations": {names.NODE_ENDS_AT: ""}}), spare="o1")

    scene.interrupt("s1").run(until=130)

    assert scene.story(old) == [
        "1.0 tell NodeEndTold",
        "1.0 wait JobMayFinish",
        "1.0 set-condition NodeEndTold",
        "88.9 evict LastMoment",
    ]


def test_many_last_moments_come_earlier_by_what_their_evictions_take(
    make_scene: MakeScene,
) -> None:
    scene = make_scene()
    old = scene.given(deployment("many", 90, pod={"grace": 30}), room={"s1": "40"})

    scene.interrupt("s1").run(until=130)

    gone = sorted(scene.gone_at(name) for name in old)
    assert gone[0] == 83.8  # shows how long the others take to stop
    assert (gone[1], gone[43]) == (88.1, 88.8)
    assert (gone[44], gone[-1]) == (113.1, 113.9)  # A majority stands last.


@pytest.mark.parametrize("work", [84.0, 86.0, 87.5])
def test_a_pod_whose_last_moment_comes_between_two_invocations_goes_before_that(
    make_scene: MakeScene, work: float
) -> None:
    """Requests take 0.7 s each: the next invocation knows what there is only after some."""
    scene = make_scene(work=seconds(work), options=replace(CALM, latency=seconds(0.7)))
    (old,) = scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=130)
    assert 80 < scene.gone_at(old) <= 90


KEPT: Manifest = {"annotations": {names.AT_DEADLINE: "leave"}}


@pytest.mark.parametrize("kept", [job("kept", pod=KEPT), bare_pod("kept", **KEPT)])
def test_a_pod_kept_to_the_end_is_not_evicted_any_more(scene: Scene, kept: Manifest) -> None:
    scene.given(kept, budget("kept", minAvailable=1), spare="o1")

    scene.interrupt("s1", action="stop").run(until=400)

    tries = [sent.at for sent in scene.writes if isinstance(sent.write, Evict)]
    assert 120 < max(tries) < 190
    assert scene.is_quiet
    assert scene.pods("kept", "s1")


STUBBORN: Manifest = {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}
"""Nor does the cluster take it from a node that is off."""


@pytest.mark.parametrize(
    "kept",
    [
        job("kept", pod=KEPT | STUBBORN),
        stateful_set("kept", 1, pod=KEPT | STUBBORN),
        deployment(
            "kept",
            2,
            pod=STUBBORN | {"annotations": {**KEPT["annotations"], names.HANDOVER: "never"}},
        ),
    ],
    ids=["at its last moment", "by ordinal", "rationed"],
)
def test_a_pod_kept_to_the_end_is_not_read_any_more(scene: Scene, kept: Manifest) -> None:
    scene.given(kept, budget("kept", minAvailable=3), spare="o1")
    scene.interrupt("s1", action="stop").run(until=600)
    assert scene.is_quiet


def test_a_released_pod_that_was_kept_to_the_end_goes_back_to_its_owner(scene: Scene) -> None:
    """Its machine is off, and known to be: its ReplicaSet deletes it, not its replacement."""
    (old,) = scene.given(deployment("kept", pod=KEPT), budget("kept", minAvailable=3), spare="o1")

    scene.interrupt("s1", action="stop").run(until=400)

    assert scene.story(old)[-1].endswith("roll-back AtDeadlineLeave")
    assert not any(pod.released for pod in scene.pods("kept"))
    assert [pod.leaving for pod in scene.pods("kept", "s1")] == [True]
    assert [pod.ready and not pod.leaving for pod in scene.pods("kept", "o1")] == [True]
    assert scene.lowest("kept") == 1
