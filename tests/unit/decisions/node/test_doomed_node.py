"""A doomed node is excluded, taken out of service, completed, or lifted when it lives on."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.node.doomed_node import (
    LOAD_BALANCER_LEAD,
    DoomedNode,
    plan,
    unreadable,
)
from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import OUTLIVED_AFTER
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.instance import UNLISTED
from evenkeel.model.node import Node, Taint
from evenkeel.model.notice import InstanceAction, NodeNotice, NoticeKind
from tests.kit import builders
from tests.kit.builders import NOW, patched, seconds

WARNING, HINT = builders.notice(), builders.hint()
LEAD = seconds(60)
NEAR = WARNING.deadline - LEAD
EXCLUDED = {names.EXCLUDE_FROM_LOAD_BALANCERS: "true"}


def situation(
    notice: NodeNotice = WARNING, *, now: datetime = NOW, node: Node | None = None, **known: Any
) -> DoomedNode:
    node = node if node is not None else builders.node(notice=notice)
    defaults: dict[str, Any] = {"heard_at": now, "others_remain": True}
    return DoomedNode(now=now, node=node, notice=notice, **(defaults | known))


def decided(at: DoomedNode) -> list[tuple[Verb, str]]:
    steps, _ = plan(at)
    return [(step.verb, step.reason) for step in steps]


def the(verb: Verb, at: DoomedNode) -> Decision:
    (found,) = [step for step in plan(at)[0] if step.verb is verb]
    return found


# Load balancers.


@pytest.mark.parametrize(
    ("at", "pods_left", "excluded"),
    [
        (NOW, True, False),
        (NOW, False, True),
        (NEAR - seconds(1), True, False),
        (NEAR, True, True),
        (NEAR + seconds(30), True, True),
    ],
)
def test_a_node_leaves_the_load_balancers_with_its_last_pod_or_when_its_end_is_near(
    at: datetime, *, pods_left: bool, excluded: bool
) -> None:
    found = decided(situation(now=at, pods_left=pods_left))
    assert found == ([(Verb.EXCLUDE, "NodeDying")] if excluded else [])


def test_a_node_with_pods_is_looked_at_again_when_its_end_is_near() -> None:
    before = situation(now=NEAR - seconds(1), pods_left=True)
    assert not before.wants_exclusion
    assert plan(before)[1] == NEAR == WARNING.deadline - LOAD_BALANCER_LEAD


def test_the_exclusion_is_written_with_the_mark_so_that_it_comes_off_with_it() -> None:
    before = builders.node()
    node = builders.node(notice=WARNING)
    excluded = patched(node, the(Verb.EXCLUDE, situation(node=node)).write)
    assert excluded.metadata.labels.items() >= EXCLUDED.items()
    lifted = patched(excluded, mark.unmark(excluded))
    assert lifted.metadata.labels == before.metadata.labels


def test_a_node_stays_behind_the_load_balancers_when_no_other_would() -> None:
    step = the(Verb.LEAVE, situation(others_remain=False))
    assert (step.reason, step.write) == ("NoOtherNode", None)


def test_nothing_is_decided_about_load_balancers_while_others_are_not_known() -> None:
    unknown = situation(others_remain=None)
    assert unknown.wants_exclusion
    assert decided(unknown) == []


@pytest.mark.parametrize(
    "left",
    [
        situation(HINT),
        situation(HINT, now=HINT.deadline - seconds(1)),
        situation(node=builders.node(notice=WARNING, labels=EXCLUDED)),
        situation(now=WARNING.deadline, state="stopped"),
        situation(now=WARNING.deadline, state="terminated"),
        situation(now=WARNING.deadline + OUTLIVED_AFTER, state="running"),
    ],
    ids=["a hint", "a hint near its end", "excluded", "stopped", "terminated", "it lives on"],
)
def test_a_node_is_not_excluded_when_that_is_no_use(left: DoomedNode) -> None:
    assert not left.wants_exclusion
    assert Verb.EXCLUDE not in {verb for verb, _ in decided(left)}


@pytest.mark.parametrize("state", [None, "running", "pending", "stopping", "shutting-down"])
@pytest.mark.parametrize(
    "notice",
    [
        builders.notice(NoticeKind.STATE_CHANGE, deadline=NOW),
        builders.notice(action=InstanceAction.HIBERNATE, deadline=NOW),
        builders.notice(deadline=NOW - seconds(10)),
    ],
    ids=["a state change", "hibernation", "a late warning"],
)
def test_a_node_is_excluded_at_once_when_its_notice_leaves_no_time(
    notice: NodeNotice, state: str | None
) -> None:
    at = situation(notice, state=state, pods_left=True)
    assert (Verb.EXCLUDE, "NodeDying") in decided(at)


# After the deadline.


@pytest.mark.parametrize("notice", [WARNING, HINT], ids=["warning", "hint"])
@pytest.mark.parametrize("state", ["stopped", "terminated"])
def test_a_notice_is_completed_when_the_instance_is_off(notice: NodeNotice, state: str) -> None:
    step = the(Verb.COMPLETE, situation(notice, now=notice.deadline, state=state))
    assert (step.reason, step.write) == ("InstanceOff", None)
    assert state in step.message


@pytest.mark.parametrize("notice", [WARNING, HINT], ids=["warning", "hint"])
@pytest.mark.parametrize("state", ["stopped", "terminated"])
def test_volumes_are_freed_that_hang_on_an_instance_that_is_off(
    notice: NodeNotice, state: str
) -> None:
    node = builders.node(notice=notice)
    at = situation(notice, node=node, now=notice.deadline, state=state, volumes_left=True)

    assert decided(at) == [(Verb.TAINT, "InstanceOff")]
    tainted = patched(node, the(Verb.TAINT, at).write)

    taint = Taint(key=names.OUT_OF_SERVICE, value="evenkeel", effect="NoExecute")
    assert taint in tainted.spec.taints
    read = mark.read(tainted)
    assert read is not None
    assert read.out_of_service
    again = situation(read, node=tainted, now=notice.deadline, state=state, volumes_left=True)
    assert decided(again) == [(Verb.COMPLETE, "InstanceOff")]


THEIR_TAINT = Taint(key=names.OUT_OF_SERVICE, value="theirs", effect="NoExecute")


@pytest.mark.parametrize(
    "left",
    [
        {"volumes_left": False},
        {"volumes_left": True, "do_out_of_service": False},
        {"volumes_left": True, "node": builders.node(notice=WARNING, taints=[THEIR_TAINT])},
        {"volumes_left": True, "notice": builders.notice(out_of_service=True)},
    ],
    ids=["no volumes", "switched off", "somebody else's taint", "ours was taken off by hand"],
)
def test_no_taint_is_put_on_a_node_that_is_off_when_it_is_not_wanted(left: dict[str, Any]) -> None:
    at = situation(now=WARNING.deadline, state="terminated", **left)
    assert decided(at) == [(Verb.COMPLETE, "InstanceOff")]


@pytest.mark.parametrize("state", ["stopping", "shutting-down", "running", "pending", None])
def test_no_volume_is_freed_while_the_instance_may_still_write_to_it(state: str | None) -> None:
    for late in (0, 59, 60, 3600):
        at = situation(now=WARNING.deadline + seconds(late), state=state, volumes_left=True)
        assert Verb.TAINT not in {verb for verb, _ in decided(at)}


# An instance that EC2 does not list.

LISTED_NO_MORE = WARNING.deadline + seconds(5)
"""When EC2's first answer without the instance was heard."""


