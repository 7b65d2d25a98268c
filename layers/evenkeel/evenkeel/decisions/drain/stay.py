"""Pods that stay where they are."""

from collections.abc import Iterator

from evenkeel.decisions.drain import refusal, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.way import Way


def decide(census: Census) -> Iterator[PodPlan]:
    """Say why each stays: it is not Evenkeel's to move now, or its owner keeps it to the end."""
    for mover in census.movers(Way.STAY):
        is_not_moved = mover.route.way is Way.STAY
        yield PodPlan(
            verdicts.not_moved(census, mover)
            if is_not_moved
            else refusal.leave(mover.pod, census.owner),
            mover.route.until,
        )
