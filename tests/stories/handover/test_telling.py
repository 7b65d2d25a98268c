"""An interruption is told of when it begins and when it is over."""

from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.adapters.telemetry.decision_log import count_record, record
from evenkeel.errors import ForbiddenError, NotificationError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.telling import Telling
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.interruption import QUIET
from evenkeel.model.metrics import Metric
from evenkeel.model.notification import Notification
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from evenkeel.settings import Mode
from evenkeel.settings.handover import Notify
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Incident
from tests.kit.asking import asks
from tests.kit.held import held_by
from tests.kit.manifests import RECREATE, deployment, job, stateful_set
from tests.kit.scene import CALM, CLUSTER, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import drain, found

OVER = 120 + QUIET.total_seconds() + 65
"""By then what began at once is over, by the deadline of its node, and the schedule came."""

WORKLOADS = (
    deployment("web", 3),
    stateful_set("db", 2),
    deployment("one", **RECREATE),
)


def told(scene: Scene) -> list[str]:
    """What was told of, in order."""
    return [str(each.phase) for each in scene.notifications.sent]


def last(scene: Scene) -> Notification:
    """What was told of last."""
    return scene.notifications.sent[-1]


def account(scene: Scene) -> Incident:
    """What ``evenkeel history`` makes of the log."""
    start = scene.at(0)
    decisions = [
        record(each, start + timedelta(seconds=at), CLUSTER, "act") for at, each in scene.told()
    ]
    counts = [count_record(each, CLUSTER) for each in scene.recorder.pod_counts]
    found = incident.of([*decisions, *counts])
    assert found is not None
    return found


def agree(document: Notification, found: Incident) -> None:
    """An account that is told says what the log says."""
    low = [each for each in found.workloads if each.dipped]
    assert document.nodes == len([node for node in found.nodes if node.pods])
    assert document.pods == len(found.to_move)
    assert document.late == sum(pod.is_late for pod in found.to_move)
    assert document.below == len(low)
    assert document.at_zero == sum(each.was_at_zero for each in low)
    shown = {each.name: each.lowest for each in document.workloads}
    assert shown == {each.subject.name: each.lowest for each in low}


def test_one_that_begins_is_told_within_seconds_and_its_end_once_it_is_quiet(scene: Scene) -> None:
    scene.given(*WORKLOADS, spare="o1")
    scene.interrupt("s1").run(until=5)
    (began,) = scene.notifications.sent
    assert (began.phase, began.pods, began.node_names) == ("began", 6, ("s1",))
    assert began.deadline == scene.at(120)

    scene.run(until=120 + QUIET.total_seconds() - 1)
    assert told(scene) == ["began"]
    scene.run(until=OVER)
    assert told(scene) == ["began", "over"]
    assert last(scene).id == began.id
    scene.run(until=3 * OVER)
    assert told(scene) == ["began", "over"]


def test_its_account_is_that_of_the_log(scene: Scene) -> None:
    scene.given(*WORKLOADS, spare="o1")
    scene.interrupt("s1").run(until=OVER)
    agree(last(scene), account(scene))
    assert last(scene).text == (
        "scene: the interruption of 2026-11-21T12:01:01Z is over: 1 node (s1), 6 pods went, none of"
        " them late; 2 workloads had fewer pods than wanted, 1 of them none: default/one 0 of 1,"
        " default/db 1 of 2."
    )


def test_pods_that_go_too_late_are_told_and_workloads_that_stay_short(scene: Scene) -> None:
    scene.given(deployment("web", 3), job("batch"))
    scene.interrupt("s1").run(until=OVER)
    agree(last(scene), account(scene))
    assert last(scene).late == 3
    assert "3 of them late" in last(scene).text
    assert "default/web 0 of 3, now 0" in last(scene).text


