"""Any notices of a node, in any order and however often, come to one mark, written once."""

from datetime import datetime

import msgspec
from hypothesis import assume, example, given
from hypothesis import strategies as st

from evenkeel.decisions.node.doomed_node import DoomedNode, plan
from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import CROSSING, OUTLIVED_AFTER
from evenkeel.model.decision import Verb
from evenkeel.model.hook import Hook
from evenkeel.model.notice import Concern, InstanceAction, NodeNotice, Notice, NoticeKind
from tests.kit.builders import NOW
from tests.unit.decisions.notice.documents import applied
from tests.unit.decisions.notice.world import SECOND, World

EXPIRY = 900


def warning(at: int, action: InstanceAction = InstanceAction.STOP) -> Notice:
    """A warning that is given ``at`` seconds after NOW."""
    lead = 0 if action is InstanceAction.HIBERNATE else 120
    return notice(NoticeKind.INTERRUPTION, at, lead, action)


def reclaimed(at: int, lead: int) -> Notice:
    """Reserved capacity is reclaimed so many seconds after the event."""
    name = "capacity-reservation"
    given = notice(NoticeKind.INTERRUPTION, at, lead, InstanceAction.TERMINATE)
    return msgspec.structs.replace(given, cause=name, event_id=f"{name}-{at}-{lead}")


def notice(kind: NoticeKind, at: int, lead: int, action: InstanceAction) -> Notice:
    return Notice(
        kind=kind,
        concerns=Concern.SPOT,
        event_id=f"{kind}-{action}-{at}",
        instance_id="i-1234567890abcdef0",
        time=NOW + at * SECOND,
        deadline=NOW + (at + lead) * SECOND,
        action=action,
    )


def scaled_in(at: int, number: int) -> Notice:
    """An Auto Scaling group terminates the instance, once or twice."""
    name, token = "lifecycle-action", f"87654321-4321-4321-4321-00000000000{number}"
    given = notice(NoticeKind.INTERRUPTION, at, 600, InstanceAction.TERMINATE)
    hook = Hook(group="workers", name="evenkeel", token=token, heartbeat=300)
    return msgspec.structs.replace(given, cause=name, event_id=f"{name}-{at}-{number}", hook=hook)


TIMES = st.integers(0, 300)
WARNINGS = st.one_of(
    st.builds(lambda at: scaled_in(at, 1), TIMES),
    st.builds(warning, TIMES, st.sampled_from(InstanceAction)),
    st.builds(reclaimed, TIMES, st.sampled_from([0, 120, 600])),
)
STATE_CHANGES = st.builds(
    notice,
    st.just(NoticeKind.STATE_CHANGE),
    TIMES,
    st.just(0),
    st.sampled_from([InstanceAction.STOP, InstanceAction.TERMINATE]),
)


def ended(at: int) -> Notice:
    """A state change after all warnings."""
    return notice(NoticeKind.STATE_CHANGE, 300 + at, 0, InstanceAction.TERMINATE)


HINTS = st.builds(
    notice,
    st.just(NoticeKind.REBALANCE),
    TIMES,
    st.just(EXPIRY),
    st.just(InstanceAction.TERMINATE),
)


def scheduled(change: int, at: int, start: int) -> Notice:
    """What AWS Health says of one of two changes; it may have said otherwise before."""
    given = notice(NoticeKind.REBALANCE, at, start - 900, InstanceAction.STOP)
    name = "scheduled-change"
    return msgspec.structs.replace(
        given, cause=name, event_id=f"{name}-{change}", ends_at=given.deadline + 900 * SECOND
    )


CHANGES = st.builds(scheduled, st.integers(0, 1), TIMES, st.sampled_from([600, 1_200, 90_000]))
ANY = st.one_of(WARNINGS, WARNINGS, STATE_CHANGES, HINTS, CHANGES)


class Marked(World):
    """A node whose mark the handover lifts in time."""

    def hear(self, notice: Notice, now: datetime, state: str) -> bool:
        """Whether the notice writes something."""
        return self.receive(notice, at=(now - NOW).total_seconds(), state=state).write is not None

    def keep(self, now: datetime) -> bool:
        """What the handover does about the mark while the instance runs; whether it is lifted."""
        carried = mark.read(self.node)
        if carried is None:
            return False
        situation = DoomedNode(
            now=now, node=self.node, notice=carried, heard_at=now, state="running"
        )
        decisions, _ = plan(situation)
        lifts = [each for each in decisions if each.verb is Verb.LIFT]
        for decision in lifts:
            self.document = applied(self.document, decision.write)
        return bool(lifts)


def said(carried: NodeNotice) -> object:
    """What a mark says of the end of its instance."""
    return (
        carried.kind,
        carried.cause,
        carried.ends_at,
        carried.hook,
        carried.event_id,
        carried.deadline,
        carried.action,
        carried.last_deadline,
    )


@given(one=ANY, other=ANY)
def test_the_mark_says_the_same_whichever_notice_came_first(one: Notice, other: Notice) -> None:
    for late, early in ((one, other), (other, one)):
        # A state change well after a deadline: of the end that was announced, or of another one.
        is_change = late.kind is NoticeKind.STATE_CHANGE
        assume(not is_change or late.time < early.deadline + CROSSING)
    now = max(one.time, other.time)
    marked = []
    for order in ((one, other), (other, one)):
        world = Marked()
        for each in order:
            world.hear(each, now, "")
        marked.append(said(world.carried))
    assert marked[0] == marked[1]


@given(
    notices=st.lists(
        st.one_of(WARNINGS, HINTS), unique_by=lambda each: each.event_id, min_size=1, max_size=5
    ),
    end=st.none() | st.builds(ended, st.integers(0, 30)),
    data=st.data(),
)
def test_a_repeat_writes_nothing_in_any_order(
    notices: list[Notice], end: Notice | None, data: st.DataObject
) -> None:
    """At the end the instance may change its state."""
    world, seen = Marked(), list[Notice]()
    now = NOW + 300 * SECOND
    for each in [*data.draw(st.permutations(notices)), *([end] if end else [])]:
        now = max(now, each.time) + data.draw(st.integers(0, 60)) * SECOND
        world.hear(each, now, "")
        seen.append(each)
        assert not world.hear(data.draw(st.sampled_from(seen)), now, "")
    assert not any(world.hear(each, now, "") for each in seen)


@given(
    steps=st.lists(st.tuples(st.integers(0, 130), WARNINGS), min_size=1, max_size=5),
    repeats=st.lists(st.integers(0, 200), min_size=1, max_size=8),
    data=st.data(),
)
@example(steps=[(0, warning(0)), (4, warning(4))], repeats=[178], data=None)
def test_a_repeat_writes_nothing_when_an_earlier_warning_came_to_nothing(
    steps: list[tuple[int, Notice]], repeats: list[int], data: st.DataObject | None
) -> None:
    """EC2 goes on to call the instance running, and the handover lifts the mark in time."""
    world, seen = Marked(), list[Notice]()
    now = NOW
    for pause, each in steps:
        now = max(now + pause * SECOND, each.time)
        world.keep(now)
        world.hear(each, now, "running")
        seen.append(each)
    for pause in repeats:
        now += pause * SECOND
        world.keep(now)
        repeat = seen[-1] if data is None else data.draw(st.sampled_from(seen))
        assert not world.hear(repeat, now, "running")
    world.keep(now + 600 * SECOND + OUTLIVED_AFTER)
    assert mark.read(world.node) is None
    later = warning(2_000)
    world.hear(later, later.time, "running")
    assert not any(world.hear(each, later.deadline, "stopped") for each in seen)
