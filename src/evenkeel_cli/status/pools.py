"""How the pools of spot nodes share a workload's pods, and what is said of that."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from evenkeel.decisions.pools.spread import spread_of
from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.meta import Reference
from evenkeel_cli.decisions.remarks import Remark, of_pools
from evenkeel_cli.namespaces import unseen


class InPools(msgspec.Struct, frozen=True):
    """How many pods stay Ready if the pool goes that has most of them, and what is off."""

    survivors: int
    remarks: Sequence[Remark]


def in_pools(snapshot: Snapshot, rooms: Rooms) -> Mapping[Reference, InPools]:
    """Each workload's, by its reference. ``rooms`` tell which nodes take its pods."""
    pools = snapshot.fleet.pools
    not_seen = unseen(snapshot.namespaces)

    def taking(rules: NewPodSpec) -> int:
        """How many pools take pods with these rules."""
        return len({pools[node.name] for node in rooms.taking(rules, Capacity.SPOT)})

    found = {}
    for candidate in snapshot.candidates:
        spread = spread_of(candidate.pods, pools)
        remarks: Sequence[Remark] = ()
        goal = candidate.goal
        if goal is not None:
            remarks = of_pools(
                candidate.standing,
                spread,
                goal,
                partial(taking, candidate.rules()),
                in_gang=candidate.group is not None,
                unseen=candidate.workload.namespace in not_seen,
            )
        found[candidate.workload.reference] = InPools(spread.survivors, remarks)
    return found
