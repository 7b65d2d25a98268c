"""The pods of a ReplicaSet are counted the same way by any two invocations."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.decisions.drain.plan import plan
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import Condition, LabelSelector
from evenkeel.model.pod import Pod
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import LONG_AGO, NOW, seconds
from tests.kit.effort import measured

REPLICA_SET = builders.replica_set(replicas=3)
DOOMS = {
    "n1": builders.notice(),
    "n2": builders.hint(),
    "dies-first": builders.notice(deadline=NOW + seconds(60)),
}


def owned(name: str, *, of: ReplicaSet = REPLICA_SET, **options: Any) -> Pod:
    return builders.pod(name, of=of, **({"node": "good"} | options))


def released(name: str, *, of: ReplicaSet = REPLICA_SET, **options: Any) -> Pod:
    wanted = options.pop("wanted", of.spec.replicas)
    deadline = options.pop("deadline", None)
    since = {"since": options.pop("since")} if "since" in options else {}
    release = builders.release(of, wanted=wanted, deadline=deadline, **since)
    return builders.pod(name, of=of, released=release, **options)


@pytest.mark.parametrize(
    ("replica_set", "replicas"),
    [
        (builders.replica_set(replicas=5), 5),
        (builders.replica_set(replicas=0), 0),
        (builders.replica_set(replicas=5, leaving=True), 0),
        (None, 0),
    ],
    ids=["asked for five", "scaled to zero", "being deleted", "gone"],
)
def test_no_replicas_are_asked_for_when_the_replica_set_is_gone_or_going(
    replica_set: ReplicaSet | None, replicas: int
) -> None:
    assert builders.census(replica_set).count.replicas_to_keep == replicas


def test_a_pod_counts_as_available_once_it_was_ready_for_min_ready_seconds() -> None:
    slow = builders.replica_set(min_ready_seconds=10)
    pods = [
        owned("old", of=slow),
        owned("just", of=slow, ready_since=NOW - seconds(10)),
        owned("young", of=slow, ready_since=NOW - seconds(9)),
        owned("broken", of=slow, ready=False),
    ]
    away = [released("away", of=slow, ready_since=NOW - seconds(9)), released("there", of=slow)]
    census = builders.census(slow, owned=pods, released=away)
    assert (census.count.available, census.unavailable_owned) == (3, pods[2:])
    assert census.next_available_at == NOW + seconds(1)


def test_it_is_known_since_when_each_pod_is_available() -> None:
    slow = builders.replica_set(min_ready_seconds=10)
    pods = [
        owned("late", of=slow, ready_since=NOW - seconds(20)),
        owned("early", of=slow, ready_since=NOW - seconds(60)),
        owned("young", of=slow, ready_since=NOW - seconds(9)),
    ]
    found = builders.census(slow, owned=pods).available_since
    assert found == [NOW - seconds(50), NOW - seconds(10)]


def test_a_readiness_gate_counts_through_the_ready_condition() -> None:
    gated = owned("gated", ready=False, phase="Running")
    gates = (Condition(type="target-health.elbv2.k8s.aws/web", status="True"),)
    status = msgspec.structs.replace(gated.status, conditions=(*gated.status.conditions, *gates))
    gated = msgspec.structs.replace(gated, status=status)
    assert not builders.census(REPLICA_SET, owned=[gated]).is_available(gated)


def test_a_pod_of_a_replica_set_that_is_gone_is_available_when_it_is_ready() -> None:
    just = released("a", ready_since=NOW)
    census = builders.census(None, released=[just, released("b", ready=False)])
    assert census.count.available == 1
    assert census.next_available_at is None


def test_nothing_becomes_available_by_time_alone_without_min_ready_seconds() -> None:
    young = owned("young", ready_since=NOW - seconds(1))
    assert builders.census(REPLICA_SET, owned=[young]).next_available_at is None


@pytest.mark.parametrize(
    ("ready_since", "expected"),
    [
        ([], None),
        ([None], None),
        ([NOW - seconds(10)], None),
        ([NOW - seconds(8), NOW - seconds(3), None], NOW + seconds(2)),
        ([NOW - seconds(60), NOW - seconds(3)], NOW + seconds(7)),
    ],
)
def test_the_next_pod_to_become_available_by_time_is_known(
    ready_since: Sequence[datetime | None], expected: datetime | None
) -> None:
    slow = builders.replica_set(min_ready_seconds=10)
    pods = [
        owned(f"p{i}", of=slow, ready=since is not None, ready_since=since or NOW)
        for i, since in enumerate(ready_since)
    ]
    assert builders.census(slow, owned=pods).next_available_at == expected


def test_pods_off_doomed_nodes_are_what_would_be_left() -> None:
    pods = [
        owned("left"),
        owned("starting", ready=False),
        owned("pending", node="", ready=False),
        owned("dying", node="n1"),
        owned("hinted", node="n2"),
    ]
    census = builders.census(REPLICA_SET, owned=pods, dooms=DOOMS)
    assert [pod.name for pod in census.off_doomed] == ["left", "starting"]
    assert census.ready_off_doomed == 1
    assert [census.nodes.is_doomed(pod) for pod in pods] == [False, False, False, True, True]


def test_pods_of_a_node_that_is_gone_do_not_count_whatever_the_api_still_says_of_them() -> None:
    young = owned("young", node="gone", ready=False, creation_timestamp=NOW)
    census = builders.census(
        REPLICA_SET,
        owned=[owned("living"), owned("lost", node="gone"), young],
        released=[released("away", node="gone", wanted=0), released("there", wanted=0)],
        dooms=DOOMS,
        lost=["gone"],
    )
    assert census.count.available == 2
    assert [pod.name for pod in census.off_doomed] == ["living"]
    assert census.ready_off_doomed == 1
    assert census.count.next_promise == 2
    assert [census.nodes.is_lost(item.pod) for item in census.released] == [True, False]


@pytest.mark.parametrize(
    ("replica_set", "owns", "away", "expected"),
    [
        pytest.param(builders.replica_set(replicas=3), 3, 0, 0, id="nothing released"),
        pytest.param(
            builders.replica_set(replicas=3), 1, 0, 0, id="fewer than asked for, but none released"
        ),
        pytest.param(builders.replica_set(replicas=3), 1, 2, 2, id="none replaced"),
        pytest.param(builders.replica_set(replicas=3), 2, 2, 1, id="one of two replaced"),
        pytest.param(builders.replica_set(replicas=3), 3, 2, 0, id="all replaced"),
        pytest.param(builders.replica_set(replicas=3), 4, 2, 0, id="more than asked for"),
        pytest.param(builders.replica_set(replicas=1), 0, 2, 1, id="scaled in meanwhile"),
        pytest.param(builders.replica_set(replicas=0), 0, 2, 0, id="scaled to zero"),
        pytest.param(
            builders.replica_set(replicas=3, failure="quota"), 1, 2, 0, id="it cannot make any"
        ),
        pytest.param(builders.replica_set(replicas=3, leaving=True), 1, 2, 0, id="being deleted"),
        pytest.param(None, 0, 2, 0, id="gone"),
    ],
)
def test_releases_count_until_the_controller_has_made_their_replacements(
    replica_set: ReplicaSet | None, owns: int, away: int, expected: int
) -> None:
    census = builders.census(
        replica_set,
        owned=[owned(f"o{i}") for i in range(owns)],
        released=[released(f"r{i}") for i in range(away)],
        dooms=DOOMS,
    )
    assert census.pending_replacements == expected
    assert census.count_changes_at == (NOW + seconds(60) if expected else None)


def test_a_pod_that_starts_is_waited_for_as_long_as_it_is_young() -> None:
    def at(now: datetime) -> Census:
        starting = owned("starting", ready=False, creation_timestamp=NOW - seconds(100))
        return builders.census(REPLICA_SET, owned=[owned("there"), starting], now=now)

    early, late = at(NOW), at(NOW + seconds(200))
    assert (
        early.starting_off_doomed,
        early.count.next_promise,
        early.count_changes_at,
    ) == (1, 2, late.now)
    assert (late.starting_off_doomed, late.count.next_promise, late.count_changes_at) == (
        0,
        1,
        None,
    )


@pytest.mark.parametrize(
    ("release", "options"),
    [
        ({}, {"node": "good"}),
        ({}, {"node": ""}),
        ({}, {"labels": {names.RELEASED_FROM: "another"}}),
        ({"since": NOW - seconds(60)}, {}),
    ],
    ids=["on a good node", "on no node", "of another template", "long ago"],
)
def test_what_evenkeel_has_not_released_lately_from_a_doomed_node_fills_no_window(
    release: dict[str, Any], options: dict[str, Any]
) -> None:
    claim = builders.release(REPLICA_SET, **release)
    pod = builders.pod(of=REPLICA_SET, released=claim, **options)
    stranger = msgspec.structs.replace(
        pod,
        metadata=msgspec.structs.replace(
            pod.metadata, labels=pod.metadata.labels | options.get("labels", {})
        ),
    )
    census = builders.census(REPLICA_SET, released=[stranger], dooms=DOOMS)
    assert census.released
    assert census.pending_replacements == 0


def test_without_a_hash_in_its_selector_nothing_is_released_from_a_replica_set() -> None:
    loose = msgspec.structs.replace(
        REPLICA_SET,
        spec=msgspec.structs.replace(
            REPLICA_SET.spec, selector=LabelSelector(match_labels={"app": "web"})
        ),
    )
    census = builders.census(loose, released=[released("r")], dooms=DOOMS)
    assert census.pending_replacements == 0


def test_the_last_pod_became_available_min_ready_seconds_after_it_was_ready() -> None:
    slow = builders.replica_set(min_ready_seconds=10)
    pods = [owned(f"p{ago}", of=slow, ready_since=NOW - seconds(ago)) for ago in (40, 30, 5)]
    assert builders.census(slow, owned=pods).last_available_at == NOW - seconds(20)
    assert builders.census(slow, owned=pods[2:]).last_available_at is None


def test_no_pod_of_another_replica_set_becomes_available_where_none_was_read() -> None:
    deployment = builders.deployment()
    spec = msgspec.structs.replace(deployment.spec, min_ready_seconds=10)
    deployment = msgspec.structs.replace(deployment, spec=spec)
    found = builders.census(REPLICA_SET, deployment=deployment, owned=[owned("a")])
    assert (found.siblings, found.count_changes_at) == (None, None)


OLD = NOW - timedelta(minutes=5)
YOUNG = OLD + seconds(1)


@pytest.mark.parametrize(
    ("census", "expected"),
    [
        (builders.census(REPLICA_SET, owned=[owned("a"), owned("b"), owned("c")]), 3),
        (builders.census(REPLICA_SET, owned=[owned("a")]), 1),
        (builders.census(REPLICA_SET, owned=[owned("a")], released=[released("b", wanted=0)]), 2),
        (
            builders.census(
                REPLICA_SET,
                owned=[
                    owned("a"),
                    owned("young", ready=False, creation_timestamp=YOUNG),
                    owned("old", ready=False, creation_timestamp=OLD),
                    owned("odd", ready=False, creation_timestamp=None),
                ],
            ),
            2,
        ),
        (builders.census(REPLICA_SET, owned=[owned(f"p{i}") for i in range(5)]), 3),
        (builders.census(REPLICA_SET, released=[released("broken", ready=False, wanted=0)]), 0),
        (builders.census(REPLICA_SET, released=[released("broken", ready=False, wanted=2)]), 2),
        (builders.census(builders.replica_set(replicas=0), owned=[owned("a")]), 0),
    ],
    ids=[
        "all there",
        "one of three",
        "released ones count",
        "what is young is on its way",
        "never more than asked for",
        "nothing works",
        "what a release promised is kept",
        "scaled to zero",
    ],
)
def test_what_works_or_is_about_to_is_worth_keeping(census: Census, expected: int) -> None:
    assert census.count.next_promise == expected


@pytest.mark.parametrize(("minimum", "expected"), [(0, 1), (2, 2), (9, 3)])
def test_the_minimum_so_far_is_worth_keeping_too(minimum: int, expected: int) -> None:
    census = builders.census(REPLICA_SET, owned=[owned("a")])
    again = msgspec.structs.replace(census, minimum_available=minimum)
    assert again.count.next_promise == expected


@pytest.mark.parametrize(
    ("replicas", "kept", "minimum", "expected"),
    [
        pytest.param(3, [], 0, 3, id="nothing released"),
        pytest.param(3, [], 2, 3, id="nothing released, whatever the minimum so far"),
        pytest.param(3, [3], 0, 3, id="all were there"),
        pytest.param(3, [1], 0, 1, id="one was there"),
        pytest.param(3, [1, 2], 0, 2, id="the highest of several releases"),
        pytest.param(3, [1], 2, 2, id="an earlier minimum"),
        pytest.param(1, [3], 0, 1, id="scaled in meanwhile"),
        pytest.param(9, [3], 0, 3, id="scaled out meanwhile"),
        pytest.param(3, [0], 0, 0, id="none was there"),
    ],
)
def test_wanted_is_what_is_asked_for_or_what_was_there_whichever_is_less(
    replicas: int, kept: Sequence[int], minimum: int, expected: int
) -> None:
    replica_set = builders.replica_set(replicas=replicas)
    away = [released(f"r{i}", wanted=wanted) for i, wanted in enumerate(kept)]
    census = builders.census(replica_set, released=away)
    assert msgspec.structs.replace(census, minimum_available=minimum).count.wanted == expected


@pytest.mark.parametrize(
    ("owns", "away", "expected"),
    [
        ([True, True], [True], 0),
        ([True, True, True], [True], 1),
        ([True, True, True], [True, True], 2),
        ([True, True, False], [True, True], 1),
        ([True, True, True], [True, False], 1),
        ([False, False, False], [True, True, True], 0),
        ([], [True], -2),
        ([True, True, True, True], [True], 1),
        ([True, True, True, False], [True], 0),
    ],
)
def test_what_is_available_beyond_what_is_wanted_is_surplus(
    owns: Sequence[bool], away: Sequence[bool], expected: int
) -> None:
    census = builders.census(
        REPLICA_SET,
        owned=[owned(f"o{i}", ready=ready) for i, ready in enumerate(owns)],
        released=[released(f"r{i}", ready=ready) for i, ready in enumerate(away)],
    )
    assert census.count.surplus == expected


def test_the_deadline_of_a_released_pod_is_that_of_its_own_node() -> None:
    census = builders.census(
        REPLICA_SET,
        released=[released("a"), released("b", node="n2"), released("c", node="n3")],
        dooms=DOOMS,
    )
    own = builders.release(REPLICA_SET).deadline
    assert [item.deadline for item in census.released] == [
        Deadline(DOOMS["n1"].deadline, forced=True),
        Deadline(own, forced=False),
        Deadline(own, forced=False),
    ]


IN_ORDER_OF_LEAVING = [
    released("broken", ready=False),
    released("soon", node="dies-first"),
    released("z-released-first", since=NOW - timedelta(minutes=1)),
    released("equal-a"),
    released("equal-b"),
    released("a-released-last", since=NOW + timedelta(seconds=1)),
]


@given(read=st.permutations(IN_ORDER_OF_LEAVING))
def test_the_order_is_unavailable_then_deadline_then_release_then_uid(read: list[Pod]) -> None:
    census = builders.census(REPLICA_SET, released=read, dooms=DOOMS)
    assert [item.pod for item in census.order_of_going] == IN_ORDER_OF_LEAVING


@st.composite
def censuses(draw: st.DrawFn) -> Census:
    """Any census: owned and released pods in any state, on any nodes, at any time."""
    replica_set = builders.replica_set(
        replicas=draw(st.integers(0, 6)), min_ready_seconds=draw(st.sampled_from([0, 30]))
    )

    def some(prefix: str, make: Any) -> list[Pod]:
        return [
            make(
                f"{prefix}{i}",
                of=replica_set,
                node=draw(st.sampled_from(["n1", "n2", "n3", ""])),
                ready=draw(st.booleans()),
                ready_since=NOW - seconds(draw(st.sampled_from([0, 10, 30, 3600]))),
            )
            for i in range(draw(st.integers(0, 6)))
        ]

    def away(name: str, **options: Any) -> Pod:
        kept = draw(st.integers(0, 8))
        deadline = NOW + seconds(draw(st.integers(-5, 5)))
        return released(name, wanted=kept, deadline=deadline, **options)

    return builders.census(
        replica_set, owned=some("o", owned), released=some("r", away), dooms=DOOMS
    )


@given(census=censuses())
def test_surplus_pods_can_go_without_taking_a_workload_below_what_it_wants(
    census: Census,
) -> None:
    available = census.count.available - census.count.excess
    going = [item for item in census.released if item.pod.uid in census.replaced]
    lost = sum(census.is_available(item.pod) for item in going)
    assert available - lost >= min(available, census.count.wanted)
    assert census.count.wanted <= census.count.replicas_to_keep
    assert census.count.next_promise <= census.count.replicas_to_keep


@given(census=censuses(), order=st.randoms(use_true_random=False))
def test_any_two_invocations_agree_on_which_pods_go_in_whatever_order_they_read_them(
    census: Census, order: Random
) -> None:
    pods = order.sample(list(census.pods), len(census.pods))
    other = msgspec.structs.replace(census, pods=pods)
    assert other.order_of_going == census.order_of_going
    for fact in ("count", "pending_replacements", "count_changes_at"):
        assert getattr(other, fact) == getattr(census, fact)


@given(census=censuses(), later=st.integers(1, 60))
def test_a_pod_released_meanwhile_does_not_overtake_the_others(census: Census, later: int) -> None:
    latest = released("a", since=NOW + seconds(later), deadline=NOW + seconds(5), node="n3")
    seen = msgspec.structs.replace(census, pods=[*census.pods, latest])
    before = [item for item in seen.order_of_going if item.pod != latest]
    assert before == list(census.order_of_going)
    same_rank = [
        item
        for item in census.released
        if census.is_available(item.pod) and item.deadline.at <= NOW + seconds(5)
    ]
    order = [item.pod for item in seen.order_of_going]
    assert all(order.index(item.pod) < order.index(latest) for item in same_rank)


def test_a_restore_that_a_warning_overtakes_is_counted_like_any_release() -> None:
    release = builders.release(REPLICA_SET, reason=ReleaseReason.RESTORE)
    pod = builders.pod(of=REPLICA_SET, released=release)
    census = builders.census(REPLICA_SET, released=[pod], dooms=DOOMS)
    assert census.released[0].deadline.forced


@pytest.mark.parametrize(("node", "expected"), [("n1", True), ("n2", True), ("good", False)])
def test_a_handover_goes_on_while_a_released_pod_is_on_a_doomed_node(
    node: str, *, expected: bool
) -> None:
    census = builders.census(REPLICA_SET, released=[released("a", node=node)], dooms=DOOMS)
    assert plan(census).awaits_pods is expected
    assert not plan(builders.census(REPLICA_SET, owned=[owned("b", node=node)])).awaits_pods


def test_a_pod_that_is_ready_since_the_end_of_time_is_ready_since_it_was_made() -> None:
    """Who may write a pod's status may write any time, and adding to the last one overflows."""
    slow = builders.replica_set(min_ready_seconds=2**31 - 1)
    pod = owned("a", of=slow, ready_since=datetime.max.replace(tzinfo=UTC))
    census = builders.census(slow, owned=[pod])
    assert pod.ready_since == LONG_AGO
    assert census.count.available == 0
    assert census.next_available_at == LONG_AGO + seconds(2**31 - 1)


