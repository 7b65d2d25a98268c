"""Pods that go at once, so that their replacements have the most time."""

from collections.abc import Iterator

from evenkeel.decisions.drain import verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.way import Way


def decide(census: Census) -> Iterator[PodPlan]:
    """All go now, within their budgets."""
    for mover in census.movers(Way.AT_ONCE):
        eviction = verdicts.evicted(census, mover, mover.route.message)
        yield PodPlan(eviction, mover.due(census.now, census.next_available_at))
