"""The look at the plans finds what it is for: a change that tells nobody."""

from dataclasses import replace

import pytest

from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import Queue
from evenkeel.model.pod import Pod
from tests.property.scenes import Kind, NodePlan, NoticePlan, Scene, WorkloadPlan
from tests.property.world import play

SCENE = Scene(
    nodes=(NodePlan(), NodePlan(spot=False)),
    workloads=(WorkloadPlan(replicas=2, ready=10),),
    notices=(NoticePlan(),),
)


def test_a_plan_that_is_made_anew_without_news_is_the_plan_that_is_kept() -> None:
    assert not play(SCENE).forgotten


def test_it_is_not_where_a_change_tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    update = Pods.update

    def tell_nobody(self: Pods, pod: Pod, *, urgent: bool = False) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Queue, "add", lambda *_, **__: None)
            update(self, pod, urgent=urgent)

    monkeypatch.setattr(Pods, "update", tell_nobody)

    assert play(SCENE).forgotten


def test_nor_where_a_time_comes_and_nothing_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = WorkloadPlan(kind=Kind.STATEFUL_SET, replicas=4, min_ready=7)
    monkeypatch.setattr(Queue, "again", lambda *_: None)

    assert play(replace(SCENE, workloads=(slow,))).forgotten
