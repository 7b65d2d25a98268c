"""How many pods of a workload one pool is to have at most."""

from collections.abc import Mapping

from evenkeel.model.annotations import ONE_POOL_AT_MOST
from evenkeel.model.workload import Workload


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
    return at_most.of(workload.at_a_time)