def test_the_work_for_pods_that_say_where_they_are_moved_grows_with_their_number_alone() -> None:
    """Anybody may write a pod and a release that names a target; all are of one ReplicaSet."""

    def effort(number: int) -> int:
        release = builders.release(
            REPLICA_SET, reason=ReleaseReason.RESTORE, target=Capacity.SPOT, there=2**63
        )
        claimed = builders.pods(number, of=REPLICA_SET, prefix="r", released=release)
        there = builders.pods(number, of=REPLICA_SET, prefix="o")
        census = builders.census(REPLICA_SET, owned=there, released=claimed)
        census = builders.with_nodes(census, pools={"n1": None})
        with measured() as effort:
            made = plan(census)
        assert len(made.steps) == number + 1
        return effort.steps

    assert effort(400) < 12 * effort(40)


def test_pods_are_sorted_into_owned_and_released_ones() -> None:
    owned = builders.pod("a", of=REPLICA_SET)
    released = builders.pod("b", of=REPLICA_SET, released=builders.release(REPLICA_SET))
    later = builders.release(REPLICA_SET, since=NOW + timedelta(days=1))
    forged = builders.pod("c", of=REPLICA_SET, released=later)
    put_back = builders.pod("d")
    pods = [owned, released, forged, put_back]
    census = builders.census_of(builders.owner(REPLICA_SET), pods)
    assert [pod.name for pod in census.owned] == ["a"]
    assert [item.pod.name for item in census.released] == ["b"]
