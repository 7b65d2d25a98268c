"""Who is released first, and how many at once."""

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain import pace
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.pod_plan import Candidate
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import NOW, patched, seconds

type Waiting = tuple[Census, Sequence[Candidate]]

DOOMS = {
    "n1": builders.notice(),
    "n2": builders.hint(),
    "drained": builders.notice(NoticeKind.DRAIN, deadline=NOW + seconds(600)),
}


def waiting(  # a workload whose pods on n1 wait for their release
    name: str,
    doomed: int,
    *,
    ready: int = 0,
    starting: int = 0,
    away: int = 0,
    replicas: int | None = None,
    node: str = "n1",
    dooms: dict[str, NodeNotice] | None = None,
    **pod_options: Any,
) -> Waiting:
    """``ready`` and ``starting`` pods of it are on a good node, ``away`` were released."""
    dooms = dooms or DOOMS
    deployment = builders.deployment(name)
    moved = ready + max(away, starting)
    replica_set = builders.replica_set(of=deployment, replicas=replicas or doomed + moved)
    pods = builders.pods(doomed, of=replica_set, prefix=name, node=node, **pod_options)
    census = builders.census(
        replica_set,
        deployment=deployment,
        owned=[
            *pods,
            *builders.pods(ready, of=replica_set, prefix=f"{name}-good", node="good"),
            *builders.pods(
                starting, of=replica_set, prefix=f"{name}-new", node="good", ready=False
            ),
        ],
        released=builders.pods(
            away,
            of=replica_set,
            prefix=f"{name}-away",
            node=node,
            released=builders.release(replica_set),
        ),
        dooms=dooms,
    )
    return census, [candidate(pod, dooms) for pod in pods]


def candidate(pod: Pod, dooms: dict[str, NodeNotice]) -> Candidate:
    return Candidate(pod, node_deadline(dooms[pod.spec.node_name]))


def turns(queues: Sequence[Waiting], room: int = 1000) -> list[pace.Waiting]:
    return list(pace.next_released([pace.rank(*each) for each in queues], room))


def order_of(queues: Sequence[Waiting], room: int = 1000) -> list[str]:
    return [turn.candidate.pod.name for turn in turns(queues, room)]


def would_reach_zero(*queues: Waiting) -> bool:
    return pace.would_reach_zero([pace.rank(*each) for each in queues])


# The order.


def test_every_workload_that_would_reach_zero_gets_a_first_release_before_any_gets_two() -> None:
    queues = [waiting("big", 4), waiting("one", 1), waiting("two", 2), waiting("safe", 2, ready=1)]
    order = order_of(queues)
    assert order[:3] == ["big-0", "one-0", "two-0"]
    assert order[3] in {"big-1", "two-1", "safe-0"}


def test_a_workload_whose_pods_elsewhere_do_not_work_would_reach_zero_too() -> None:
    broken, safe = waiting("broken", 2, starting=3), waiting("a-safe", 2, ready=1)
    assert order_of([safe, broken])[0] == "broken-0"
    assert would_reach_zero(safe, broken)


def test_a_workload_does_not_reach_zero_when_one_of_it_was_released_already() -> None:
    begun, safe = waiting("z-begun", 1, away=1), waiting("safe", 1, ready=1)
    assert order_of([begun, safe]) == ["z-begun-0", "safe-0"]
    assert not would_reach_zero(begun, safe)


def test_while_others_have_workloads_that_would_reach_zero_only_the_first_of_each_goes() -> None:
    queues = [waiting("big", 4), waiting("begun", 2, away=1), waiting("safe", 2, ready=1)]
    first = pace.only_from_zero([pace.rank(*each) for each in queues])
    assert [turn.candidate.pod.name for turn in pace.next_released(first, 10)] == ["big-0"]


def test_a_ranking_of_some_keeps_their_order() -> None:
    ranking = pace.rank(*waiting("a", 4))
    others = [turn.candidate.pod for _, turn in ranking.waiting][1::2]
    found = pace.only(ranking, lambda pod: pod in others)
    assert [turn.candidate.pod for _, turn in found.waiting] == others
    assert found.saves_from_zero == ranking.saves_from_zero


def test_priority_comes_before_rounds_but_not_before_a_workload_that_would_reach_zero() -> None:
    queues = [
        waiting("plain", 1),
        waiting("vip", 4, ready=4, priority=1000),
        waiting("other", 2, ready=1),
    ]
    assert order_of(queues) == ["plain-0", "vip-0", "vip-1", "vip-2", "vip-3", "other-0", "other-1"]


