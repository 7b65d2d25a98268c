"""Pods whose nodes die: by when each is evicted by force, and what of its workload serves on."""

from collections.abc import Iterator

from evenkeel.decisions.drain import break_first, verdicts
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way


def decide(census: Census) -> Iterator[PodPlan]:
    """Have pods that go no other way wait for their last moment."""
    for mover in census.movers(Way.AT_LAST_MOMENT):
        due = mover.due(census.now, census.next_available_at)
        yield PodPlan(verdicts.waits(census, mover), due)


def of_dying(census: Census) -> Iterator[PodPlan]:
    """The slot of each pod whose node dies."""
    return map(PodPlan, _slots(census))


def _slots(census: Census) -> Iterator[Forced]:
    """What serves on once each is gone: evicting one whose replacement is available costs nothing.

    Each other one leaves one pod less. A pod that nothing replaces has nothing to wait for.
    """
    line, in_turn = census.line, break_first.forced_by(census)
    serving = census.ready_off_doomed + len(line)
    for item in census.dying_released:
        if item.pod.uid in census.replaced:
            yield Forced(
                pod=item.pod,
                owner=census.owner,
                evict_by=item.evict_by,
                share_remaining=_share(census, serving),
                is_replaced=True,
            )
    for position, each in enumerate(line, 1):
        evict_by = in_turn.get(each.pod.uid, census.evict_by(each))
        yield Forced(
            pod=each.pod,
            owner=census.owner,
            evict_by=evict_by,
            share_remaining=_share(census, serving - position) if each.is_replaced else 1.0,
            is_coming=position <= census.starting_off_doomed,
            first=_back_first(census, each),
            after=evict_by - each.evict_by,
            together=each.together is not None,
            lives=each.lives,
        )


def _share(census: Census, pods: int) -> float:
    """So many pods as a share of its replicas; 1 where none are asked for, as none is missing.

    More than 1 where there are more pods than are asked for.
    """
    replicas = census.count.replicas_to_keep
    return pods / replicas if replicas else 1.0


def _back_first(census: Census, each: ReleasedPod | MovingPod) -> Decision | None:
    """A released pod goes back before it is evicted if its ReplicaSet cannot make pods.

    The eviction of an owned pod makes it try again at once, while its back-off after a failure
    takes up to 22 s and more.
    """
    why = census.owner.why_no_replacement
    if not why or isinstance(each, MovingPod):
        return None
    return verdicts.roll_back(census, each, Reason.CANNOT_BE_REPLACED, why)
