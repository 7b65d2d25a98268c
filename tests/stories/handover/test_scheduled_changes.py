"""Scheduled changes: a hint until a quarter of an hour before, then a dying node."""

from email.utils import format_datetime

import pytest

from evenkeel.model.request import Evict, Patch
from tests.kit.manifests import bare_pod, budget, deployment, stateful_set
from tests.kit.nodes import is_drained, is_marked
from tests.kit.scene import Scene

HOUR = 3_600
DAY = 24 * HOUR


@pytest.mark.parametrize("node", ["s1", "o2"], ids=["spot", "on-demand"])
def test_what_can_be_handed_over_is_and_the_rest_goes_by_the_start(scene: Scene, node: str) -> None:
    scene.given(deployment("web", 2), bare_pod("alone"), on=node, spare="o1")
    scene.schedule_change(node, start=HOUR).run(until=60)
    assert scene.pods("web", node) == []
    assert len(scene.pods("alone", node)) == 1
    assert is_drained(scene.node(node))
    assert not scene.node(node).spec.unschedulable
    notice = scene.notice(node)
    assert notice.is_hint

    scene.later(HOUR, lambda: scene.take(node))
    scene.run(until=HOUR - 15 * 60 - 1)
    assert len(scene.pods("alone", node)) == 1
    scene.run(until=HOUR - 14 * 60)
    notice = scene.notice(node)
    assert not notice.is_hint
    assert scene.node(node).spec.unschedulable
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


def test_changes_days_ahead_keep_no_invocation_alive_and_drain_a_day_before(scene: Scene) -> None:
    scene.given(deployment("web", 1), stateful_set("db", 2), on="n1", spare="o1")
    scene.schedule_change("n1", start=DAY + 2 * HOUR).run(until=HOUR)
    assert scene.is_quiet
    assert set(scene.outcomes()) == {"Quiet"}
    assert is_marked(scene.node("n1"))
    assert not is_drained(scene.node("n1"))

    scene.run(until=2 * HOUR - 15 * 60 + 90)

    assert is_drained(scene.node("n1"))
    assert scene.pods("web", "n1") == []
    assert scene.pods("db", "n1") == []
    assert scene.is_quiet
    assert scene.lowest("web") == 1


def test_a_change_that_is_closed_gives_the_node_back(scene: Scene) -> None:
    scene.given(deployment("web", 1), deployment("stuck", pod={"cpu": "4"}), on="n1", spare="o1")
    scene.schedule_change("n1", start=HOUR).run(until=60)
    assert is_drained(scene.node("n1"))

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


REBOOT = "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED"


def at_hours(scene: Scene, hours: float) -> str:
    """A time of the story, as AWS Health writes it."""
    return format_datetime(scene.at(hours * HOUR), usegmt=True)


def start_anew(scene: Scene, node: str, boot_id: str) -> None:
    """The node's kubelet says that its machine was started again."""
    status = {"status": {"nodeInfo": {"bootID": boot_id}}}
    scene.cluster.server.patch("Node", ("", node), status, "status")


def test_the_node_stays_empty_until_its_change_is_to_end(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="n1", spare="o1")
    end = at_hours(scene, 3)
    scene.schedule_change("n1", start=HOUR, endTime=end, eventTypeCode=REBOOT)
    scene.run(until=3 * HOUR + 59)
    assert is_marked(scene.node("n1"))
    assert scene.node("n1").spec.unschedulable
    assert scene.pods("web", "n1") == []
    assert scene.moving.running == scene.schedule.running == []
    scene.run(until=3 * HOUR + 180)
    assert not is_marked(scene.node("n1"))
    assert not scene.node("n1").spec.unschedulable
    assert scene.lowest("web") == 2
    assert scene.is_quiet


@pytest.mark.parametrize("stopped", [False, True], ids=["rebooted", "stopped and started"])
def test_the_node_serves_again_once_its_machine_was_started_anew(
    scene: Scene, *, stopped: bool
) -> None:
    scene.given(deployment("web", 2), on="n1", spare="o1")
    start_anew(scene, "n1", "first")
    scene.schedule_change("n1", start=HOUR, endTime=at_hours(scene, 6), eventTypeCode=REBOOT)
    scene.run(until=2 * HOUR)
    assert is_marked(scene.node("n1"))
    instance_id = scene.node("n1").instance_id
    if stopped:
        scene.instances.set_state(instance_id, "stopped")
        scene.run(until=2 * HOUR + 300)
        assert is_marked(scene.node("n1"))
        scene.instances.set_state(instance_id, "running")
    start_anew(scene, "n1", "second")
    scene.run(until=2 * HOUR + 500)
    assert not is_marked(scene.node("n1"))
    assert not scene.node("n1").spec.unschedulable


def test_a_change_that_is_told_after_its_start_moves_pods_before_its_end(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="n1", spare="o1")
    scene.run(until=2 * HOUR)
    scene.schedule_change("n1", start=HOUR, endTime=at_hours(scene, 3)).run(until=2 * HOUR + 90)
    assert not scene.notice("n1").is_hint
    assert scene.pods("web", "n1") == []
    assert scene.lowest("web") == 2


def test_of_many_changes_a_few_are_followed_at_a_time_until_they_are_near(scene: Scene) -> None:
    names = [f"n{number}" for number in range(5)]
    scene.given(on=" ".join([*names, "o1"]))
    scene.schedule_change(*names, start=HOUR).run(until=HOUR - 15 * 60 - 1)
    assert [is_drained(scene.node(name)) for name in names].count(True) == 1
    scene.run(until=HOUR - 14 * 60)
    assert all(scene.node(name).spec.unschedulable for name in names)