def test_releases_come_in_rounds_of_2_4_4_so_that_no_workload_runs_far_ahead() -> None:
    order = order_of([waiting("a", 40), waiting("b", 40)])
    firsts, rest = order[:2], order[2:]
    assert firsts == ["a-0", "b-0"]
    rounds = []
    for size in (2, 4, 4, 4, 4, 4, 4, 4, 4, 4):
        rounds.append({name[0] for name in rest[: 2 * size]})
        counts = [sum(name.startswith(x) for name in rest[: 2 * size]) for x in "ab"]
        assert counts == [size, size]
        rest = rest[2 * size :]
    assert rounds == [{"a", "b"}] * 10
    assert len(rest) == 2


def test_a_round_comes_one_workload_at_a_time() -> None:
    """Its controller then makes all of them in one go, with one update of its status."""
    order = order_of([waiting("a", 8), waiting("b", 8), waiting("c", 8)])
    for size, begins in ((2, 3), (4, 9)):
        a_round = [name[0] for name in order[begins : begins + 3 * size]]
        assert a_round == sorted(a_round)


@pytest.mark.parametrize(
    "moved",
    [
        waiting("a-moved", 2, away=7),
        waiting("a-moved", 2, ready=7),
        waiting("a-moved", 2, away=7, starting=3),
    ],
    ids=["released", "replaced", "both"],
)
def test_what_was_moved_before_counts_for_the_round(moved: Waiting) -> None:
    order = order_of([moved, waiting("fresh", 8)])
    assert order[:7] == [f"fresh-{i}" for i in range(7)]
    assert set(order[7:]) == {"fresh-7", "a-moved-0", "a-moved-1"}


def test_fewest_ready_replicas_come_first_within_a_round() -> None:
    rich = waiting("a-rich", 1, ready=5)
    poor = waiting("b-poor", 1, ready=3, starting=2)
    assert order_of([rich, poor]) == ["b-poor-0", "a-rich-0"]


def test_the_earliest_deadline_comes_first_when_all_else_is_equal_and_then_the_uid() -> None:
    soon = {"n1": builders.notice(deadline=NOW + seconds(60))}
    queues = [
        waiting("b", 1, ready=1),
        waiting("a", 1, ready=1),
        waiting("c", 1, ready=1, dooms=soon),
    ]
    assert order_of(queues) == ["c-0", "a-0", "b-0"]


def test_a_node_that_dies_comes_before_any_hint() -> None:
    hinted = waiting("a-hinted", 1, node="n2", priority=1000)
    dying = waiting("dying", 2, ready=5)
    assert order_of([hinted, dying]) == ["dying-0", "dying-1", "a-hinted-0"]


def test_within_a_workload_dying_nodes_priority_deadline_and_uid_count_in_this_order() -> None:
    dooms = DOOMS | {"n3": builders.notice(deadline=NOW + seconds(60))}
    replica_set = builders.replica_set(replicas=6)
    pods = [
        builders.pod("e", of=replica_set, node="n2", priority=9),
        builders.pod("d", of=replica_set),
        builders.pod("c", of=replica_set),
        builders.pod("b", of=replica_set, node="n3"),
        builders.pod("a", of=replica_set, priority=5),
    ]
    good = builders.pod("good", of=replica_set, node="good")
    census = builders.census(replica_set, owned=[*pods, good], dooms=dooms)
    assert order_of([(census, [candidate(pod, dooms) for pod in pods])]) == list("abcde")


def test_no_pod_is_released_from_a_replica_set_that_is_gone() -> None:
    census, candidates = waiting("web", 2)
    assert order_of([(msgspec.structs.replace(census, owner=builders.owner()), candidates)]) == []


WORKLOADS = st.fixed_dictionaries(
    {
        "doomed": st.integers(0, 6),
        "ready": st.integers(0, 3),
        "starting": st.integers(0, 2),
        "away": st.integers(0, 3),
        "node": st.sampled_from(["n1", "n2"]),
        "priority": st.sampled_from([0, 0, 10]),
    }
)


@given(
    workloads=st.lists(WORKLOADS, max_size=6),
    room=st.integers(0, 20),
    order=st.randoms(use_true_random=False),
)
def test_the_order_is_the_same_however_the_pods_are_read_and_never_exceeds_the_room(
    workloads: list[dict[str, Any]], room: int, order: Random
) -> None:
    queues = [waiting(f"w{i}", **options) for i, options in enumerate(workloads)]
    shuffled = [
        (census, order.sample(list(candidates), len(candidates)))
        for census, candidates in order.sample(queues, len(queues))
    ]

    everyone = order_of(queues)
    chosen = order_of(shuffled, room)

    assert chosen == everyone[:room]
    assert sorted(everyone) == sorted(c.pod.name for _, queue in queues for c in queue)


