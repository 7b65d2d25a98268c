"""Which notice a node carries when several arrive, in any order."""

from itertools import permutations
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import merge
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.hook import Hook
from evenkeel.model.notice import InstanceAction, NoticeKind
from tests.kit.builders import NOW
from tests.unit.decisions.notice.world import (
    LEADS,
    SECOND,
    World,
    given,
    in_any_order,
    scaled_in,
    scheduled,
)


def test_an_interruption_warning_cordons_its_node() -> None:
    world = World()

    decision = world.receive(given(NoticeKind.INTERRUPTION), at=3)

    assert decision.verb is Verb.MARK
    assert decision.reason == "SpotInterruption"
    assert decision.warning
    assert decision.until == NOW + 120 * SECOND
    assert decision.subject == world.node.reference
    assert decision.message.endswith("; cordoned")
    carried = world.carried
    assert carried.cordoned_at == NOW + 3 * SECOND
    assert not carried.cordoned_before
    assert world.node.spec.unschedulable
    assert world.node.has_taint(names.DOOMED)


def test_a_state_change_cordons_its_node_with_a_deadline_that_has_come() -> None:
    world = World()
    decision = world.receive(
        given(NoticeKind.STATE_CHANGE, action=InstanceAction.STOP), state="stopping"
    )
    assert decision.reason == "InstanceStateChange"
    assert decision.until == NOW
    assert world.node.spec.unschedulable


def test_a_recommendation_leaves_its_node_schedulable() -> None:
    world = World()
    decision = world.receive(given(NoticeKind.REBALANCE))
    assert decision.verb is Verb.MARK
    assert decision.reason == "RebalanceRecommendation"
    assert not decision.warning
    assert decision.message.endswith("; noted until 2026-11-21T06:15:00Z")
    assert not world.node.spec.unschedulable
    assert not world.node.has_taint(names.DOOMED)


@pytest.mark.parametrize("kind", LEADS)
def test_a_duplicate_writes_nothing(kind: NoticeKind) -> None:
    world = World()
    world.receive(given(kind))
    again = world.receive(given(kind), at=5)
    assert again.verb is Verb.LEAVE
    assert again.reason == "AlreadyMarked"
    assert again.write is None


def test_a_warning_supersedes_a_recommendation_in_any_order() -> None:
    hint = given(NoticeKind.REBALANCE, event_id="hint")
    warning = given(NoticeKind.INTERRUPTION, at=60, event_id="warning")
    for order in permutations([hint, warning]):
        world = World()
        decisions = [world.receive(notice, at=61) for notice in order]
        carried = world.carried
        assert carried.event_id == "warning"
        assert carried.deadline == warning.deadline
        assert world.node.metadata.labels[names.DOOMED] == "interruption"
        assert world.node.spec.unschedulable
        assert decisions[-1].verb is (Verb.MARK if order[-1] is warning else Verb.LEAVE)


def test_the_message_tells_what_was_superseded() -> None:
    world = World()
    world.receive(given(NoticeKind.REBALANCE, event_id="hint"))
    decision = world.receive(given(NoticeKind.INTERRUPTION, at=1))
    assert "supersedes the rebalance notice hint" in decision.message


def test_our_own_cordon_for_a_recommendation_stays_ours_when_a_warning_follows() -> None:
    world = World()
    world.receive(given(NoticeKind.REBALANCE))
    world.write(mark.drain(world.node, NOW + SECOND))

    world.receive(given(NoticeKind.INTERRUPTION, at=2), at=2)

    carried = world.carried
    assert not carried.cordoned_before
    assert carried.cordoned_at == NOW + 2 * SECOND


def test_a_node_is_drained_since_the_first_of_several_warnings() -> None:
    """What came back to it in between came although it was drained."""
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION), at=1)
    world.receive(given(NoticeKind.INTERRUPTION, event_id="again", at=17), at=17)
    assert world.carried.cordoned_at == NOW + SECOND


def test_a_node_whose_warning_came_to_nothing_is_drained_since_the_next_one() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION), at=1)
    world.receive(given(NoticeKind.INTERRUPTION, event_id="again", at=600), at=601)
    assert world.carried.cordoned_at == NOW + 601 * SECOND


