"""When a workload whose last count was low is whole again, as its pods tell it."""

import pytest

from evenkeel.flows.drain.low_counts import counts_since
from evenkeel.model.pod import Pod
from evenkeel.model.pod_count import PodCount
from tests.kit import builders
from tests.kit.builders import NOW, seconds

WEB = builders.deployment(replicas=3)
OF_WEB = builders.replica_set(of=WEB)


def low(available: int | None) -> PodCount:
    return PodCount(
        at=NOW - seconds(60),
        workload=WEB.reference,
        available=available,
        wanted=3,
        generation=WEB.metadata.generation,
    )


def ready(number: int) -> list[Pod]:
    return [
        builders.pod(f"p{each}", of=OF_WEB, ready_since=NOW - seconds(10 * (number - each)))
        for each in range(number)
    ]


@pytest.mark.parametrize(
    ("before", "there", "counts"),
    [
        (1, 1, []),
        (1, 2, [2]),
        (1, 3, [2, 3]),
        (None, 2, []),
        (None, 3, [3]),
    ],
)
def test_more_pods_than_at_the_low_count_are_counted_one_by_one(
    before: int | None, there: int, counts: list[int]
) -> None:
    found = list(counts_since(low(before), WEB, ready(there), NOW))
    assert [each.available for each in found] == counts
    assert all(each.at <= NOW for each in found)


def test_a_pod_that_is_not_ready_does_not_count() -> None:
    pods = [*ready(1), builders.pod("p9", of=OF_WEB, ready=False)]
    assert not list(counts_since(low(1), WEB, pods, NOW))
