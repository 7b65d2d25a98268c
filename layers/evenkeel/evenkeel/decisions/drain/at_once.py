"""Pods that go as soon as their next ones have a place, so that these have the most time."""

from collections.abc import Iterator

from evenkeel.decisions.drain import seats, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.way import Way


def decide(census: Census) -> Iterator[PodPlan]:
    """All go now, within their budgets; each once its seat is ready, if it gets one."""
    awaited = seats.awaited(census)
    for mover in census.movers(Way.AT_ONCE):
        if mover.pod.uid in awaited:
            yield PodPlan(verdicts.awaits_seat(census, mover), mover.due(census.now))
        else:
            eviction = verdicts.evicted(census, mover, mover.route.message)
            yield PodPlan(eviction, mover.due(census.now, census.next_available_at))
