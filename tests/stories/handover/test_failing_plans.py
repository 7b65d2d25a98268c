"""What goes wrong in one workload's plan stays with that workload."""

from datetime import datetime

import pytest

from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.flows.drain.workload.workload_plan import WorkloadPlan
from evenkeel.model.decision import Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from tests.kit.manifests import daemon_set, deployment
from tests.kit.scene import Scene

END_OF_TIME = 1_000.0


@pytest.fixture
def _levels() -> None:
    """A plan that cannot be made is compared with no other."""


def begin(scene: Scene) -> None:
    scene.given(deployment("good", 2), deployment("bad", 2), spare="o1")


def fail(scene: Scene, monkeypatch: pytest.MonkeyPatch, until: float = END_OF_TIME) -> None:
    """No plan can be made for the pods of one Deployment."""
    plan = Planner.plan

    def fail(self: Planner, key: str, now: datetime) -> WorkloadPlan:
        pods = self._view.pods.members.of(key)
        if scene.seconds < until and any(pod.name.startswith("bad") for pod in pods):
            raise OverflowError("date value out of range")
        return plan(self, key, now)

    monkeypatch.setattr(Planner, "plan", fail)


def assert_that_the_others_are_handed_over(scene: Scene) -> None:
    scene.interrupt("s1").run(until=110)

    assert len(scene.pods("good", "o1")) == 2
    assert scene.lowest("good") == 2


def test_the_others_are_handed_over_and_its_own_pods_go_at_their_last_moment(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(scene)
    fail(scene, monkeypatch)
    bad = [pod.name for pod in scene.pods("bad")]

    assert_that_the_others_are_handed_over(scene)
    assert [scene.story(name) for name in bad] == [["88.9 evict LastMoment"]] * 2
    assert scene.recorder.total(Metric.PLANS_FAILED) >= 10


def test_it_is_planned_for_again_and_handed_over_once_that_works(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(scene)
    fail(scene, monkeypatch, until=30)

    scene.interrupt("s1").run(until=60)

    assert len(scene.pods("bad", "o1")) == 2
    assert scene.lowest("bad") == 2


def test_a_pod_that_belongs_to_its_node_stays_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.given(daemon_set("bad"), spare="o1")
    scene.interrupt("s1")
    fail(scene, monkeypatch)
    (pod, *_) = scene.pods("bad", "s1")
    scene.run(until=110)

    assert not scene.story(pod.name)


def test_what_cannot_be_put_on_the_agenda_is_left_out_of_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(scene)
    evict_by = Deadline.evict_by

    def fail(self: Deadline, pod: Pod, *, is_replaced: bool = True) -> datetime:
        if pod.name.startswith("bad"):
            raise OverflowError("date value out of range")
        return evict_by(self, pod, is_replaced=is_replaced)

    monkeypatch.setattr(Deadline, "evict_by", fail)
    assert_that_the_others_are_handed_over(scene)


def test_nor_do_the_others_wait_where_nothing_at_all_can_be_said_of_a_workload(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(scene)
    fail(scene, monkeypatch)
    moments = Planner.last_moments

    def fail_again(self: Planner, key: str, now: datetime, again_at: datetime) -> WorkloadPlan:
        if any(pod.name.startswith("bad") for pod in self._view.pods.members.of(key)):
            raise OverflowError("date value out of range")
        return moments(self, key, now, again_at)

    monkeypatch.setattr(Planner, "last_moments", fail_again)
    assert_that_the_others_are_handed_over(scene)


def test_its_node_stays_behind_load_balancers_until_its_pods_are_about_to_go(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(scene)
    fail(scene, monkeypatch)
    scene.interrupt("s1").run(until=110)

    decided = zip(scene.recorder.decisions, scene.recorder.times, strict=True)
    (excluded, *_) = [at for decision, at in decided if decision.verb is Verb.EXCLUDE]
    assert excluded == pytest.approx(60, abs=1)
