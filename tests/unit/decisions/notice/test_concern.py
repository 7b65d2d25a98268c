"""A notice is believed of an instance only where EC2 says that it can be true of it."""

from datetime import datetime

import pytest

from evenkeel.decisions.notice import (
    capacity_reservation,
    interruption_warning,
    lifecycle_action,
    rebalance_recommendation,
    scheduled_change,
    state_change,
)
from evenkeel.decisions.notice.concern import doubt
from evenkeel.decisions.notice.result import Again, Done, Result
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.instance import UNLISTED, Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice, NoticeKind
from tests.kit import builders
from tests.kit.builders import NOW, seconds

ID = "i-0123456789abcdef0"
SPOT_NODE, OTHER_NODE = builders.node(), builders.node(spot=False)
FOR_SPOT = [
    (NoticeKind.INTERRUPTION, interruption_warning.KIND.concerns),
    (NoticeKind.REBALANCE, rebalance_recommendation.KIND.concerns),
]


def instance(state: str = "running", lifecycle: str = "", reservation: str = "") -> Instance:
    return Instance(instance_id=ID, state=state, lifecycle=lifecycle, reservation=reservation)


def doubted(
    kind: NoticeKind,
    concern: Concern,
    known: Instance | None,
    *,
    node: Node = SPOT_NODE,
    labels: CapacityLabels = WELL_KNOWN,
    now: datetime = NOW,
) -> Result | None:
    notice = Notice(
        kind=kind, concerns=concern, event_id="e", instance_id=ID, time=NOW, deadline=NOW
    )
    return doubt(notice, known, node, labels, now)


@pytest.mark.parametrize(("kind", "concern"), FOR_SPOT)
@pytest.mark.parametrize("node", [SPOT_NODE, OTHER_NODE])
def test_ec2_alone_says_what_is_spot_whatever_the_nodes_labels_tell(
    kind: NoticeKind, concern: Concern, node: Node
) -> None:
    assert doubted(kind, concern, instance(lifecycle="spot"), node=node) is None
    for lifecycle, word in (("", "on-demand"), ("scheduled", "scheduled")):
        refused = doubted(kind, concern, instance(lifecycle=lifecycle), node=node)
        assert isinstance(refused, Done)
        assert (refused.decision.reason, refused.metric) == ("NotSpot", "NoticesRefused")
        assert (refused.decision.node, refused.decision.warning) == (node.name, True)
        assert f"instance {ID} is {word}" in refused.decision.message


@pytest.mark.parametrize(("kind", "concern"), FOR_SPOT)
def test_a_label_is_believed_where_ec2_does_not_answer(kind: NoticeKind, concern: Concern) -> None:
    assert doubted(kind, concern, None) is None
    unproven = doubted(kind, concern, None, node=OTHER_NODE)
    assert isinstance(unproven, Again)
    assert (unproven.reason, unproven.until) == ("NoAnswerFromEc2", None)
    others = doubted(kind, concern, None, labels=CapacityLabels(("example.org/capacity",)))
    assert isinstance(others, Again)


@pytest.mark.parametrize(("kind", "concern"), FOR_SPOT)
@pytest.mark.parametrize(
    ("after", "known", "becomes"),
    [
        (59, None, type(None)),
        (60, None, Again),
        (59, instance(UNLISTED), type(None)),
        (60, instance(UNLISTED), Done),
        (60, instance(lifecycle="spot"), type(None)),
    ],
)
def test_a_label_is_believed_for_no_notice_whose_time_is_over(
    kind: NoticeKind, concern: Concern, after: float, known: Instance | None, becomes: type
) -> None:
    now = NOW + seconds(after)
    assert type(doubted(kind, concern, known, now=now)) is becomes


@pytest.mark.parametrize("state", ["stopping", "stopped", "shutting-down", "terminated"])
@pytest.mark.parametrize("lifecycle", ["", "spot"])
def test_a_state_change_is_believed_of_any_instance_that_ends(state: str, lifecycle: str) -> None:
    known = instance(state, lifecycle)
    assert doubted(NoticeKind.STATE_CHANGE, state_change.KIND.concerns, known) is None


