"""How many pods of a workload one pool is to have at most, and what is said where it has more."""

from collections.abc import Callable, Mapping, Sequence

from evenkeel.decisions.floor.standing import Remark
from evenkeel.decisions.pools.spread import Spread
from evenkeel.model.annotations import ONE_POOL_AT_MOST
from evenkeel.model.reasons import Reason
from evenkeel.model.workload import JobSpec, Workload


def goal_of(
    workload: Workload,
    of_pods: Mapping[str, str] | None,
    of_namespace: Mapping[str, str] | None,
) -> int | None:
    """How many of the wanted pods one pool is to have at most; None if nobody says so.

    The workload is a ReplicaSet's Deployment, where it has one. The annotations of its pods'
    template come before its own, and these before its namespace's. The first that have the key
    count, even with a value that means nothing.
    """
    places = (of_pods, workload.metadata.annotations, of_namespace)
    said = next((place for place in places if ONE_POOL_AT_MOST.key in (place or {})), None)
    at_most = ONE_POOL_AT_MOST.of(said)
    if at_most is None:
        return None
    spec = workload.spec
    return at_most.of(spec.parallelism if isinstance(spec, JobSpec) else spec.replicas)


def remarks_on(spread: Spread, goal: int, pools: Callable[[], int]) -> Sequence[Remark]:
    """What is off with a workload that has a goal; nothing while it is kept.

    ``pools`` counts the pools that take its pods. It looks at all nodes, so it is asked only where
    a pool has more than the goal.
    """
    most = max(spread.held.values(), default=0)
    if most <= goal:
        return []
    taking = pools()
    on_spot = sum(spread.held.values())
    needed = -(-on_spot // goal)
    if needed > taking:
        message = (
            f"its {on_spot} pods on spot need {needed} pools to have {goal} at most in each, and"
            f" {taking} can take them: add instance types or zones"
        )
        return [Remark(Reason.POOLS_TOO_FEW, "too few pools", message, warning=True)]
    fullest = spread.full(goal)[0]
    message = (
        f"{most} of its pods are in one pool ({fullest}), which is to have {goal} at most: new pods"
        " rather go to others, and restore moves those of a Deployment, one at a time"
    )
    return [Remark(Reason.POOL_TOO_FULL, "pool too full", message, warning=True)]
