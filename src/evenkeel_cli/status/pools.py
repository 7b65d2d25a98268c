"""How the pools of spot nodes share a workload's pods, and what is said of that."""

from collections.abc import Mapping, Sequence

import msgspec

from evenkeel.decisions.floor.standing import Remark
from evenkeel.decisions.pools.goal import goal_of, remarks_on
from evenkeel.decisions.pools.spread import spread_of
from evenkeel.decisions.restore.room import Rooms
from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.flows.reads import list_all
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Reference
from evenkeel.model.pool import pools_of
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster


class InPools(msgspec.Struct, frozen=True):
    """How many pods stay Ready if the pool goes that has most of them, and what is off."""

    survivors: int
    remarks: Sequence[Remark]


def in_pools(cluster: Cluster, snapshot: Snapshot) -> Mapping[Reference, InPools]:
    """Each workload's, by its reference. Raises ClusterError."""
    (namespaces,) = list_all(cluster, [List(Selection(Namespace))])
    notes = {each.name: each.metadata.annotations for each in namespaces}
    labels, rooms = snapshot.fleet.labels, Rooms(snapshot.fleet)
    pools = pools_of(snapshot.fleet.nodes.values(), labels)
    found = {}
    for case in snapshot.cases:
        workload = case.workload
        spread = spread_of(case.pods, pools)
        remarks: Sequence[Remark] = ()
        template = workload.spec.template
        goal = goal_of(workload, template.metadata.annotations, notes.get(workload.namespace))
        if goal is not None:
            taking = rooms.taking(template.spec, Capacity.SPOT)
            remarks = remarks_on(spread, goal, len(set(pools_of(taking, labels).values())))
        found[workload.reference] = InPools(spread.survivors, remarks)
    return found
