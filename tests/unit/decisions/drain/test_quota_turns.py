"""A quota refuses a second pod beside the old one: which pods go, and when it is tried again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan, plan
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Condition
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.quota_note import MOST_TRIES, QuotaNote
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import Evict
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import LONG_AGO, NOW, patched, seconds

WARNING, HINT = builders.notice(), builders.hint()
DYING = {"n1": WARNING}
KNOWN = NOW - seconds(2)
TRIED = WARNING.deadline + timedelta(seconds=60)
EVICT_BY = WARNING.deadline - seconds(31)
QUOTA = 'pods "web" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3'
TURNS = QuotaNote(at=NOW - seconds(1), tries=MOST_TRIES, until=TRIED, pods=3)
"""The note of a ReplicaSet of three whose pods go in turns. None has gone yet."""


class Tight:
    """A ReplicaSet of three, to which a quota refuses pods, under a Deployment."""

    def __init__(
        self,
        note: QuotaNote | None = None,
        *,
        replicas: int = 3,
        since: datetime | None = KNOWN,
        failure: str = QUOTA,
        max_unavailable: int = 0,
        notes: dict[str, str] | None = None,
        is_part: bool = False,
        min_ready_seconds: int = 0,
    ) -> None:
        self.deployment = builders.deployment(
            replicas=replicas + is_part, max_unavailable=max_unavailable, annotations=notes
        )
        text = {names.REFUSED: msgspec.json.encode(note).decode()} if note is not None else {}
        made = builders.replica_set(
            of=self.deployment,
            replicas=replicas,
            annotations=text,
            min_ready_seconds=min_ready_seconds,
        )
        failed = Condition(
            type="ReplicaFailure", status="True", message=failure, last_transition_time=since
        )
        status = msgspec.structs.replace(made.status, conditions=(failed,) if failure else ())
        self.replica_set = msgspec.structs.replace(made, status=status)
        self.owned: list[Pod] = []
        self.released: list[Pod] = []
        self.moving: list[Any] = []
        self.going: list[Pod] = []

    def doomed(self, *names: str, notice: NodeNotice = WARNING, **options: Any) -> "Tight":
        """Add owned pods on a doomed node, which would be handed over."""
        pods = [self.pod(name, **options) for name in names]
        self.owned += pods
        self.moving += [builders.moving(pod, Way.HANDOVER, notice) for pod in pods]
        return self

    def elsewhere(self, *names: str, **options: Any) -> "Tight":
        """Add owned pods on another node."""
        self.owned += [self.pod(name, **({"node": "good"} | options)) for name in names]
        return self

    def away(self, *names: str, reason: ReleaseReason = ReleaseReason.INTERRUPTION) -> "Tight":
        """Add released pods."""
        release = builders.release(self.replica_set, reason=reason)
        self.released += [self.pod(name, released=release) for name in names]
        return self

    def told(
        self, *names: str, ago: float = 10, seen: bool = True, node: str = "n1", grace: int = 30
    ) -> "Tight":
        """Add pods that were told to go so long ago; ``seen``: the API server said so."""
        end = NOW - seconds(ago) + seconds(grace)
        meta = {"deletion_timestamp": end, "deletion_grace_period_seconds": grace}
        self.going += [self.pod(name, node=node, **(meta if seen else {})) for name in names]
        return self

    def pod(self, name: str, **options: Any) -> Pod:
        return builders.pod(name, of=self.replica_set, **options)

    def census(self, now: datetime, dooms: dict[str, NodeNotice]) -> Census:
        found = builders.census(
            self.replica_set,
            deployment=self.deployment,
            owned=self.owned,
            released=self.released,
            moving=self.moving,
            dooms=dooms,
            now=now,
        )
        return msgspec.structs.replace(found, going=self.going, siblings=())

    def plan(
        self,
        now: datetime = NOW,
        dooms: dict[str, NodeNotice] | None = None,
        stops_in: timedelta | None = None,
    ) -> Plan:
        census = self.census(now, DYING if dooms is None else dooms)
        return plan(msgspec.structs.replace(census, stops_in=stops_in))

    def note(self, now: datetime = NOW) -> QuotaNote | None:
        """What the ReplicaSet bears once the plan's note is written; None: none is."""
        steps = [step for step in self.plan(now).steps if step.verb is Verb.TRY_AGAIN]
        if not steps:
            return None
        (step,) = steps
        assert step.subject == self.replica_set.reference
        assert step.reason == "QuotaRefuses"
        has_room = self.census(now, DYING).quota_has_room
        assert ("has room for more of its pods" in step.message) is has_room
        found: QuotaNote | None = patched(self.replica_set, step.write).quota_note
        assert found is not None
        return found