def unlisted(
    heard_at: datetime,
    *,
    since: datetime | None = LISTED_NO_MORE,
    ready: bool = False,
    **known: Any,
) -> DoomedNode:
    notice = builders.notice(unlisted_since=since)
    node = builders.node(notice=notice, ready=ready, labels=EXCLUDED)
    known = {"state": UNLISTED, "heard_at": heard_at} | known
    return situation(notice, now=max(heard_at, notice.deadline), node=node, **known)


@pytest.mark.parametrize("volumes_left", [True, False])
def test_the_first_answer_without_the_instance_is_noted_when_its_node_is_not_ready(
    *, volumes_left: bool
) -> None:
    at = unlisted(LISTED_NO_MORE, since=None, volumes_left=volumes_left)

    assert decided(at) == [(Verb.MARK, "InstanceUnlisted")]
    noted = patched(at.node, the(Verb.MARK, at).write)

    read = mark.read(noted)
    assert read is not None
    assert read == msgspec.structs.replace(at.notice, unlisted_since=LISTED_NO_MORE)
    assert noted.spec == at.node.spec


@pytest.mark.parametrize(
    ("heard_after", "ready", "expected"),
    [
        (0, False, (Verb.WAIT, "InstanceUnlisted")),
        (29.9, False, (Verb.WAIT, "InstanceUnlisted")),
        (30, False, (Verb.COMPLETE, "InstanceOff")),
        (3600, False, (Verb.COMPLETE, "InstanceOff")),
        (30, True, (Verb.WAIT, "DeadlinePassed")),
        (3600, True, (Verb.WAIT, "DeadlinePassed")),
    ],
)
def test_an_unlisted_instance_is_off_after_two_answers_30_s_apart_when_its_node_is_not_ready(
    heard_after: float, expected: tuple[Verb, str], *, ready: bool
) -> None:
    at = unlisted(LISTED_NO_MORE + seconds(heard_after), ready=ready)
    assert decided(at) == [expected]
    assert at.is_off is (expected[0] is Verb.COMPLETE)


