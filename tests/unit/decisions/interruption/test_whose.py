"""Whether a workload is low because of an interruption."""

import pytest

from evenkeel.decisions.interruption.whose import APART, begins_dip
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from tests.kit.builders import NOW, seconds

WEB = Reference(kind="Deployment", name="web", namespace="shop")


def count(at: float, available: int | None, wanted: int = 3) -> PodCount:
    return PodCount(at=NOW + seconds(at), workload=WEB, available=available, wanted=wanted)


LOW = count(10, 2)


@pytest.mark.parametrize(
    ("last", "low", "went_at", "is_its"),
    [
        (count(0, 3), LOW, 9, True),
        (count(0, 3), LOW, -2, True),
        (count(0, 3), LOW, -3, False),
        (count(0, 3), LOW, None, False),
        (count(0, 2), LOW, 9, False),
        (count(0, None), LOW, 9, True),
        (None, LOW, 9, True),
        (None, LOW, 7, False),
        (count(0, 3), count(10, None), 9, False),
    ],
    ids=[
        "a pod went and one less is there",
        "a pod went a moment before the last count",
        "a pod went before that",
        "no pod went",
        "a pod went and as many are there: it was short before",
        "a pod went after a rollout",
        "a pod went before the first count",
        "a pod went long before the first count",
        "it is not counted any more",
    ],
)
def test_a_dip_is_the_interruptions_if_its_pods_went_for_it(
    last: PodCount | None, low: PodCount, went_at: float | None, *, is_its: bool
) -> None:
    at = None if went_at is None else NOW + seconds(went_at)
    assert begins_dip(last, low, at) == is_its


def test_counts_and_evictions_are_told_two_seconds_apart_at_most() -> None:
    assert seconds(2) == APART