def words(decisions: Sequence[Decision]) -> dict[str, str]:
    """What is decided about pods, by name."""
    return {
        each.subject.name: f"{each.verb} {each.reason}"
        for each in decisions
        if each.subject.kind == "Pod"
    }


def turns(found: Plan) -> list[str]:
    """The pods whose turn it is."""
    assert all(isinstance(each.write, Evict) for each in found.evictions)
    return sorted(each.subject.name for each in found.evictions)


def test_turns_begin_when_a_quota_has_refused_for_two_seconds() -> None:
    tight = Tight().away("a", "b", "c")
    assert tight.note() == msgspec.structs.replace(TURNS, at=NOW)
    assert words(tight.plan().steps) == dict.fromkeys("abc", "wait ReplacementPending")


def test_until_then_it_may_yet_make_pods() -> None:
    tight = Tight(since=NOW - seconds(1)).away("a", "b", "c")
    assert tight.note() is None
    assert tight.plan().due == NOW + seconds(1)


@pytest.mark.parametrize("since", [None, datetime(2026, 1, 1)])  # noqa: DTZ001 - as it may come
def test_a_refusal_of_which_no_time_is_known_is_believed(since: datetime | None) -> None:
    assert Tight(since=since).away("a", "b", "c").note() is not None


def test_pods_that_were_never_released_go_in_turns_too() -> None:
    tight = Tight().doomed("a", "b").elsewhere("c")
    assert tight.note() == msgspec.structs.replace(TURNS, at=NOW)
    two = Tight(replicas=2).doomed("a", "b")
    assert two.note() == msgspec.structs.replace(TURNS, at=NOW, pods=2)


def test_so_many_are_to_be_there_as_the_quota_allowed() -> None:
    note = Tight(replicas=5).doomed("a", "b").elsewhere("c").note()
    assert note is not None
    assert note.pods == 3


@pytest.mark.parametrize(
    "tight",
    [
        Tight().doomed("a"),
        Tight().doomed("a", "b").told("c"),
        Tight().away("a", "b").elsewhere("c", ready=False, creation_timestamp=NOW),
        Tight().away("a", "b", "c").elsewhere("d"),
        Tight(is_part=True).away("a", "b", "c"),
    ],
    ids=["a single pod", "one leaves", "a replacement starts", "one is replaced", "in a rollout"],
)
def test_no_turns_begin_but_the_refusal_is_noted(tight: Tight) -> None:
    """So that the controller tries again when a pod is gone."""
    assert tight.note() == QuotaNote(at=NOW, tries=MOST_TRIES)


def test_no_turns_begin_while_a_replacement_is_tried() -> None:
    """A pod that was replaced is gone, and the quota has room for another replacement."""
    tried = QuotaNote(at=NOW, tries=MOST_TRIES - 1)
    assert Tight(tried).away("a", "b", "c").note() is None
    in_vain = msgspec.structs.replace(tried, tries=MOST_TRIES)
    assert Tight(in_vain).away("a", "b", "c").note() == msgspec.structs.replace(TURNS, at=NOW)


@pytest.mark.parametrize(
    ("failure", "notes"),
    [
        ("", {}),
        ("maximum cpu usage per Container is 1", {}),
        (QUOTA, {names.REFUSED: "{}"}),
    ],
    ids=["none", "by a LimitRange", "as the Deployment's note would be written over it"],
)
def test_nothing_is_noted_of_another_failure(failure: str, notes: dict[str, str]) -> None:
    assert Tight(failure=failure, notes=notes).away("a", "b", "c").note() is None


def test_nothing_is_noted_where_no_pod_waits_on_a_dying_node() -> None:
    assert Tight().elsewhere("a", "b", "c").note() is None


def test_under_a_hint_nothing_is_noted() -> None:
    tight = Tight(since=NOW - seconds(1)).doomed("a", "b", "c", notice=HINT)
    assert tight.note() is None
    assert tight.plan().due == HINT.deadline - seconds(60)
    assert words(tight.plan().steps)["a"] == "leave CannotBeReplaced"


def test_what_is_released_goes_back_first() -> None:
    found = Tight(TURNS).away("a", "b").doomed("c").plan()
    assert words(found.steps) == {
        "a": "roll-back QuotaRefuses",
        "b": "roll-back QuotaRefuses",
        "c": "wait QuotaRefuses",
    }
    assert turns(found) == []
    assert found.candidates == []


def test_one_that_is_replaced_goes() -> None:
    found = Tight(TURNS).away("a").elsewhere("x", "y", "z").plan()
    assert turns(found) == ["a"]
    assert found.evictions[0].reason == "ReplacementAvailable"