@pytest.mark.parametrize("first", LEADS)
@pytest.mark.parametrize("second", LEADS)
def test_anothers_cordon_is_never_taken_for_ours(first: NoticeKind, second: NoticeKind) -> None:
    world = World(unschedulable=True)
    world.receive(given(first))
    world.receive(given(second, at=-1))
    assert not mark.has_our_cordon(world.node, mark.read(world.node))


def test_a_cordon_between_a_recommendation_and_a_warning_is_not_ours() -> None:
    world = World()
    world.receive(given(NoticeKind.REBALANCE))
    world.document["spec"]["unschedulable"] = True
    world.receive(given(NoticeKind.INTERRUPTION, at=1), at=1)
    assert world.carried.cordoned_before


def test_the_earlier_of_two_warnings_counts() -> None:
    early = given(NoticeKind.INTERRUPTION, event_id="early")
    late = given(NoticeKind.INTERRUPTION, at=30, event_id="late")
    for world in in_any_order(early, late, at=31):
        assert world.carried.deadline == early.deadline


def test_a_state_change_brings_a_warnings_deadline_forward() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION))
    decision = world.receive(given(NoticeKind.STATE_CHANGE, at=20), at=20, state="stopping")
    assert decision.verb is Verb.MARK
    assert decision.until == NOW + 20 * SECOND
    assert world.node.metadata.labels[names.DOOMED] == "state-change"


def test_a_state_change_changes_nothing_when_it_was_given_after_the_deadline() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION))
    late = world.receive(given(NoticeKind.STATE_CHANGE, at=121), at=122, state="shutting-down")
    assert late.reason == "AlreadyMarked"


@pytest.mark.parametrize("given_at", [0, 20, 29])
def test_a_passed_deadline_stands_when_another_warning_arrives(given_at: int) -> None:
    """SQS delivers the warning once more, or EC2's events of one end cross each other."""
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION, event_id="warning"))
    world.receive(given(NoticeKind.STATE_CHANGE, at=20), at=20, state="shutting-down")
    copy = given(NoticeKind.INTERRUPTION, at=given_at, event_id="copy")
    world.receive(copy, at=40)
    carried = world.carried
    assert carried.deadline == NOW + 20 * SECOND
    assert carried.last_deadline == copy.deadline
    assert world.receive(copy, at=41).reason == "AlreadyMarked"


def test_the_mark_keeps_the_later_deadline_of_two_warnings() -> None:
    world = World()
    first, second = (given(NoticeKind.INTERRUPTION, at=at, event_id=str(at)) for at in (0, 30))
    world.receive(first)
    world.receive(given(NoticeKind.INTERRUPTION, event_id="with the same deadline"))
    assert world.carried.last_deadline is None
    noted = world.receive(second, at=31)
    assert (noted.verb, noted.until) == (Verb.MARK, first.deadline)
    assert "the node is marked for interruption until 2026-11-21T06:02:00Z" in noted.message
    assert "interruption notice 30 names 2026-11-21T06:02:30Z" in noted.message
    assert world.carried.last_deadline == second.deadline


def test_a_new_warning_counts_when_the_last_one_came_to_nothing() -> None:
    first, second = (given(NoticeKind.INTERRUPTION, at=at, event_id=str(at)) for at in (0, 130))
    for world in in_any_order(first, second, at=131):
        assert (world.carried.event_id, world.carried.deadline) == ("130", second.deadline)
        for notice in (first, second):
            assert world.receive(notice, at=132).reason == "AlreadyMarked"
            assert world.receive(notice, at=251, state="shutting-down").reason == "AlreadyMarked"
    world = World()
    world.receive(first)
    world.receive(given(NoticeKind.INTERRUPTION, at=129, event_id="129"), at=129)
    assert world.carried.event_id == "0"


def test_a_late_warning_is_acted_on_at_once_while_the_node_exists() -> None:
    for state in ("shutting-down", "stopped", ""):
        world = World()
        decision = world.receive(given(NoticeKind.INTERRUPTION), at=240, state=state)
        assert decision.verb is Verb.MARK
        assert world.node.spec.unschedulable


