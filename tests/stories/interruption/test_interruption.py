"""Notices through the real handler: what is marked, what comes back, what wakes the handover."""

import itertools
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    ForbiddenError,
    InstancesError,
    InvalidError,
    MalformedEventError,
    NotDoneError,
    QueueError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind, WakeUp
from evenkeel.model.request import Get, List, Patch, Request
from evenkeel.settings import Mode
from evenkeel_hosting.events import batch_event
from tests.kit.asking import asks, failing, noting, once
from tests.kit.builders import NOW
from tests.kit.manifests import PAUSED, resource
from tests.stories.interruption.scene import (
    CLUSTER,
    THEIRS,
    Scene,
    event,
    instance_id,
    state_change,
    warning,
)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def recommendation(number: int, *, at: datetime = NOW) -> dict[str, Any]:
    return event("EC2 Instance Rebalance Recommendation", number, at=at)


# What is marked.


def test_a_warning_marks_and_cordons_its_node_and_wakes_the_handover(scene: Scene) -> None:
    assert scene.deliver(warning(1)) == []

    node = scene.node("n1")
    assert node.spec.unschedulable
    assert node.has_taint(names.DOOMED)
    notice = scene.notice("n1")
    assert notice.kind is NoticeKind.INTERRUPTION
    assert notice.deadline == NOW + timedelta(seconds=120)
    assert scene.wake_ups.receive() == []
    assert scene.wake_up() == WakeUp(reason="NodesMarked")
    assert scene.recorder.total("NodesCordoned") == scene.recorder.total("NodesMarked") == 1
    assert scene.recorder.total("NoticesReceived") == 1
    assert scene.recorder.flushes == 1
    assert [n for n in range(1, 6) if mark.read(scene.node(f"n{n}"))] == [1], "and no other"


def test_a_batch_is_one_question_to_ec2_and_one_wake_up(scene: Scene) -> None:
    assert scene.deliver(*(warning(number) for number in range(1, 6))) == []
    assert len(scene.instances.calls) == 1
    assert all(scene.node(f"n{number}").spec.unschedulable for number in range(1, 6))
    assert scene.wake_up() is not None


def test_the_delay_of_a_notice_is_measured_from_the_event(scene: Scene) -> None:
    scene.clock.advance(timedelta(seconds=3))
    scene.deliver(warning(1))
    (delay,) = scene.recorder.values["NoticeDelay"]
    assert 3_000 <= delay < 3_200


def test_a_recommendation_is_noted_without_a_cordon(scene: Scene) -> None:
    scene.deliver(recommendation(1))
    node = scene.node("n1")
    assert node.metadata.labels[names.DOOMED] == "rebalance"
    assert not node.spec.unschedulable
    assert scene.recorder.total("NodesCordoned") == 0
    assert scene.recorder.total("NodesMarked") == 1
    assert scene.wake_up() is not None


@pytest.mark.parametrize("state", ["stopping", "shutting-down", "stopped", "terminated"])
def test_a_state_change_marks_its_node_with_a_deadline_of_now(scene: Scene, state: str) -> None:
    """EC2 has forgotten the DNS name of a terminated instance."""
    scene.instances.set_state(instance_id(1), state)
    assert scene.deliver(state_change(1, state)) == []
    assert scene.notice("n1").deadline == NOW


def test_several_notices_for_one_node_in_a_batch_are_one_write(scene: Scene) -> None:
    assert scene.deliver(recommendation(1), warning(1), warning(1)) == []
    assert len(scene.writes()) == 1
    notice = scene.notice("n1")
    assert notice.kind is NoticeKind.INTERRUPTION
    assert sorted(scene.reasons()) == ["AlreadyMarked", "AlreadyMarked", "SpotInterruption"]


def test_a_duplicate_writes_nothing_and_still_wakes_the_handover(scene: Scene) -> None:
    scene.deliver(warning(1))
    scene.wake_up()
    assert scene.deliver(warning(1)) == []
    assert scene.writes() == []
    assert scene.reasons() == ["AlreadyMarked"]
    assert scene.wake_up() is not None