@given(workloads=st.lists(WORKLOADS, max_size=6))
def test_dying_nodes_then_zeros_then_priorities_then_rounds_decide_in_any_storm(
    workloads: list[dict[str, Any]],
) -> None:
    queues = [waiting(f"w{i}", **options) for i, options in enumerate(workloads)]
    released = {census.owner.workload: 0 for census, _ in queues}
    ranks = []
    for turn in turns(queues):
        census = turn.census
        before = released[census.owner.workload]
        released[census.owner.workload] += 1
        ahead = before + census.pending_replacements + len(census.off_doomed)
        nothing_left = not before and not census.released and not census.ready_off_doomed
        ranks.append(
            (
                not turn.candidate.deadline.forced,
                not nothing_left,
                -turn.candidate.pod.spec.priority,
                next(r for r in range(10) if 2**r <= ahead + 1 < 2 ** (r + 1)),
                census.ready_off_doomed,
            )
        )
    assert ranks == sorted(ranks)


# The window.


@pytest.mark.parametrize(
    ("rate", "zeros_wait", "expected"),
    [
        (0.0, True, 100),
        (1000.0, True, 100),
        (0.0, False, 100),
        (4.9, False, 100),
        (5.0, False, 100),
        (12.0, False, 240),
        (18.0, False, 360),
        (1000.0, False, 400),
    ],
)
def test_the_window_widens_with_the_rate_seen_once_nothing_would_reach_zero(
    rate: float, expected: int, *, zeros_wait: bool
) -> None:
    assert pace.window(100, rate, zeros_wait=zeros_wait) == expected


@given(
    setting=st.integers(1, 1000),
    rate=st.floats(0, 1e6, allow_nan=False),
    zeros_wait=st.booleans(),
)
def test_the_window_is_never_narrower_than_set_nor_wider_than_four_times_that(
    setting: int, rate: float, *, zeros_wait: bool
) -> None:
    found = pace.window(setting, rate, zeros_wait=zeros_wait)
    assert setting <= found <= 4 * setting


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ([], False),
        ([waiting("one", 1)], True),
        ([waiting("one", 1, away=1)], False),
        ([waiting("safe", 3, ready=1)], False),
        ([waiting("starting", 3, starting=1)], True),
        ([waiting("done", 0)], False),
        ([waiting("hinted", 1, node="n2")], False),
        ([waiting("safe", 3, ready=1), waiting("one", 1)], True),
    ],
)
def test_zeros_wait_while_a_workload_that_nothing_is_left_of_has_no_release_yet(
    queues: Sequence[Waiting], *, expected: bool
) -> None:
    assert would_reach_zero(*queues) is expected


def test_zeros_wait_when_only_a_later_candidate_of_a_workload_is_on_a_dying_node() -> None:
    hinted_census, hinted = waiting("web", 1, node="n2")
    _, dying = waiting("web-z", 1)
    assert would_reach_zero((hinted_census, [*hinted, *dying]))


# The release.


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("n1", ReleaseReason.INTERRUPTION),
        ("n2", ReleaseReason.REBALANCE),
        ("drained", ReleaseReason.DRAIN),
    ],
)
def test_a_release_says_why_how_long_and_how_many_stay(node: str, reason: ReleaseReason) -> None:
    (turn,) = turns([waiting("web", 1, ready=2, node=node)], 10)

    decision = pace.release(turn, NOW)

    pod, replica_set = turn.candidate.pod, turn.replica_set
    assert (decision.verb, decision.reason) == (Verb.RELEASE, "NodeDoomed")
    assert decision.subject == pod.reference
    assert decision.message.startswith(f"{replica_set.name} makes its replacement")
    assert decision.workload is not None
    assert (decision.workload.kind, decision.workload.name) == ("Deployment", "web")
    assert decision.node == node
    assert decision.until == DOOMS[node].deadline
    away = patched(pod, decision.write)
    assert away.released
    assert builders.release_on(away) == builders.release(
        replica_set, reason=reason, deadline=DOOMS[node].deadline, wanted=3
    )


@pytest.mark.parametrize("before", ["true", "false", ""])
def test_a_release_remembers_what_do_not_disrupt_was(before: str) -> None:
    queue = waiting("web", 1, annotations={names.DO_NOT_DISRUPT: before})
    (turn,) = turns([queue], 10)
    away = patched(turn.candidate.pod, pace.release(turn, NOW).write)
    assert builders.release_on(away).do_not_disrupt == before
    assert away.metadata.annotations[names.DO_NOT_DISRUPT] == "true"


def test_a_release_keeps_no_more_available_than_works_now() -> None:
    (first, _) = turns([waiting("web", 2, replicas=5, ready=1)], 10)
    away = patched(first.candidate.pod, pace.release(first, NOW).write)
    assert builders.release_on(away).wanted == 3