def test_a_late_warning_is_left_when_the_instance_has_outlived_it() -> None:
    warning = given(NoticeKind.INTERRUPTION)
    assert World().receive(warning, at=120 + 59).verb is Verb.MARK
    decision = World().receive(warning, at=120 + 60)
    assert decision.verb is Verb.LEAVE
    assert decision.reason == "Outlived"


def test_a_change_that_has_begun_is_left_when_the_instance_has_outlived_its_end() -> None:
    change = scheduled(3_600, last_deadline=NOW + 7_200 * SECOND)
    world = World()
    assert world.receive(change, at=7_259).verb is Verb.MARK
    assert (world.carried.kind, world.carried.lasts_until) == (
        NoticeKind.INTERRUPTION,
        NOW + 7_200 * SECOND,
    )
    assert World().receive(change, at=7_260).reason == "Outlived"


@pytest.mark.parametrize("at", [3, 4_000], ids=["as a hint", "as a warning"])
def test_a_scheduled_change_keeps_how_often_the_machine_was_started_when_it_is_certain(
    at: float,
) -> None:
    world = World()
    world.document["status"] = {"nodeInfo": {"bootID": "a"}}
    change = scheduled(3_600, last_deadline=NOW + 7_200 * SECOND)
    world.receive(change, at=at)
    if at == 3:
        assert world.carried.boot_id == ""
        world.write(mark.make_certain(world.node, NOW + 2_700 * SECOND))
    assert world.carried.boot_id == "a"
    world.document["status"] = {"nodeInfo": {"bootID": "b"}}
    assert world.receive(change, at=4_100).reason == "AlreadyMarked"
    assert world.carried.boot_id == "a"


def test_a_recommendation_is_left_when_it_has_expired() -> None:
    decision = World().receive(given(NoticeKind.REBALANCE), at=900)
    assert decision.verb is Verb.LEAVE
    assert decision.reason == "ExpiredRecommendation"


def test_the_recommendation_that_expires_last_counts() -> None:
    old, new = (given(NoticeKind.REBALANCE, at=at, event_id=str(at)) for at in (0, 400))
    for world in in_any_order(old, new, at=401):
        assert (world.carried.event_id, world.carried.deadline) == ("400", new.deadline)
        assert world.receive(old, at=402).reason == "AlreadyMarked"


def test_a_malformed_annotation_is_replaced() -> None:
    world = World()
    world.document["metadata"]["annotations"] = {names.NOTICE: "{", "note": "y"}
    decision = world.receive(given(NoticeKind.INTERRUPTION))
    assert decision.verb is Verb.MARK
    assert mark.read(world.node) is not None
    assert world.node.metadata.annotations["note"] == "y"


def test_a_mark_that_lost_a_part_is_made_whole_by_a_duplicate() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION))
    world.document["spec"]["taints"] = []
    decision = world.receive(given(NoticeKind.INTERRUPTION), at=1)
    assert decision.verb is Verb.MARK
    assert "incomplete" in decision.message
    assert world.node.has_taint(names.DOOMED)
    assert decision.until == NOW + 120 * SECOND


def test_what_was_done_for_the_old_notice_is_remembered_in_the_new_one() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION))
    done = msgspec.structs.replace(world.carried, excluded=True, out_of_service=True)
    merged = merge(world.node, done, given(NoticeKind.STATE_CHANGE, at=5), NOW + 5 * SECOND)
    assert merged.excluded
    assert merged.out_of_service


def test_the_instance_of_a_node_that_does_not_say_it_is_noted() -> None:
    """Without a providerID, only the notice tells which instance it is."""
    world, notice = World(), given(NoticeKind.INTERRUPTION)
    spec = msgspec.structs.replace(world.node.spec, provider_id="")
    nameless = msgspec.structs.replace(world.node, spec=spec)
    assert merge(nameless, None, notice, NOW).instance_id == notice.instance_id
    assert merge(world.node, None, notice, NOW).instance_id == ""