def test_an_odd_action_is_noted(scene: Scene) -> None:
    scene.deliver(warning(1, action="teleport"))
    ((message, details),) = scene.recorder.notes
    assert "'teleport'" in message
    assert details["instance_id"] == instance_id(1)
    assert scene.node("n1").spec.unschedulable


@pytest.mark.parametrize(
    ("notice", "after", "reason"),
    [
        (recommendation(1), timedelta(minutes=15), "ExpiredRecommendation"),
        (warning(1), timedelta(minutes=5), "Outlived"),
    ],
)
def test_what_has_come_to_nothing_is_acknowledged(
    scene: Scene, notice: dict[str, Any], after: timedelta, reason: str
) -> None:
    scene.clock.advance(after)
    assert scene.deliver(notice) == []
    assert scene.writes() == []
    assert scene.reasons() == [reason]
    assert scene.wake_up() is None


# What is foreign, gone, or not there yet.


def test_another_clusters_instance_is_acknowledged_and_counted(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", tags=THEIRS)
    assert scene.deliver(warning(9)) == []
    assert scene.requests == []
    assert scene.reasons() == ["OtherCluster"]
    assert scene.recorder.total("NoticesForeign") == 1
    assert scene.wake_up() is None


def test_another_clusters_instance_is_not_ours_by_a_dns_name_of_ours(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n1", tags=THEIRS)
    scene.deliver(warning(9))
    assert not scene.node("n1").spec.unschedulable


def test_an_instance_that_ec2_does_not_know_is_acknowledged_and_counted(scene: Scene) -> None:
    assert scene.deliver(warning(9), warning(1)) == []
    assert "UnknownInstance" in scene.reasons()
    assert scene.recorder.total("NoticesForeign") == 1
    assert scene.node("n1").spec.unschedulable


def test_an_untagged_instance_without_a_node_is_acknowledged_and_counted(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", tags={})
    assert scene.deliver(warning(9)) == []
    assert scene.reasons() == ["NoNode"]
    assert scene.recorder.total("NoticesForeign") == 1


@pytest.mark.parametrize(("dns_name", "reads"), [("n9", [Get(Node, "n9")]), ("", [])])
def test_all_nodes_are_not_listed_for_an_instance_without_a_clusters_tag(
    scene: Scene, dns_name: str, reads: list[Request]
) -> None:
    """In a busy account that would be a list every ten seconds."""
    scene.add_instance(9, dns_name=dns_name, tags={"team": "batch"}, state="shutting-down")
    assert scene.deliver(state_change(9, "shutting-down")) == []
    assert scene.requests == reads
    assert scene.reasons() == ["NoNode"]


def test_an_untagged_instance_with_a_node_is_ours(scene: Scene) -> None:
    scene.add_instance(1, dns_name="n1", tags={})
    assert scene.deliver(warning(1)) == []
    assert scene.node("n1").spec.unschedulable


def test_a_node_that_took_over_the_name_of_an_older_one_is_not_touched(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n1", state="shutting-down")
    assert scene.deliver(warning(9)) == []
    assert not scene.node("n1").spec.unschedulable
    assert scene.reasons() == ["NodeGone"]
    assert scene.recorder.total("NoticesForeign") == 0


def test_a_node_under_another_name_is_found_in_the_list(scene: Scene) -> None:
    scene.add_node("custom", 7, dns_name="ip-10-0-0-7.eu-central-1.compute.internal")
    scene.clock.advance(timedelta(seconds=1))
    assert scene.deliver(warning(7)) == []
    assert scene.node("custom").spec.unschedulable


def test_a_node_without_a_provider_id_is_found_by_its_private_dns_name(scene: Scene) -> None:
    scene.add_node("bare", 7, provider_id="")
    assert scene.deliver(warning(7)) == []
    assert scene.node("bare").spec.unschedulable
    assert scene.notice("bare").instance_id == instance_id(7)
    assert scene.deliver(warning(7)) == []
    assert scene.writes() == []


@pytest.mark.parametrize("other", ["kind://docker/kind/bare", f"aws:///x/{instance_id(8)}"])
def test_a_node_that_names_another_instance_is_never_found_by_its_name(
    scene: Scene, other: str
) -> None:
    scene.add_node("bare", 7, provider_id=other)
    scene.deliver(warning(7))
    assert mark.read(scene.node("bare")) is None
    assert scene.reasons() == ["NodeBooting"]


@pytest.mark.parametrize("then", [7, 8], ids=["itself", "another"])
def test_a_node_that_gets_its_provider_id_while_it_is_marked_is_marked_if_it_is_the_instance(
    scene: Scene, then: int
) -> None:
    scene.add_node("bare", 7, provider_id="")
    spec = {"providerID": f"aws:///eu-central-1a/{instance_id(then)}"}
    noting(
        scene.cluster,
        asks(Patch),
        then=once(lambda: scene.cluster.server.patch("Node", ("", "bare"), {"spec": spec})),
    )
    assert scene.deliver(warning(7)) == []
    assert (mark.read(scene.node("bare")) is not None) == (then == 7)


def test_nodes_are_listed_at_most_once_in_ten_seconds(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9")
    lists = []
    for _ in range(3):
        scene.deliver(warning(9))
        lists.append(sum(isinstance(each, List) for each in scene.requests))
        scene.clock.advance(timedelta(seconds=4.9))
    scene.deliver(warning(9))
    lists.append(sum(isinstance(each, List) for each in scene.requests))
    assert lists == [1, 0, 0, 1]


def test_a_booting_node_is_waited_for_and_marked_when_it_is_there(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", state="pending")
    (failed,) = scene.deliver(warning(9))
    assert scene.reasons() == ["NodeBooting"]
    assert scene.recorder.total("NoticesForeign") == 0
    assert scene.comes_back_after(failed) == 5
    assert scene.wake_up() is None

    scene.clock.advance(timedelta(seconds=4))
    scene.add_node("n9", 9)

    assert scene.redeliver() == []
    assert scene.node("n9").spec.unschedulable
    assert scene.recorder.total("NoticesReceived") == 1


def test_a_booting_node_is_waited_for_no_longer_than_its_deadline(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", state="running")
    (failed,) = scene.deliver(warning(9))
    assert scene.come_again(119.5) == [failed]
    assert scene.come_again(5.1) == []
    assert scene.recorder.decisions[0].verb is Verb.ACKNOWLEDGE
    assert scene.notices.messages == []


def test_a_hibernation_waits_for_a_booting_node_too(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", state="running")
    assert len(scene.deliver(warning(9, action="hibernate"))) == 1


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            {
                "AutoScalingGroupName": "workers",
                "Service": "AWS Auto Scaling",
                "Event": "autoscaling:TEST_NOTIFICATION",
                "Time": "2026-11-21T06:00:00.000Z",
                "AccountId": "123456789012",
                "RequestId": "a8ab1f58-2bdd-4bd1-a9a8-000000000000",
            },
            "Harmless",
        ),
        (
            {
                "Type": "Notification",
                "TopicArn": "arn:aws:sns:eu-central-1:123456789012:notices",
                "Message": json.dumps(warning(1)),
            },
            "SpotInterruption",
        ),
    ],
    ids=["a test of a hook's target", "passed on by SNS"],
)
def test_what_others_put_an_envelope_around_comes_once(
    scene: Scene, message: dict[str, Any], reason: str
) -> None:
    assert scene.deliver(message) == []
    assert scene.reasons() == [reason]


# What is not true of its instance.


@pytest.mark.parametrize("notice", [warning, recommendation])
@pytest.mark.parametrize("mode", [Mode.ACT, Mode.OBSERVE])
def test_an_on_demand_node_is_left_alone_when_a_notice_is_wrong_or_forged(
    notice: Callable[[int], dict[str, Any]], mode: Mode
) -> None:
    scene = Scene(mode)
    scene.add_instance(1, dns_name="n1", lifecycle="")

    assert scene.deliver(notice(1), warning(2)) == []

    assert mark.read(scene.node("n1")) is None
    assert not scene.node("n1").spec.unschedulable
    assert scene.recorder.total("NoticesRefused") == 1
    (refused,) = (each for each in scene.recorder.decisions if each.reason == "NotSpot")
    assert (refused.verb, refused.node, refused.warning) == (Verb.ACKNOWLEDGE, "n1", True)
    assert "is on-demand" in refused.message
    assert "SpotInterruption" in scene.reasons()
    assert scene.notices.messages == []


def test_a_running_node_is_left_alone_when_a_state_change_is_wrong_or_forged(scene: Scene) -> None:
    scene.deliver(state_change(1, "stopping"))

    tries = 1
    while scene.notices.messages:
        assert scene.reasons() == ["InstanceRunning"]
        assert scene.recorder.decisions[0].verb is Verb.RETRY
        scene.clock.advance(timedelta(seconds=2.01))
        scene.redeliver()
        tries += 1

    assert 14 <= tries <= 17
    assert scene.recorder.decisions[-1].verb is Verb.ACKNOWLEDGE
    assert scene.recorder.total("NoticesRefused") == 1
    assert mark.read(scene.node("n1")) is None
    assert scene.wake_up() is None


def test_a_state_change_marks_its_node_as_soon_as_ec2_agrees(scene: Scene) -> None:
    (failed,) = scene.deliver(state_change(1, "shutting-down"))
    assert scene.comes_back_after(failed) == 2
    scene.instances.set_state(instance_id(1), "shutting-down")
    scene.clock.advance(timedelta(seconds=2))

    assert scene.redeliver() == []

    assert mark.read(scene.node("n1")) is not None
    assert scene.recorder.total("NoticesRefused") == 0


def test_an_on_demand_node_is_left_alone_while_ec2_does_not_answer(scene: Scene) -> None:
    on_demand = {"eks.amazonaws.com/capacityType": "ON_DEMAND"}
    scene.cluster.server.patch("Node", ("", "n1"), {"metadata": {"labels": on_demand}})
    scene.add_instance(1, dns_name="n1", lifecycle="")
    scene.instances.fail(InstancesError("timed out"))

    (failed,) = scene.deliver(warning(1), warning(2))

    assert mark.read(scene.node("n1")) is None
    assert scene.node("n2").spec.unschedulable
    assert scene.comes_back_after(failed) == 2
    scene.instances.fail(None)
    assert scene.come_again() == []
    assert scene.reasons() == ["NotSpot"]


def test_a_label_of_ones_own_tells_a_spot_node_where_ec2_does_not_answer() -> None:
    scene = Scene(capacity_labels=CapacityLabels(("example.org/pool",)))
    scene.cluster.server.patch(
        "Node", ("", "n1"), {"metadata": {"labels": {"example.org/pool": "spot"}}}
    )
    scene.instances.fail(InstancesError("timed out"))
    scene.deliver(warning(1), warning(2))
    assert scene.node("n1").spec.unschedulable
    assert not scene.node("n2").spec.unschedulable


# What does not answer.


def test_ec2s_silence_is_bridged_by_the_list_of_nodes(scene: Scene) -> None:
    scene.instances.fail(InstancesError("timed out"))
    (failed,) = scene.deliver(warning(1), warning(9))
    assert scene.node("n1").spec.unschedulable
    assert "NoAnswerFromEc2" in scene.reasons()
    assert scene.comes_back_after(failed) == 2
    assert scene.recorder.total("NoticesRetried") == 1

    scene.instances.fail(None)
    assert scene.come_again() == []
    assert scene.reasons() == ["UnknownInstance"]


def test_a_warning_of_a_node_marks_it_though_ec2_does_not_list_its_instance(scene: Scene) -> None:
    scene.instances.forget(instance_id(1))
    assert scene.deliver(warning(1), warning(9)) == []
    assert scene.node("n1").spec.unschedulable
    assert sorted(scene.reasons()) == ["SpotInterruption", "UnknownInstance"]
    assert scene.recorder.total("NoticesForeign") == 1


def test_a_node_of_an_instance_that_eks_manages_is_found_by_its_id(scene: Scene) -> None:
    name = instance_id(7)
    scene.add_node(name, 7)
    scene.add_instance(7, dns_name="ip-10-0-0-7.ec2.internal", operator="eks.amazonaws.com")
    assert scene.deliver(warning(7)) == []
    assert scene.node(name).spec.unschedulable
    assert not any(isinstance(each, List) for each in scene.requests)


@pytest.mark.parametrize(
    "key", ["eks:eks-cluster-name", "eks:cluster-name", "aws:eks:cluster-name"]
)
def test_each_tag_that_names_a_cluster_tells_whose_instance_it_is(scene: Scene, key: str) -> None:
    scene.add_instance(8, dns_name="n8", tags={key: "other"})
    scene.add_instance(9, dns_name="n9", tags={key: CLUSTER})
    scene.deliver(warning(8), warning(9))
    assert scene.reasons() == ["OtherCluster", "NodeBooting"]


def test_an_api_server_that_does_not_answer_gets_the_notice_again(scene: Scene) -> None:
    restore = scene.fail(UnavailableError("connection reset"))
    (failed,) = scene.deliver(warning(1))
    assert scene.comes_back_after(failed) == 2
    assert scene.reasons() == ["NoAnswerFromApiServer"]
    restore()
    assert scene.come_again() == []
    assert scene.node("n1").spec.unschedulable


@pytest.mark.parametrize(
    ("error", "delay"),
    [
        (UnavailableError("reset"), 2),
        (ForbiddenError("no patch on nodes"), 10),
        (InvalidError("a policy says no"), 10),
        (ThrottledError("busy", retry_after=7), 7),
        (ThrottledError("busy", retry_after=0.1), 2),
        (ThrottledError("busy", retry_after=600), 20),
    ],
    ids=str,
)
def test_a_refused_mark_comes_again(scene: Scene, error: ClusterError, delay: float) -> None:
    scene.fail(error, asks(Patch), times=1)
    (failed,) = scene.deliver(warning(1), warning(2))
    assert scene.comes_back_after(failed) == delay
    marked = [name for name in ("n1", "n2") if scene.node(name).spec.unschedulable]
    assert len(marked) == 1
    assert scene.wake_up() is not None
    assert scene.come_again(delay) == []
    assert all(scene.node(name).spec.unschedulable for name in ("n1", "n2"))


@pytest.mark.parametrize("undone", [True, False], ids=["undone", "refused"])
def test_a_mark_that_a_policy_does_not_let_be_is_told_and_tried_seldom(
    scene: Scene, *, undone: bool
) -> None:
    def keep(request: Any, proceed: Callable[[], Any]) -> Any:
        if not isinstance(request, Patch):
            return proceed()
        if undone:
            return scene.node(request.name)
        raise InvalidError("the platform team says no")

    attempts = noting(scene.cluster, asks(Patch))
    scene.cluster.intercept(keep)
    (failed,) = scene.deliver(warning(1))
    assert (len(attempts), scene.comes_back_after(failed)) == (1, 10)
    assert scene.reasons() == ["WriteRefused"]
    assert scene.wake_up() is None


def test_a_mark_whose_answer_was_lost_is_recognised(scene: Scene) -> None:
    lost = UnavailableError("reset after the write")
    failing(scene.cluster, lost, asks(Patch), times=1, done=True)
    assert len(scene.deliver(warning(1))) == 1
    assert scene.come_again() == []
    assert scene.writes() == []
    assert scene.wake_up() is not None


def test_a_node_that_others_write_to_is_read_and_decided_again(scene: Scene) -> None:
    beats = iter("abc")

    def interfere() -> None:
        for beat in itertools.islice(beats, 1):
            spec = {"unschedulable": True}
            scene.cluster.apply(resource("Node", "n1", labels={"beat": beat}, spec=spec))

    noting(scene.cluster, asks(Patch), then=interfere)
    assert scene.deliver(warning(1)) == []
    assert scene.notice("n1").cordoned_before


def test_a_node_that_never_stands_still_is_tried_again_later(scene: Scene) -> None:
    number = itertools.count()

    def change() -> None:
        body = {"metadata": {"labels": {"changed": str(next(number))}}}
        scene.cluster.server.patch("Node", ("", "n1"), body)

    attempts = noting(scene.cluster, asks(Patch), then=change)
    (failed,) = scene.deliver(warning(1))
    assert len(attempts) == 6
    assert scene.reasons() == ["NodeKeepsChanging"]
    assert scene.comes_back_after(failed) == 2
    assert scene.wake_up() is None


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_node_that_goes_while_it_is_marked_is_acknowledged_and_another_not_touched(
    scene: Scene, *, is_replaced: bool
) -> None:
    def vanish() -> None:
        scene.cluster.delete("Node", "n1")
        if is_replaced:
            scene.add_node("n1", 17)

    noting(scene.cluster, asks(Patch), then=once(vanish))
    assert scene.deliver(warning(1)) == []
    assert scene.reasons() == ["NodeGone"]
    assert not (is_replaced and scene.node("n1").spec.unschedulable)


def test_a_node_that_cannot_be_read_again_is_tried_again_later(scene: Scene) -> None:
    scene.fail(ConflictError("changed"), asks(Patch))
    reads = asks(Get, of=Node)
    scene.fail(UnavailableError("timed out"), lambda each: bool(reads(each) and scene.writes()))
    assert len(scene.deliver(warning(1))) == 1
    assert scene.reasons() == ["NoAnswerFromApiServer"]


def test_notices_come_again_when_the_wake_up_could_not_be_sent(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", tags=THEIRS)
    scene.wake_ups.fail(QueueError("SQS is down"))
    failed = scene.deliver(warning(1), warning(2), warning(9))
    assert len(failed) == 2
    assert scene.node("n1").spec.unschedulable

    scene.wake_ups.fail(None)
    assert scene.come_again() == []
    assert scene.writes() == []
    assert scene.wake_up() is not None


def test_a_message_that_cannot_be_postponed_fails_all_the_same(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", state="pending")
    scene.notices.put(json.dumps(warning(9)))
    messages = scene.notices.receive()
    scene.notices.fail(QueueError("SQS is down"))
    answer = scene.handler(batch_event(messages), None)
    assert answer == {"batchItemFailures": [{"itemIdentifier": messages[0].message_id}]}
    assert scene.comes_back_after(messages[0].message_id) == 20
    assert "visibility timeout" in scene.recorder.notes[0][0]


def test_an_sqs_that_postpones_nothing_is_asked_once_for_a_batch(scene: Scene) -> None:
    """Each call may take seconds: ten of them are more than the function has."""
    for number in range(11, 16):
        scene.add_instance(number, dns_name=f"n{number}", state="pending")
    for body in ("{", *(json.dumps(warning(number)) for number in range(11, 16))):
        scene.notices.put(body)
    messages = scene.notices.receive()
    asked: list[str] = []
    postpone = scene.notices.postpone

    def refuse(receipt_handle: str, delay: timedelta) -> None:
        asked.append(receipt_handle)
        if len(asked) > 1:
            raise QueueError("SQS hangs")
        postpone(receipt_handle, delay)

    scene.notices.postpone = refuse  # type: ignore[method-assign]
    answer = scene.handler(batch_event(messages), None)

    assert len(answer["batchItemFailures"]) == len(messages)
    assert len(asked) == 2
    ((told, _),) = scene.recorder.notes
    assert "as 4 others do" in told


# Pause and observe.


def test_nothing_is_marked_while_paused_and_all_is_when_resumed(scene: Scene) -> None:
    scene.cluster.apply(PAUSED)
    (failed,) = scene.deliver(warning(1))
    assert scene.writes() == []
    assert scene.reasons() == ["Paused"]
    assert scene.comes_back_after(failed) == 5
    assert scene.wake_up() is None

    scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    assert scene.come_again(5) == []
    assert scene.node("n1").spec.unschedulable


def test_a_pause_outlasts_a_notice(scene: Scene) -> None:
    scene.cluster.apply(PAUSED)
    scene.deliver(warning(1))
    assert scene.come_again(120) == []
    (decision,) = scene.recorder.decisions
    assert (decision.verb, decision.reason) == (Verb.ACKNOWLEDGE, "Paused")
    assert scene.writes() == []


def test_a_pause_does_not_hold_up_what_is_foreign(scene: Scene) -> None:
    scene.cluster.apply(PAUSED)
    scene.add_instance(9, dns_name="n9", tags=THEIRS)
    assert scene.deliver(warning(9)) == []


def test_a_pause_is_noticed_within_a_second(scene: Scene) -> None:
    scene.deliver(warning(1))
    scene.cluster.apply(PAUSED)
    scene.clock.advance(timedelta(seconds=1))
    assert len(scene.deliver(warning(2))) == 1
    assert not scene.node("n2").spec.unschedulable


def test_nothing_is_marked_while_it_is_not_known_whether_it_is_paused(scene: Scene) -> None:
    scene.fail(UnavailableError("timed out"), asks(Get, name=names.PAUSED))
    assert len(scene.deliver(warning(1))) == 1
    assert scene.writes() == []
    assert scene.reasons() == ["NoAnswerFromApiServer"]


def test_observe_mode_writes_nothing_and_the_wake_up_carries_the_notices() -> None:
    scene = Scene(mode=Mode.OBSERVE)
    assert scene.deliver(recommendation(1), warning(1), recommendation(2)) == []
    assert scene.writes() == []
    assert scene.recorder.with_verb(Verb.MARK) == scene.recorder.decisions
    assert scene.recorder.total("NodesMarked") == 0
    wake_up = scene.wake_up()
    assert wake_up is not None
    assert set(wake_up.notices) == {"n1", "n2"}
    assert wake_up.notices["n1"].kind is NoticeKind.INTERRUPTION
    assert wake_up.notices["n1"].deadline == NOW + timedelta(seconds=120)
    assert wake_up.notices["n2"].is_hint


# What is no notice.


def test_a_malformed_record_fails_alone_and_the_error_names_the_field(scene: Scene) -> None:
    broken = warning(2)
    del broken["detail"]["instance-id"]
    failed = scene.deliver(warning(1), broken, "not json", warning(3))
    assert failed == ["notices-2", "notices-3"]
    assert [scene.comes_back_after(each) for each in failed] == [2, 2], "to become dead letters"
    assert scene.node("n1").spec.unschedulable
    assert scene.node("n3").spec.unschedulable
    rejected = scene.recorder.with_verb(Verb.REJECT)
    assert [decision.subject.name for decision in rejected] == failed
    assert rejected[0].message == "detail.instance-id: is missing"
    assert all(decision.warning for decision in rejected)
    assert scene.recorder.total("NoticesMalformed") == 2


def test_a_harmless_kind_is_acknowledged_with_a_reason(scene: Scene) -> None:
    assert scene.deliver(state_change(1, "running")) == []
    (decision,) = scene.recorder.decisions
    assert (decision.verb, decision.reason) == (Verb.ACKNOWLEDGE, "Harmless")
    assert scene.instances.calls == []
    assert scene.wake_up() is None


def test_an_unknown_kind_is_acknowledged_counted_and_logged_once(scene: Scene) -> None:
    for _ in range(2):
        assert scene.deliver(event("EC2 Instance Sighs", 1), event("EC2 Yawns", 1)) == []
    assert scene.recorder.total("NoticesUnknown") == 4
    assert scene.reasons() == []
    assert scene.deliver(event("EC2 Hiccups", 1)) == []
    assert scene.reasons() == ["UnknownKind"]


def test_replays_are_read_where_a_setting_allows_their_source() -> None:
    replay = warning(1) | {"source": "evenkeel.replay"}
    strict, open_ = Scene(), Scene(replay_source="evenkeel.replay")
    for scene in (strict, open_):
        assert scene.deliver(replay) == []
    assert not strict.node("n1").spec.unschedulable
    assert open_.node("n1").spec.unschedulable


def test_what_is_no_batch_is_refused_and_recorders_are_flushed(scene: Scene) -> None:
    with pytest.raises(MalformedEventError):
        scene.handler({"detail-type": "Scheduled Event"}, None)
    assert scene.recorder.flushes == 1


def test_an_event_without_a_queue_is_handled_like_a_message(scene: Scene) -> None:
    assert scene.handler(warning(1), None) == {}
    assert scene.node("n1").spec.unschedulable
    assert scene.recorder.total("NoticesReceived") == 1
    assert scene.recorder.flushes == 1


def test_an_event_without_a_queue_that_has_to_come_again_is_raised(scene: Scene) -> None:
    scene.notices.fail(QueueError("nothing is asked of SQS"))
    scene.fail(UnavailableError("no answer"))
    with pytest.raises(NotDoneError, match="no answer"):
        scene.handler(warning(1), None)
    assert scene.recorder.flushes == 1
    assert scene.recorder.notes == []


def test_an_empty_batch_is_answered(scene: Scene) -> None:
    assert scene.handler({"Records": []}, None) == {"batchItemFailures": []}


def scheduled(*numbers: int, **changes: Any) -> dict[str, Any]:
    """AWS Health names these instances."""
    entities = [{"entityValue": instance_id(number)} for number in numbers]
    detail = {
        "eventArn": "arn:aws:health:eu-central-1::event/EC2/change",
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "startTime": "Mon, 21 Dec 2026 06:00:00 GMT",
        "statusCode": "upcoming",
        "affectedEntities": entities,
    }
    return {
        "id": "health",
        "source": "aws.health",
        "detail-type": "AWS Health Event",
        "time": "2026-11-21T06:00:00Z",
        "detail": detail | changes,
    }


def test_one_event_marks_all_the_nodes_that_it_names(scene: Scene) -> None:
    assert scene.deliver(scheduled(1, 2, 4, 99)) == []
    marked = [name for name in ("n1", "n2", "n3", "n4", "n5") if mark.read(scene.node(name))]
    assert marked == ["n1", "n2", "n4"]
    assert sorted(scene.reasons()) == ["ScheduledChange"] * 3 + ["UnknownInstance"]
    assert len(scene.wake_ups.messages) == 1


def test_an_event_comes_again_once_for_all_that_failed_of_it(scene: Scene) -> None:
    for name in ("n1", "n2"):
        scene.fail(UnavailableError("away"), asks(Patch, name=name))
    failed = scene.deliver(scheduled(1, 2, 3))
    assert len(failed) == 1
    assert mark.read(scene.node("n3")) is not None
    assert mark.read(scene.node("n1")) is None


def test_what_is_taken_back_in_the_same_batch_leaves_no_mark(scene: Scene) -> None:
    scene.deliver(scheduled(1, statusCode="closed"), scheduled(1))
    assert mark.read(scene.node("n1")) is None