def test_a_first_answer_that_is_still_to_come_is_none() -> None:
    """The node's kubelet wrote that; it must not be waited for."""
    at = unlisted(LISTED_NO_MORE, since=LISTED_NO_MORE + timedelta(days=1))
    assert decided(at) == [(Verb.MARK, "InstanceUnlisted")]


def test_a_volume_is_freed_only_when_the_second_answer_lists_the_instance_no_more() -> None:
    early = unlisted(LISTED_NO_MORE + seconds(29), volumes_left=True)
    late = unlisted(LISTED_NO_MORE + seconds(30), volumes_left=True)
    alive = unlisted(LISTED_NO_MORE + seconds(30), volumes_left=True, ready=True)
    assert [verb for verb, _ in decided(early)] == [Verb.WAIT]
    assert [verb for verb, _ in decided(late)] == [Verb.TAINT]
    assert [verb for verb, _ in decided(alive)] == [Verb.WAIT]


def test_the_answers_are_30_s_apart_whenever_the_plan_is_made() -> None:
    """The same answer counts once, however long ago it was."""
    at = msgspec.structs.replace(
        unlisted(LISTED_NO_MORE), now=LISTED_NO_MORE + seconds(300), volumes_left=True
    )
    assert decided(at) == [(Verb.WAIT, "InstanceUnlisted")]
    assert plan(at)[0][0].until == LISTED_NO_MORE + seconds(30)


@pytest.mark.parametrize("late", [0, 59, 60, 3600])
def test_no_mark_is_lifted_after_a_warning_when_ec2_does_not_list_the_instance(late: int) -> None:
    at = unlisted(WARNING.deadline + seconds(late), since=None, ready=True)
    assert decided(at) == [(Verb.WAIT, "DeadlinePassed")]
    assert "does not list it" in plan(at)[0][0].message


@pytest.mark.parametrize("ready", [True, False])
@pytest.mark.parametrize(
    ("kind", "reason"), [(NoticeKind.REBALANCE, "HintExpired"), (NoticeKind.DRAIN, "DrainOver")]
)
def test_nothing_is_off_after_a_hint_or_a_drain_because_ec2_does_not_list_the_instance(
    kind: NoticeKind, reason: str, *, ready: bool
) -> None:
    since = HINT.deadline + seconds(5)
    notice = builders.notice(kind, unlisted_since=since)
    at = situation(
        notice,
        node=builders.node(notice=notice, ready=ready),
        state=UNLISTED,
        now=since + seconds(60),
        heard_at=since + seconds(60),
        volumes_left=True,
    )
    assert decided(at) == [(Verb.LIFT, reason)]


def test_no_volume_is_freed_before_the_deadline_whatever_ec2_says() -> None:
    at = situation(state="terminated", volumes_left=True, pods_left=True)
    assert decided(at) == []


@pytest.mark.parametrize("notice", [WARNING, HINT], ids=["warning", "hint"])
@pytest.mark.parametrize("state", ["stopping", "shutting-down"])
def test_an_instance_that_is_ending_is_waited_for(notice: NodeNotice, state: str) -> None:
    late = situation(
        notice,
        now=notice.deadline + 2 * OUTLIVED_AFTER,
        state=state,
        node=builders.node(notice=notice, labels=EXCLUDED),
    )
    assert decided(late) == [(Verb.WAIT, "InstanceEnding")]
    assert plan(late)[1] is None