def test_then_the_first_one_goes() -> None:
    note = msgspec.structs.replace(TURNS, at=NOW)
    found = Tight(note, failure="").doomed("a", "b", "c").plan()
    assert turns(found) == ["a"]
    assert found.evictions[0].reason == "QuotaRefuses"
    assert words(found.steps) == dict.fromkeys("bc", "wait QuotaRefuses")
    assert {each.until for each in found.steps} == {EVICT_BY}
    assert [each.pod.name for each in found.forced] == ["a", "b", "c"]
    assert found.awaits_pods
    assert found.due == EVICT_BY + seconds(31 + 60)


def test_those_with_the_earlier_deadline_go_first() -> None:
    later = builders.notice(deadline=WARNING.deadline + seconds(60))
    dooms = DYING | {"n2": later}
    tight = Tight(TURNS).doomed("a", node="n2", notice=later).doomed("b").elsewhere("c")
    assert turns(tight.plan(dooms=dooms)) == ["b"]


@pytest.mark.parametrize("seen", [True, False])
def test_none_goes_while_another_leaves(seen: bool) -> None:  # noqa: FBT001
    tight = Tight(TURNS).doomed("b", "c").told("a", seen=seen)
    assert turns(tight.plan()) == []
    assert tight.plan().awaits_pods
    five = Tight(msgspec.structs.replace(TURNS, pods=5), replicas=5)
    assert turns(five.doomed("c", "d", "e").told("a", "b", seen=seen).plan()) == []


@pytest.mark.parametrize(("node", "expected"), [("n1", True), ("good", False)])
def test_no_invocation_stays_for_one_that_leaves_a_live_node(node: str, *, expected: bool) -> None:
    """Its ReplicaSet's note may be forged, and it may take hours to stop."""
    tight = Tight(TURNS).elsewhere("b", "c").told("a", node=node, grace=7200)
    assert tight.plan().awaits_pods is expected


def test_none_goes_while_the_replacement_is_not_available() -> None:
    tight = Tight(TURNS).doomed("b", "c").elsewhere("x", ready=False)
    assert turns(tight.plan()) == []


def test_the_next_goes_when_it_is() -> None:
    assert turns(Tight(TURNS).doomed("b", "c").elsewhere("x").plan()) == ["b"]


def test_the_rest_waits_when_another_pod_took_the_place() -> None:
    found = Tight(TURNS, max_unavailable=2).doomed("b", "c").plan()
    assert turns(found) == []
    assert words(found.steps) == dict.fromkeys("bc", "wait QuotaRefuses")


def test_what_is_not_ready_goes_at_once() -> None:
    found = Tight(TURNS).doomed("a", "b", ready=False).doomed("c").plan()
    assert turns(found) == ["a", "b"]


def test_what_went_with_its_node_goes_at_once() -> None:
    tight = Tight(TURNS).doomed("a", node="gone").doomed("b", "c")
    census = builders.with_nodes(tight.census(NOW, DYING), lost=frozenset(["gone"]))
    assert turns(plan(census)) == ["a"]


def test_one_that_is_ready_and_not_available_yet_waits_for_its_turn() -> None:
    """It serves, and no minReadySeconds are over before it goes."""
    young = NOW - seconds(30)
    tight = Tight(TURNS, min_ready_seconds=300).doomed("a", "b", "c", ready_since=young)
    assert turns(tight.plan()) == ["a"]
    many = Tight(TURNS, min_ready_seconds=300, max_unavailable=3)
    assert turns(many.doomed("a", "b", "c", ready_since=young).plan()) == ["a", "b"]


def test_a_new_one_has_to_be_available() -> None:
    tight = Tight(TURNS, min_ready_seconds=20).doomed("b", "c")
    assert turns(tight.elsewhere("x", ready_since=NOW - seconds(10)).plan()) == []


def test_as_many_go_as_may_be_unavailable() -> None:
    assert turns(Tight(TURNS, max_unavailable=2).doomed("a", "b", "c").plan()) == ["a", "b"]


def test_one_stays_whatever_may_be_unavailable() -> None:
    assert turns(Tight(TURNS, max_unavailable=3).doomed("a", "b", "c").plan()) == ["a", "b"]


def test_no_more_are_wanted_than_replicas() -> None:
    for pods in ("ab", "abc"):
        assert turns(Tight(TURNS, replicas=2).doomed(*pods).plan()) == ["a"]