RESERVATION: dict[str, Any] = {"cause": "capacity-reservation"}


def test_a_mark_is_called_after_the_event_and_followed_by_its_kind() -> None:
    world = World()
    decision = world.receive(given(NoticeKind.INTERRUPTION, **RESERVATION))
    assert decision.reason == "CapacityReclaimed"
    assert "the capacity of instance i-1234567890abcdef0 is reclaimed" in decision.message
    assert world.node.metadata.labels[names.DOOMED] == "capacity-reservation"
    carried = world.carried
    assert (carried.kind, carried.cause) == (NoticeKind.INTERRUPTION, "capacity-reservation")


@pytest.mark.parametrize("cause", ["unheard-of", "a.b_c-D"])
def test_a_cause_of_a_later_version_is_taken_for_its_kind(cause: str) -> None:
    decision = World().receive(given(NoticeKind.INTERRUPTION, cause=cause))
    assert decision.reason == "SpotInterruption"


@pytest.mark.parametrize("cause", ["no value", "-x", "x" * 64, "a/b"])
def test_a_cause_that_no_label_can_bear_is_no_mark(cause: str) -> None:
    """Every write to the node would be refused."""
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION))
    note = msgspec.json.decode(world.node.metadata.annotations[names.NOTICE])
    annotations = {names.NOTICE: msgspec.json.encode(note | {"cause": cause}).decode()}
    world.document["metadata"]["annotations"] = annotations
    assert mark.read(world.node) is None


@pytest.mark.parametrize("other", [NoticeKind.INTERRUPTION, NoticeKind.STATE_CHANGE])
def test_of_two_causes_the_one_that_ends_the_instance_sooner_is_told(other: NoticeKind) -> None:
    reserved = given(NoticeKind.INTERRUPTION, event_id="a", **RESERVATION)
    sooner = given(other, at=5, event_id="b", deadline=NOW + 20 * SECOND)
    for world in in_any_order(reserved, sooner, at=6, state="shutting-down"):
        assert (world.carried.name, world.carried.deadline) == (other.value, NOW + 20 * SECOND)
        assert world.node.metadata.labels[names.DOOMED] == other.value


def test_a_change_weeks_ahead_is_noted_and_cordons_nothing() -> None:
    world = World()
    decision = world.receive(scheduled(21 * 86_400))
    assert (decision.reason, decision.warning) == ("ScheduledChange", False)
    assert "on schedule (terminate at 2026-12-12T06:00:00Z" in decision.message
    carried = world.carried
    assert (carried.is_hint, carried.ends_at) == (True, NOW + 21 * 86_400 * SECOND)
    assert not world.node.spec.unschedulable


def test_a_change_that_is_near_when_it_is_heard_counts_as_certain() -> None:
    world = World()
    decision = world.receive(scheduled(899))
    assert decision.warning
    carried = world.carried
    assert (carried.is_hint, carried.deadline) == (False, NOW + 899 * SECOND)
    assert world.node.spec.unschedulable


@pytest.mark.parametrize("start", [600, 1_200, 7_200])
def test_a_change_that_is_moved_counts_as_it_was_said_last(start: float) -> None:
    first, moved = scheduled(2_000), scheduled(start, at=60)
    for world in in_any_order(first, moved, at=61):
        carried = world.carried
        assert (carried.ends_at or carried.deadline) == NOW + start * SECOND
        assert carried.is_hint is (start > 961)
        for notice in (first, moved):
            assert world.receive(notice, at=62).reason == "AlreadyMarked"


def test_a_certain_loss_counts_before_a_change_and_a_change_before_a_recommendation() -> None:
    change, hint = scheduled(1_000), given(NoticeKind.REBALANCE, event_id="hint", at=10)
    warning = given(NoticeKind.INTERRUPTION, event_id="warning", at=20)
    for notices, first in (((change, hint), "change"), ((change, hint, warning), "warning")):
        for world in in_any_order(*notices, at=30):
            assert world.carried.event_id == first
            for notice in notices:
                assert world.receive(notice, at=31).reason == "AlreadyMarked"


