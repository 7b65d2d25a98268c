"""Whatever notices of a node come, in whichever order and however often: one mark, written once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.decisions.notice import marks
from evenkeel.decisions.notice.marking import OUTLIVED_AFTER, mark
from evenkeel.decisions.upkeep.node import Situation, plan
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, InstanceAction, NodeNotice, Notice, NoticeKind
from tests.unit.notice.documents import applied

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
SECOND = timedelta(seconds=1)
EXPIRY = 900


def warning(at: int, action: InstanceAction = InstanceAction.STOP) -> Notice:
    """A warning that is given ``at`` seconds after NOW."""
    lead = 0 if action is InstanceAction.HIBERNATE else 120
    return notice(NoticeKind.INTERRUPTION, at, lead, action)


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


TIMES = st.integers(0, 300)
WARNINGS = st.builds(warning, TIMES, st.sampled_from(InstanceAction))
STATE_CHANGES = st.builds(
    notice,
    st.just(NoticeKind.STATE_CHANGE),
    TIMES,
    st.just(0),
    st.sampled_from([InstanceAction.STOP, InstanceAction.TERMINATE]),
)
HINTS = st.builds(
    notice,
    st.just(NoticeKind.REBALANCE),
    TIMES,
    st.just(EXPIRY),
    st.just(InstanceAction.TERMINATE),
)


class Marked:
    """One node, to which decisions are applied."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {
            "metadata": {"name": "n1", "uid": "u1", "resourceVersion": "7"},
            "spec": {},
        }

    @property
    def node(self) -> Node:
        return msgspec.convert(self.document, Node)

    @property
    def notice(self) -> NodeNotice | None:
        return marks.read(self.node)

    def receive(self, notice: Notice, now: datetime, state: str) -> bool:
        """Whether the notice writes something."""
        decision = mark(self.node, notice, now, state)
        self.document = applied(self.document, decision.write)
        return decision.write is not None

    def keep(self, now: datetime) -> bool:
        """What the handover does about the mark while the instance runs; whether it is lifted."""
        carried = self.notice
        if carried is None:
            return False
        situation = Situation(
            now=now, node=self.node, notice=carried, heard_at=now, state="running"
        )
        decisions, _ = plan(situation)
        lifts = [each for each in decisions if each.verb is Verb.LIFT]
        for decision in lifts:
            self.document = applied(self.document, decision.write)
        return bool(lifts)


@given(
    notices=st.lists(
        st.one_of(WARNINGS, WARNINGS, STATE_CHANGES, HINTS),
        unique_by=lambda each: each.event_id,
        min_size=1,
        max_size=5,
    ),
    data=st.data(),
)
def test_the_mark_is_the_same_in_any_order_and_a_repeat_writes_nothing(
    notices: list[Notice], data: st.DataObject
) -> None:
    one, other = Marked(), Marked()
    now = max(each.time for each in notices)
    for each in notices:
        one.receive(each, now, "")
    seen: list[Notice] = []
    for each in data.draw(st.permutations(notices)):
        now += data.draw(st.integers(0, 100)) * SECOND
        if seen:
            repeat = data.draw(st.sampled_from(seen))
            assert not other.receive(repeat, now, "")
        other.receive(each, now, "")
        seen.append(each)
    assert one.notice is not None
    assert other.notice is not None
    cordon = {"cordoned_at": None, "cordoned_before": False}
    assert msgspec.structs.replace(one.notice, **cordon) == msgspec.structs.replace(
        other.notice, **cordon
    )
    assert not any(other.receive(each, now, "") for each in notices)


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
        world.receive(each, now, "running")
        seen.append(each)
    for pause in repeats:
        now += pause * SECOND
        world.keep(now)
        repeat = seen[-1] if data is None else data.draw(st.sampled_from(seen))
        assert not world.receive(repeat, now, "running")
    world.keep(now + 130 * SECOND + OUTLIVED_AFTER)
    assert world.notice is None
