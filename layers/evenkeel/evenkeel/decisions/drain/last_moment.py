"""The pods of a workload that are evicted at their last moment, because their nodes die."""

from collections.abc import Sequence

from evenkeel.decisions.drain import break_first, verdicts
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census, MovingPod, ReleasedPod
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason


def forced_evictions(
    census: Census,
    handed: Sequence[MovingPod],
    others: Sequence[MovingPod],
    in_turn: Sequence[MovingPod] = (),
) -> Sequence[Forced]:
    """The pods whose nodes die, and what of their workload serves on after each.

    ``handed`` are those that wait for a release, ``others`` those that break before they make, some
    of them ``in_turn``.

    - Evicting a pod whose replacement is available costs nothing.
    - Each other pod of a handover leaves one pod less: by eviction deadline, and released pods
      before owned ones, because pods that start replace released ones.
    - Each pod that breaks before it makes leaves one available pod less.
    """
    dying = [
        item
        for item in census.order_of_going
        if item.deadline.forced and item.pod.uid not in census.kept and not census.is_lost(item.pod)
    ]
    replaced = [item for item in dying if item.pod.uid in census.may_go]
    unreplaced: list[ReleasedPod | MovingPod] = [
        *(item for item in dying if item.pod.uid not in census.may_go),
        *(mover for mover in handed if mover.deadline.forced),
    ]
    unreplaced.sort(key=lambda each: each.evict_by)
    serving = census.ready_off_doomed + len(unreplaced)
    breaking = (mover for mover in others if mover.deadline.forced)
    turns = break_first.evict_by(census, in_turn)
    return [
        *(
            Forced(
                pod=item.pod,
                owner=census.owner,
                evict_by=item.evict_by,
                share_remaining=census.share(serving),
                is_replaced=True,
            )
            for item in replaced
        ),
        *(
            Forced(
                pod=each.pod,
                owner=census.owner,
                evict_by=each.evict_by,
                share_remaining=census.share(serving - position),
                is_coming=position <= census.starting_off_doomed,
                first=_back_first(census, each),
            )
            for position, each in enumerate(unreplaced, 1)
        ),
        *(
            Forced(
                pod=mover.pod,
                owner=census.owner,
                evict_by=turns.get(mover.pod.uid, mover.evict_by),
                share_remaining=census.share(census.available - position),
                together=mover.together is not None,
                lives=mover.lives,
            )
            for position, mover in enumerate(breaking, 1)
        ),
    ]


def _back_first(census: Census, each: ReleasedPod | MovingPod) -> Decision | None:
    """A released pod goes back before it is evicted if its ReplicaSet cannot make pods.

    The eviction of an owned pod makes it try again at once, while its back-off after a failure
    takes up to 22 s and more.
    """
    why = census.why_no_replacement
    if not why or isinstance(each, MovingPod):
        return None
    return verdicts.roll_back(census, each, Reason.CANNOT_BE_REPLACED, why)