@pytest.mark.parametrize("state", ["running", "pending", None])
def test_a_hint_expires_when_nothing_came_of_it_or_ec2_does_not_answer(state: str | None) -> None:
    at = situation(HINT, now=HINT.deadline, state=state)
    assert decided(at) == [(Verb.LIFT, "HintExpired")]


@pytest.mark.parametrize("state", ["running", "pending"])
def test_an_instance_that_runs_a_minute_after_its_deadline_is_believed(state: str) -> None:
    settled = WARNING.deadline + OUTLIVED_AFTER
    node = builders.node(notice=WARNING, labels=EXCLUDED)
    early = situation(now=settled - seconds(1), state=state, node=node)
    late = situation(now=settled, state=state, node=node)

    assert decided(early) == [(Verb.WAIT, "DeadlinePassed")]
    assert plan(early)[1] == settled
    assert plan(early)[0][0].until == settled
    assert decided(late) == [(Verb.LIFT, "InstanceRunning")]
    assert plan(late)[1] is None


def test_a_mark_stays_until_the_latest_of_several_warnings_came_to_nothing() -> None:
    latest = WARNING.deadline + seconds(20)
    notice = builders.notice(last_deadline=latest)
    node = builders.node(notice=notice, labels=EXCLUDED)
    settled = latest + OUTLIVED_AFTER
    early = situation(notice, now=settled - seconds(1), state="running", node=node)
    late = situation(notice, now=settled, state="running", node=node)

    assert decided(early) == [(Verb.WAIT, "DeadlinePassed")]
    assert plan(early)[1] == settled
    assert decided(late) == [(Verb.LIFT, "InstanceRunning")]


@pytest.mark.parametrize("late", [0, 59, 60, 3600])
def test_a_mark_stays_after_a_warning_while_ec2_does_not_answer(late: int) -> None:
    at = situation(
        now=WARNING.deadline + seconds(late), node=builders.node(notice=WARNING, labels=EXCLUDED)
    )
    assert decided(at) == [(Verb.WAIT, "DeadlinePassed")]
    assert "does not answer" in plan(at)[0][0].message


def test_a_lift_takes_off_all_that_is_ours_the_taint_of_a_node_that_came_back_too() -> None:
    notice = builders.notice(out_of_service=True, excluded=True)
    ours = Taint(key=names.OUT_OF_SERVICE, value="evenkeel", effect="NoExecute")
    node = builders.node(notice=notice, taints=[ours], labels=EXCLUDED)
    at = situation(notice, node=node, now=notice.deadline + OUTLIVED_AFTER, state="running")
    assert patched(node, the(Verb.LIFT, at).write) == builders.node()


def test_a_lift_keeps_a_cordon_that_was_there_before() -> None:
    notice = builders.hint(cordoned_before=True)
    node = builders.node(notice=notice, unschedulable=True)
    at = situation(notice, node=node, now=notice.deadline)
    assert patched(node, the(Verb.LIFT, at).write) == builders.node(unschedulable=True)


def test_a_node_whose_notice_cannot_be_read_is_left_with_a_warning_that_names_the_remedy() -> None:
    step = unreadable(builders.node(notice=WARNING))
    assert (step.verb, step.reason, step.warning) == (Verb.LEAVE, "UnreadableNotice", True)
    assert step.write is None
    assert (step.subject.name, step.node) == ("n1", "n1")
    assert "evenkeel cancel n1" in step.message


# When it is looked at again.


@pytest.mark.parametrize(
    ("notice", "now", "due"),
    [
        (WARNING, NOW, NEAR),
        (WARNING, NEAR, WARNING.deadline),
        (WARNING, NEAR + seconds(1), WARNING.deadline),
        (HINT, NOW, HINT.deadline),
        (HINT, HINT.deadline - seconds(30), HINT.deadline),
    ],
)
def test_a_node_is_looked_at_again_when_its_time_comes(
    notice: NodeNotice, now: datetime, due: datetime
) -> None:
    assert plan(situation(notice, now=now, pods_left=True))[1] == due


STATES = st.sampled_from(
    [None, "pending", "running", "stopping", "shutting-down", "stopped", "terminated", UNLISTED]
)