def test_a_workload_that_is_scaled_after_its_dip_is_told_as_low_as_it_was(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", room={"s": "100m"})
    scene.later(200, lambda: scene.cluster.scale("Deployment", "web", "default", 1))
    scene.interrupt("s1").run(until=OVER)
    agree(last(scene), account(scene))
    assert "1 workload had fewer pods than wanted: default/web 1 of 2, now 1." in last(scene).text


def test_a_node_that_is_gone_before_its_time_loses_pods_late(scene: Scene) -> None:
    scene.given(deployment("web", 2))
    scene.interrupt("s1", carried_out=False).later(10, lambda: scene.take("s1"))
    scene.run(until=OVER + 60)
    agree(last(scene), account(scene))
    assert (last(scene).pods, last(scene).late) == (2, 2)


def test_a_storm_in_waves_is_one(scene: Scene) -> None:
    scene.given(deployment("web", 6), on="s1 s2 s3", spare="o1 o2")
    scene.interrupt("s1").run(until=40)
    scene.interrupt("s2").run(until=200)
    scene.interrupt("s3").run(until=200 + OVER)
    assert told(scene) == ["began", "over"]
    assert last(scene).nodes == 3
    assert last(scene).pods == 6


def test_the_next_one_is_another_one(scene: Scene) -> None:
    scene.given(deployment("web", 6), on="s1 s2", spare="o1")
    scene.interrupt("s1").run(until=OVER)
    scene.interrupt("s2").run(until=2 * OVER)
    assert told(scene) == ["began", "over", "began", "over"]
    assert len({each.id for each in scene.notifications.sent}) == 2
    assert [each.nodes for each in scene.notifications.sent] == [1, 1, 1, 1]


def test_a_node_without_pods_that_have_to_move_is_none(scene: Scene) -> None:
    scene.given(deployment("web"), on="o1", spare="s1")
    scene.interrupt("s1").run(until=OVER)
    assert told(scene) == []


def test_a_hint_alone_is_none_until_pods_move_for_it(make_scene: MakeScene) -> None:
    waits = make_scene(rebalance_share=0)
    waits.given(deployment("web"), spare="o1")
    waits.recommend("s1").run(until=OVER)
    assert told(waits) == []

    moves = make_scene(rebalance_share=1)
    moves.given(deployment("web", 2), spare="o1")
    moves.recommend("s1").run(until=OVER)
    assert told(moves) == ["began", "over"]
    began, over = moves.notifications.sent
    assert began.deadline is None
    assert (over.nodes, over.pods, over.late) == (1, 2, 0)


def test_in_observe_mode_nothing_is_told_unless_somebody_asked(make_scene: MakeScene) -> None:
    silent = make_scene(mode=Mode.OBSERVE)
    silent.given(deployment("web"))
    silent.interrupt("s1").run(until=OVER)
    assert told(silent) == []

    asked = make_scene(mode=Mode.OBSERVE, notify=Notify.ALWAYS)
    asked.given(deployment("web"))
    asked.interrupt("s1").run(until=OVER)
    assert told(asked) == ["began"]
    assert last(asked).text.endswith("Nothing is done about it: the mode is observe.")
    assert asked.cluster.objects("Lease") == []


def test_nothing_is_told_or_noted_where_nobody_wants_it(make_scene: MakeScene) -> None:
    scene = make_scene(notify=Notify.NEVER)
    scene.given(deployment("web"), spare="o1")
    scene.interrupt("s1").run(until=OVER)
    assert told(scene) == []
    assert not found(scene)["metadata"]["annotations"].get(names.INTERRUPTION)


def test_what_nobody_takes_is_told_later(scene: Scene) -> None:
    scene.given(*WORKLOADS, spare="o1")
    scene.notifications.fail(NotificationError("refused"))
    scene.interrupt("s1").run(until=OVER + 1800)
    assert told(scene) == []
    assert scene.recorder.total(Metric.NOTIFICATIONS_FAILED) == len(scene.notifications.tried)
    assert len(scene.notifications.tried) <= OVER + 1800 // 30

    scene.notifications.fail(None)
    scene.run(until=OVER + 1900)
    assert told(scene) == ["began", "over"]
    agree(last(scene), account(scene))


def test_who_hangs_holds_no_pod_up(make_scene: MakeScene) -> None:
    slow = make_scene()
    (pod,) = slow.given(deployment("one"), spare="o1")
    slow.notifications.fail(NotificationError("timed out"), after=timedelta(seconds=20))
    slow.interrupt("s1").run(until=60)
    assert slow.notifications.tried

    calm = make_scene()
    (other,) = calm.given(deployment("one"), spare="o1")
    calm.interrupt("s1").run(until=60)
    assert slow.story(pod) == calm.story(other)


@pytest.mark.parametrize("at", [1.5, 3, 4, 5, 8, 20])
def test_an_invocation_that_is_killed_has_the_next_one_tell(
    make_scene: MakeScene, at: float
) -> None:
    scene = make_scene(options=replace(CALM, start_seconds=(15.0, 15.0)))
    scene.given(deployment("web", 4), spare="o1")
    scene.later(at, scene.crash)
    scene.interrupt("s1").run(until=OVER + 60)
    assert told(scene) in (["began", "over"], ["began", "began", "over"])
    assert len({each.id for each in scene.notifications.sent}) == 1
    assert last(scene).pods == 4


def test_one_that_is_killed_between_telling_and_noting_tells_twice_at_most(scene: Scene) -> None:
    scene.given(deployment("web", 4), spare="o1")

    def kill_after(notification: Notification) -> None:
        took(notification)
        if len(scene.notifications.sent) == 1:
            scene.crash()

    took, scene.notifications.send = scene.notifications.send, kill_after  # type: ignore[method-assign]
    scene.interrupt("s1").run(until=OVER + 60)
    assert told(scene) == ["began", "began", "over"]
    assert len({each.id for each in scene.notifications.sent}) == 1


def test_number_0_tells_of_a_storm_that_is_shared(make_scene: MakeScene) -> None:
    scene = make_scene(pods_each=8, options=replace(CALM, start_seconds=(10.0, 10.0)))
    apps = [deployment(f"w{number}", 1 + number % 3) for number in range(11)]
    scene.given(*apps, deployment("re", **RECREATE), on="s1 s2 s3 s4", spare="o1 o2 o3 o4")
    scene.interrupt("s1", "s2", "s3", "s4").run(until=OVER)
    assert len(scene.cluster.objects("Lease")) == 3
    assert told(scene) == ["began", "over"]
    assert scene.notifications.sent[0].pods == 22
    agree(last(scene), account(scene))
    assert last(scene).pods == 22


def test_a_note_that_somebody_spoilt_is_left_out(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="s1 s2", spare="o1")
    scene.interrupt("s1").run(until=70)
    spoilt = {"metadata": {"annotations": {names.INTERRUPTION: '{"open": 3}'}}}
    scene.cluster.perform([Patch(Lease, names.HANDOVER_LEASE, spoilt, names.SYSTEM_NAMESPACE)])
    scene.interrupt("s2").run(until=70 + OVER)
    assert told(scene) == ["began", "began", "over"]


def test_without_a_lease_nobody_is_told(scene: Scene) -> None:
    """The alarm about the Lease says so."""
    scene.given(deployment("web"), spare="o1")
    scene.fail(ForbiddenError("no Lease"), asks(of=Lease))
    scene.interrupt("s1").run(until=OVER)
    assert told(scene) == []
    assert scene.recorder.total(Metric.LEASE_REFUSED)


def test_who_drains_a_node_on_purpose_knows(scene: Scene) -> None:
    scene.given(deployment("web"), spare="o1")
    drain(scene, "s1")
    scene.run(until=OVER)
    assert scene.pods("web", "o1")
    assert told(scene) == []


def test_what_an_invocation_has_read_is_let_go_at_its_end(scene: Scene) -> None:
    """The next one may come in hours, and each of six environments would keep a storm's pods."""
    scene.given(deployment("web", 3), spare="o1")
    scene.interrupt("s1").run(until=600)
    assert scene.is_quiet
    (_, handovers) = scene.environments
    held = [*held_by(*handovers.idle)]
    assert any(isinstance(each, Telling) for each in held), "its memory is there"
    assert not any(isinstance(each, View | Pod) for each in held)