@pytest.mark.parametrize("state", ["pending", "running"])
def test_a_state_change_waits_for_ec2_to_agree_and_is_refused_when_it_does_not(state: str) -> None:
    known = instance(state, "spot")
    early, late = (
        doubted(NoticeKind.STATE_CHANGE, state_change.KIND.concerns, known, now=NOW + after)
        for after in (seconds(29.999), seconds(30))
    )
    assert isinstance(early, Again)
    assert early.until == NOW + seconds(30)
    assert isinstance(late, Done)
    assert early.reason == late.decision.reason == "InstanceRunning"
    assert state in early.message


def test_a_state_change_is_not_believed_of_a_spot_node_where_ec2_does_not_answer() -> None:
    unproven = doubted(NoticeKind.STATE_CHANGE, state_change.KIND.concerns, None)
    assert isinstance(unproven, Again)
    assert (unproven.reason, unproven.delay) == ("NoAnswerFromEc2", seconds(2))


RESERVED = capacity_reservation.KIND.concerns


@pytest.mark.parametrize("node", [SPOT_NODE, OTHER_NODE])
def test_a_reservations_warning_is_believed_of_what_runs_in_one(node: Node) -> None:
    for known in (
        instance(lifecycle="capacity-block"),
        instance(lifecycle="interruptible-capacity-reservation"),
        instance(reservation="cr-1234567890abcdef0"),
    ):
        assert doubted(NoticeKind.INTERRUPTION, RESERVED, known, node=node) is None
    for known in (instance(lifecycle="spot"), instance(), instance(lifecycle="scheduled")):
        refused = doubted(NoticeKind.INTERRUPTION, RESERVED, known, node=node)
        assert isinstance(refused, Done)
        assert (refused.decision.reason, ID in refused.decision.message) == ("NotReserved", True)


@pytest.mark.parametrize("lifecycle", ["", "spot"])
def test_a_scheduled_change_and_a_termination_may_be_of_any_instance(lifecycle: str) -> None:
    for kind in (scheduled_change.KIND, lifecycle_action.KIND):
        known = instance(lifecycle=lifecycle)
        assert doubted(NoticeKind.INTERRUPTION, kind.concerns, known) is None
        unproven = doubted(NoticeKind.INTERRUPTION, kind.concerns, None)
        assert isinstance(unproven, Again)
        assert doubted(NoticeKind.INTERRUPTION, kind.concerns, instance(UNLISTED)) is None


@pytest.mark.parametrize(("kind", "concern"), FOR_SPOT)
def test_a_label_is_believed_where_ec2_does_not_list_the_instance(
    kind: NoticeKind, concern: Concern
) -> None:
    assert doubted(kind, concern, instance(UNLISTED)) is None
    assert isinstance(doubted(kind, concern, instance(UNLISTED), node=OTHER_NODE), Again)


@pytest.mark.parametrize(
    ("kind", "concern"),
    [
        (NoticeKind.STATE_CHANGE, state_change.KIND.concerns),
        (NoticeKind.INTERRUPTION, capacity_reservation.KIND.concerns),
    ],
)
def test_a_notice_waits_for_ec2_to_list_the_instance_and_is_refused_when_it_does_not(
    kind: NoticeKind, concern: Concern
) -> None:
    early, late = (
        doubted(kind, concern, instance(UNLISTED), now=NOW + after)
        for after in (seconds(29.999), seconds(30))
    )
    assert isinstance(early, Again)
    assert early.until == NOW + seconds(30)
    assert isinstance(late, Done)
    assert (late.metric, late.decision.warning) == ("NoticesRefused", True)
    assert early.reason == late.decision.reason == "InstanceUnlisted"


@pytest.mark.parametrize("node", [SPOT_NODE, OTHER_NODE])
def test_a_reservations_warning_is_not_believed_where_ec2_does_not_answer(node: Node) -> None:
    unproven = doubted(NoticeKind.INTERRUPTION, RESERVED, None, node=node)
    assert isinstance(unproven, Again)
    assert (unproven.reason, unproven.until) == ("NoAnswerFromEc2", None)
