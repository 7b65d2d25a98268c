"""Pods whose nodes die: by when each is evicted by force, and what of its workload serves on."""

from collections.abc import Iterator
from typing import Final

from evenkeel.decisions.drain import break_first, verdicts
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way

BREAKING: Final = (Way.AT_ONCE, *break_first.TAKE_TURNS, Way.AT_LAST_MOMENT)
"""The ways on which a pod goes before its replacement runs."""


def decide(census: Census) -> Iterator[PodPlan]:
    """Have pods that go no other way wait for their last moment."""
    for mover in census.movers(Way.AT_LAST_MOMENT):
        due = mover.due(census.now, census.next_available_at)
        yield PodPlan(verdicts.waits(census, mover), due)


def of_handover(census: Census) -> Iterator[PodPlan]:
    """The slot of each pod of a handover whose node dies."""
    return map(PodPlan, _handed_over(census))


def of_breaking(census: Census) -> Iterator[PodPlan]:
    """The slot of each pod that breaks before it makes, and whose node dies."""
    return map(PodPlan, _breaking(census))


def _handed_over(census: Census) -> Iterator[Forced]:
    """The pods of a handover: what serves on once each is gone.

    - Evicting one whose replacement is available costs nothing.
    - Each other one leaves one pod less: by eviction deadline, and released pods before owned
      ones, because pods that start replace released ones.
    """
    dying = [
        item
        for item in census.order_of_going
        if item.deadline.forced
        and item.pod.uid not in census.kept
        and not census.nodes.is_lost(item.pod)
    ]
    may_go = census.may_go
    waiting: list[ReleasedPod | MovingPod] = [
        *(item for item in dying if item.pod.uid not in may_go),
        *(mover for mover in census.movers(Way.HANDOVER) if mover.deadline.forced),
    ]
    waiting.sort(key=lambda each: each.evict_by)
    serving = census.ready_off_doomed + len(waiting)
    for item in dying:
        if item.pod.uid in may_go:
            yield Forced(
                pod=item.pod,
                owner=census.owner,
                evict_by=item.evict_by,
                share_remaining=_share(census, serving),
                is_replaced=True,
            )
    for position, each in enumerate(waiting, 1):
        yield Forced(
            pod=each.pod,
            owner=census.owner,
            evict_by=each.evict_by,
            share_remaining=_share(census, serving - position),
            is_coming=position <= census.starting_off_doomed,
            first=_back_first(census, each),
        )


def _breaking(census: Census) -> Iterator[Forced]:
    """Each pod that breaks before it makes leaves one available pod less."""
    turns = break_first.evict_by(census)
    dying = (mover for mover in census.movers(*BREAKING) if mover.deadline.forced)
    for position, mover in enumerate(dying, 1):
        yield Forced(
            pod=mover.pod,
            owner=census.owner,
            evict_by=turns.get(mover.pod.uid, mover.evict_by),
            share_remaining=_share(census, census.count.available - position),
            together=mover.together is not None,
            lives=mover.lives,
        )


def _share(census: Census, pods: int) -> float:
    """So many pods as a share of its replicas; 1 where none are asked for, as none is missing.

    More than 1 where there are more pods than are asked for.
    """
    replicas = census.count.replicas_to_keep
    return max(0, pods) / replicas if replicas else 1.0


def _back_first(census: Census, each: ReleasedPod | MovingPod) -> Decision | None:
    """A released pod goes back before it is evicted if its ReplicaSet cannot make pods.

    The eviction of an owned pod makes it try again at once, while its back-off after a failure
    takes up to 22 s and more.
    """
    why = census.owner.why_no_replacement
    if not why or isinstance(each, MovingPod):
        return None
    return verdicts.roll_back(census, each, Reason.CANNOT_BE_REPLACED, why)