@pytest.mark.parametrize(
    ("stop", "to_ready", "min_ready", "at_once"),
    [
        (30, 0, 0, 4),  # 10 pods in three turns of 31 s, of which the last begins by 89 s
        (10, 0, 0, 1),
        (10, 20, 0, 3),  # In four turns by 109 s
        (10, 0, 20, 3),
        (30, 30, 0, 4),  # It would take five, and a majority stays.
        (30, 59, 0, 4),
        (None, 0, 0, 1),  # That a pod takes 30 s is not known until one was seen.
    ],
)
def test_so_many_go_at_once_that_all_are_replaced_in_time(
    stop: int | None, to_ready: int, min_ready: int, at_once: int
) -> None:
    note = msgspec.structs.replace(TURNS, pods=10)
    tight = Tight(note, replicas=10, min_ready_seconds=min_ready)
    tight.doomed(*"abcdefghij", ready_since=LONG_AGO + seconds(to_ready), grace=30)
    found = tight.plan(stops_in=None if stop is None else seconds(stop))
    assert len(turns(found)) == at_once


def test_the_last_one_s_deadline_counts() -> None:
    later = builders.notice(deadline=WARNING.deadline + seconds(30))
    note = msgspec.structs.replace(TURNS, pods=10)
    tight = Tight(note, replicas=10).doomed(*"abcdefghi", ready_since=LONG_AGO)
    tight.doomed("j", node="n2", notice=later, ready_since=LONG_AGO, grace=10)
    found = tight.plan(dooms=DYING | {"n2": later}, stops_in=seconds(30))
    assert len(turns(found)) == 2  # 10 pods in five turns of 31 s


def test_the_shortest_time_to_ready_counts() -> None:
    """The others may have failed their probes for a while."""
    note = msgspec.structs.replace(TURNS, pods=10)
    tight = Tight(note, replicas=10).doomed(*"abcdefghi", ready_since=NOW - seconds(5))
    assert len(turns(tight.doomed("j").plan(stops_in=seconds(10)))) == 1


def test_a_turn_takes_as_long_as_the_last_one() -> None:
    note = msgspec.structs.replace(TURNS, pods=10, told_at=NOW - seconds(10), took=50)
    tight = Tight(note, replicas=10).elsewhere("x", ready_since=NOW - seconds(8))
    assert turns(tight.doomed(*"abcdefghi").plan()) == ["a"]
    earlier = msgspec.structs.replace(note, told_at=NOW - seconds(50))
    tight = Tight(earlier, replicas=10).elsewhere("x", ready_since=NOW - seconds(8))
    assert turns(tight.doomed(*"abcdefghi").plan()) == ["a", "b", "c"]
    none_since = msgspec.structs.replace(note, told_at=NOW - seconds(8))
    tight = Tight(none_since, replicas=10).elsewhere("x", ready_since=NOW - seconds(8))
    assert turns(tight.doomed(*"abcdefghi").plan()) == ["a", "b", "c", "d"]


def test_it_is_noted_when_a_pod_is_told_to_go() -> None:
    note = msgspec.structs.replace(TURNS, told_at=NOW - seconds(60), took=5)
    tight = Tight(note).doomed("b").told("a").elsewhere("x", ready_since=NOW - seconds(40))
    assert tight.note() == msgspec.structs.replace(
        note, at=NOW, going=1, told_at=NOW - seconds(10), took=20
    )


def test_it_is_noted_when_another_one_is_told_to_go() -> None:
    note = msgspec.structs.replace(TURNS, going=1, told_at=NOW - seconds(60))
    found = Tight(note).doomed("b").told("a").note()
    assert found == msgspec.structs.replace(note, at=NOW, told_at=NOW - seconds(10))


def test_it_is_not_noted_again_nor_before_the_api_server_says_so() -> None:
    note = msgspec.structs.replace(TURNS, going=1, told_at=NOW - seconds(10))
    assert Tight(note).doomed("b").told("a").told("c", seen=False).note() is None


GONE = msgspec.structs.replace(TURNS, going=1, told_at=NOW - seconds(10))
"""The note once a pod was told to go."""


def test_it_is_tried_at_once_when_a_pod_is_gone() -> None:
    assert Tight(GONE).doomed("b", "c").note() == msgspec.structs.replace(
        GONE, at=NOW, going=0, tries=0
    )


def test_and_again_each_second_a_few_times() -> None:
    note, now = msgspec.structs.replace(GONE, at=NOW, going=0, tries=0), NOW
    for number in range(1, MOST_TRIES + 1):
        tight = Tight(note).doomed("b", "c")
        assert tight.note(now) is None
        now += seconds(1)
        assert tight.plan(now - seconds(1)).due == now
        found = tight.note(now)
        assert found == msgspec.structs.replace(note, at=now, tries=number)
        note = found
    assert Tight(note).doomed("b", "c").note(now + seconds(10)) is None