@given(
    notice=st.sampled_from([WARNING, HINT]),
    late=st.integers(-1000, 1000),
    state=STATES,
    known=st.fixed_dictionaries(
        {
            "pods_left": st.booleans(),
            "volumes_left": st.booleans(),
            "others_remain": st.sampled_from([None, True, False]),
        }
    ),
)
def test_a_node_gets_one_write_at_a_time_and_no_time_is_waited_for_that_has_passed(
    notice: NodeNotice, late: int, state: str | None, known: dict[str, Any]
) -> None:
    now = notice.deadline + seconds(late)
    steps, due = plan(situation(notice, now=now, state=state, **known))
    assert sum(step.write is not None for step in steps) <= 1
    assert due is None or due > now
    for step in steps:
        assert (step.subject.name, step.node) == ("n1", "n1")
        assert step.reason
        quiet = step.verb in {Verb.WAIT, Verb.LEAVE, Verb.COMPLETE}
        assert quiet is (step.write is None)


# Hints that become certain.


def scheduled(**changes: Any) -> NodeNotice:
    deadline = NOW + timedelta(days=3)
    ends_at = deadline + timedelta(minutes=15)
    values = {"deadline": deadline, "ends_at": ends_at, "cause": "scheduled-change"}
    return builders.hint(**(values | changes))


def test_a_scheduled_change_is_due_when_it_may_be_followed_and_when_it_is_certain() -> None:
    notice = scheduled(cordoned=False)
    day_before = notice.deadline - timedelta(days=1)
    assert plan(situation(notice)) == ((), day_before)
    assert plan(situation(notice, now=day_before)) == ((), notice.deadline)


@pytest.mark.parametrize("cordoned", [True, False])
@pytest.mark.parametrize("state", [None, "running", "stopped", UNLISTED])
def test_a_hint_becomes_certain_whatever_ec2_says(state: str | None, *, cordoned: bool) -> None:
    notice = scheduled(cordoned=cordoned)
    before = situation(notice, now=notice.deadline, state=state)
    assert not before.over
    (step,) = plan(before)[0]
    assert (step.verb, step.reason, step.until) == (Verb.CORDON, "ScheduledChange", notice.ends_at)
    assert step.warning
    certain = mark.read(patched(before.node, step.write))
    assert certain is not None
    assert (certain.is_hint, certain.deadline, certain.ends_at) == (False, notice.ends_at, None)
    assert certain.cordoned_at is not None
    assert decided(situation(certain, now=notice.deadline + seconds(1), pods_left=True)) == []


def test_the_time_of_a_drain_on_purpose_is_up_and_its_cordon_stays() -> None:
    notice = builders.notice(NoticeKind.DRAIN, deadline=NOW + seconds(60), keep_cordon=True)
    node = builders.node(notice=notice, unschedulable=True)
    at = situation(notice, now=notice.deadline, node=node, state="running")
    lift = the(Verb.LIFT, at)
    assert lift.reason == "DrainOver"
    assert patched(node, lift.write).spec.unschedulable


# The window of a scheduled change.

WINDOW = builders.notice(cause="scheduled-change", last_deadline=NOW + seconds(3_600), boot_id="a")


@pytest.mark.parametrize(
    ("after", "boot_id", "state", "lifted"),
    [
        (180, "a", "running", []),
        (3_659, "a", "running", []),
        (3_660, "a", "running", ["EC2 says running after the deadline"]),
        (180, "", "running", []),
        (180, "b", "running", ["the machine was started anew after the deadline"]),
        (119, "b", "running", []),
        (180, "b", "stopping", []),
        (180, "b", None, []),
        (180, "b", "unlisted", []),
    ],
)
def test_a_change_is_over_at_its_end_or_when_the_machine_was_started_anew_since_it_began(
    after: float, boot_id: str, state: str | None, lifted: list[str]
) -> None:
    node = builders.node(notice=WINDOW, boot_id=boot_id)
    at = situation(WINDOW, now=NOW + seconds(after), node=node, state=state)
    assert [each.message for each in plan(at)[0] if each.verb is Verb.LIFT] == lifted


def test_a_warning_of_another_kind_lasts_whatever_is_started() -> None:
    warning = builders.notice(last_deadline=NOW + seconds(3_600))
    node = builders.node(notice=warning, boot_id="b")
    at = situation(warning, now=NOW + seconds(180), node=node, state="running")
    assert (Verb.LIFT, "InstanceRunning") not in decided(at)