def test_of_two_changes_of_one_instance_the_one_that_starts_first_counts() -> None:
    stop, retirement = scheduled(2_000, event_id="stop"), scheduled(7_200, event_id="retirement")
    for world in in_any_order(stop, retirement):
        assert (world.carried.event_id, world.carried.ends_at) == ("stop", NOW + 2_000 * SECOND)


def test_a_change_that_is_told_twice_at_once_starts_at_the_earlier_time_and_gets_certain() -> None:
    for world in in_any_order(scheduled(1_000), scheduled(7_200)):
        assert world.carried.ends_at == NOW + 1_000 * SECOND
        world.receive(scheduled(1_000), at=101)
        assert not world.carried.is_hint


@pytest.mark.parametrize("start", [600, 7_200])
def test_what_health_takes_back_lifts_its_own_mark(start: float) -> None:
    world = World()
    before = world.document["spec"]
    world.receive(scheduled(start))
    decision = world.receive(scheduled(start, at=5, withdrawn=True), at=6)
    assert (decision.verb, decision.reason) == (Verb.LIFT, "Withdrawn")
    assert mark.read(world.node) is None
    assert bool(world.node.spec.unschedulable) is bool(before["unschedulable"])
    again = world.receive(scheduled(start, at=5, withdrawn=True), at=7)
    assert (again.verb, again.write) == (Verb.LEAVE, None)


def test_what_health_takes_back_lifts_no_other_mark() -> None:
    world = World()
    world.receive(given(NoticeKind.INTERRUPTION, event_id="change"))
    assert world.receive(scheduled(withdrawn=True), at=1).write is None
    world = World()
    world.receive(scheduled())
    assert world.receive(scheduled(event_id="another", withdrawn=True), at=1).write is None


def test_a_scale_in_is_told_with_its_group_where_that_is_known() -> None:
    told = World().receive(scaled_in()).message
    assert "the Auto Scaling group workers terminates instance" in told
    assert "the Auto Scaling group terminates" in World().receive(scaled_in(hook=None)).message


@pytest.mark.parametrize("other", LEADS)
def test_the_hook_stays_noted_whichever_notice_counts(other: NoticeKind) -> None:
    notices = scaled_in(), given(other, event_id="other", at=2)
    for world in in_any_order(*notices, at=3, state="shutting-down"):
        assert world.carried.hook == scaled_in().hook


def test_a_hook_that_is_over_stays_over_when_its_event_comes_again() -> None:
    world = World()
    world.receive(scaled_in())
    world.write(mark.end_hook(world.node))
    assert world.receive(scaled_in(), at=1).reason == "AlreadyMarked"
    hook = world.carried.hook
    assert hook is not None
    assert hook.is_over
    world.receive(scaled_in("b", at=5), at=5)
    hook = world.carried.hook
    assert hook is not None
    assert (hook.token, hook.is_over) == ("b", False)


@pytest.mark.parametrize("seconds", [-5, 0, 1, 30, 300, 7_200, 2**62])
def test_whatever_the_annotation_says_heartbeats_come_within_reason(seconds: int) -> None:
    hook = Hook(group="g", name="n", token="t", heartbeat=seconds)
    assert 10 * SECOND <= hook.beat_every <= 2_400 * SECOND


def test_a_hint_becomes_certain_once_and_only_where_it_says_when_the_instance_ends() -> None:
    world = World()
    world.receive(scheduled(1_000))
    world.write(mark.make_certain(world.node, NOW + 100 * SECOND))
    carried = world.carried
    assert (carried.is_hint, carried.deadline) == (False, NOW + 1_000 * SECOND)
    assert (carried.cordoned_at, carried.name) == (NOW + 100 * SECOND, "scheduled-change")
    assert world.node.spec.unschedulable
    assert mark.make_certain(world.node, NOW + 101 * SECOND) is None
    assert world.receive(scheduled(1_000), at=99).reason == "AlreadyMarked"
    recommended = World()
    recommended.receive(given(NoticeKind.REBALANCE))
    assert mark.make_certain(recommended.node, NOW) is None