def test_it_is_not_tried_once_the_pod_is_made() -> None:
    assert Tight(GONE, failure="").doomed("b", "c").elsewhere("x").note() is None


def test_after_a_last_moment_it_is_tried_too() -> None:
    note = QuotaNote(at=NOW - seconds(10), tries=MOST_TRIES, going=1, told_at=NOW - seconds(10))
    assert Tight(note, replicas=1).note() == msgspec.structs.replace(note, at=NOW, going=0, tries=0)


def test_turns_are_over_when_no_eviction_is_tried_any_more() -> None:
    assert tried_until(builders.moving(Tight().pod("a"), Way.HANDOVER, WARNING).deadline) == TRIED
    tight = Tight(TURNS, failure="").doomed("a", "b", "c")
    before, after = tight.plan(TRIED - seconds(1)), tight.plan(TRIED)
    assert turns(before) == ["a"]
    assert before.due == TRIED
    assert turns(after) == []
    assert len(after.candidates) == 3


def test_a_rollout_ends_them() -> None:
    found = Tight(TURNS, is_part=True).doomed("a", "b", "c").plan()
    assert turns(found) == []
    assert words(found.steps) == dict.fromkeys("abc", "wait CannotBeReplaced")


@pytest.mark.parametrize(
    "tight",
    [
        Tight(TURNS, failure="").doomed("b", "c").elsewhere("x").told("a"),
        Tight(TURNS).doomed("b", "c").elsewhere("x").told("a"),
        Tight(TURNS, failure="").doomed("b", "c").elsewhere("x").told("a", seen=False),
        Tight(TURNS, failure="", replicas=5).doomed("a", "b", "c").elsewhere("x"),
        Tight(TURNS, failure="").doomed("b", "c").away("a").elsewhere("x"),
    ],
    ids=["one leaves", "it is refused no more soon", "one is told to go", "more are wanted", "new"],
)
def test_a_quota_that_has_room_again_ends_them(tight: Tight) -> None:
    """A successor was made while the pod before it still has its place."""
    found = tight.plan()
    assert tight.note() == msgspec.structs.replace(TURNS, at=NOW, until=None, pods=0)
    assert "QuotaRefuses" not in str(words([*found.steps, *found.evictions]))


def test_then_they_do_not_begin_again_while_pods_can_be_made() -> None:
    over = msgspec.structs.replace(TURNS, until=None, pods=0)
    found = Tight(over, failure="").doomed("b", "c").elsewhere("x")
    assert found.note() is None
    assert len(found.plan().candidates) == 2


def test_a_pod_that_a_dead_node_holds_past_its_grace_period_says_nothing_of_the_quota() -> None:
    """The quota forgets it, and its successor is made beside it."""
    tight = Tight(TURNS, failure="").doomed("b", "c").elsewhere("x").told("a", ago=30)
    assert tight.note() is None
    assert turns(tight.plan()) == ["b"]
    before = Tight(TURNS, failure="").doomed("b", "c").told("a", ago=29)
    assert before.plan().due == NOW + seconds(1)


def test_no_pod_goes_for_a_hint_meanwhile() -> None:
    dooms = DYING | {"n2": HINT}
    found = Tight(TURNS, failure="").doomed("a").doomed("b", node="n2", notice=HINT)
    assert words(found.elsewhere("c").plan(dooms=dooms).steps) == {"b": "leave QuotaRefuses"}


@pytest.mark.parametrize(
    "spoilt",
    [
        {"until": NOW + timedelta(days=2)},
        {"at": datetime(1, 1, 1)},  # noqa: DTZ001 - as it may come
        {"told_at": datetime(9999, 1, 1)},  # noqa: DTZ001
        {"tries": -1_000_000_000},
        {"tries": MOST_TRIES + 1},
        {"pods": -1},
        {"going": -1},
        {"took": -1},
        {"took": 1e300},
    ],
)
def test_a_note_that_evenkeel_would_not_write_is_none(spoilt: dict[str, Any]) -> None:
    tight = Tight(msgspec.structs.replace(TURNS, **spoilt), failure="").doomed("a", "b", "c")
    assert tight.replica_set.quota_note is None
    assert len(tight.plan().candidates) == 3


def test_a_note_that_is_none_at_all_is_none() -> None:
    assert ReplicaSet(metadata=builders.metadata("web")).quota_note is None
    spoilt = builders.replica_set(annotations={names.REFUSED: "[1]"})
    assert spoilt.quota_note is None
