"""Scheduled changes: a hint until a quarter of an hour before, then a dying node."""

import pytest

from evenkeel.model.request import Evict, Patch
from tests.kit.manifests import bare_pod, budget, deployment, stateful_set
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene

HOUR = 3_600
DAY = 24 * HOUR


@pytest.mark.parametrize("node", ["s1", "o2"], ids=["spot", "on-demand"])
def test_what_can_be_handed_over_is_and_the_rest_goes_by_the_start(scene: Scene, node: str) -> None:
    scene.given(deployment("web", 2), bare_pod("alone"), on=node, spare="o1")
    scene.schedule_change(node, start=HOUR).run(until=60)
    assert scene.pods("web", node) == []
    assert len(scene.pods("alone", node)) == 1
    assert scene.node(node).spec.unschedulable
    notice = scene.notice(node)
    assert notice.is_hint

    scene.later(HOUR, lambda: scene.take(node))
    scene.run(until=HOUR - 15 * 60 - 1)
    assert len(scene.pods("alone", node)) == 1
    scene.run(until=HOUR - 14 * 60)
    notice = scene.notice(node)
    assert not notice.is_hint
    scene.run(until=HOUR + 60)

    assert HOUR - 60 < scene.gone_at("alone") < HOUR
    assert scene.lowest("web") == 2
    assert scene.is_quiet


def test_a_budget_that_allows_nothing_holds_until_the_change_is_near(scene: Scene) -> None:
    scene.given(deployment("web", 2), budget("web", maxUnavailable=0), on="n1", spare="o1")
    scene.schedule_change("n1", start=HOUR).run(until=HOUR - 15 * 60 - 1)
    assert len(scene.pods("web", "n1")) == 2
    assert not [sent for sent in scene.writes if isinstance(sent.write, Evict)]

    scene.later(HOUR, lambda: scene.take("n1"))
    scene.run(until=HOUR + 60)

    assert scene.pods("web", "n1") == []
    assert len(scene.pods("web", "o1")) == 2
    assert scene.lowest("web") == 2


def test_changes_days_ahead_keep_no_invocation_alive_and_cordon_a_day_before(scene: Scene) -> None:
    scene.given(deployment("web", 1), stateful_set("db", 2), on="n1", spare="o1")
    scene.schedule_change("n1", start=DAY + 2 * HOUR).run(until=HOUR)
    assert scene.is_quiet
    assert set(scene.outcomes()) == {"Quiet"}
    assert is_marked(scene.node("n1"))
    assert not scene.node("n1").spec.unschedulable

    scene.run(until=2 * HOUR - 15 * 60 + 90)

    assert scene.node("n1").spec.unschedulable
    assert scene.pods("web", "n1") == []
    assert scene.pods("db", "n1") == []
    assert scene.is_quiet
    assert scene.lowest("web") == 1


def test_a_change_that_is_closed_gives_the_node_back(scene: Scene) -> None:
    scene.given(deployment("web", 1), deployment("stuck", pod={"cpu": "4"}), on="n1", spare="o1")
    scene.schedule_change("n1", start=HOUR).run(until=60)
    assert scene.node("n1").spec.unschedulable

    scene.schedule_change("n1", start=HOUR, statusCode="closed").run(until=120)

    assert not scene.node("n1").spec.unschedulable
    assert not is_marked(scene.node("n1"))
    assert not any(pod.released for pod in scene.pods("stuck"))
    scene.redeliver()
    scene.run(until=HOUR + 300)
    assert not [s for s in scene.written("n1", after=121) if isinstance(s.write, Patch)]


def test_a_node_that_was_only_rebooted_serves_again(scene: Scene) -> None:
    scene.given(deployment("web", 1), on="n1", spare="o1")
    code = "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED"
    scene.schedule_change("n1", start=HOUR, eventTypeCode=code).run(until=HOUR + 180)
    assert not is_marked(scene.node("n1"))
    assert not scene.node("n1").spec.unschedulable
    assert scene.lowest("web") == 1


def test_of_many_changes_a_few_are_followed_at_a_time_until_they_are_near(scene: Scene) -> None:
    names = [f"n{number}" for number in range(5)]
    scene.given(on=" ".join([*names, "o1"]))
    scene.schedule_change(*names, start=HOUR).run(until=HOUR - 15 * 60 - 1)
    assert [scene.node(name).spec.unschedulable for name in names].count(True) == 1
    scene.run(until=HOUR - 14 * 60)
    assert all(scene.node(name).spec.unschedulable for name in names)
