"""Reading where workloads stand, and what restore would do about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.floor.standing import Standing
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import list_all
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import List, Selection
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.decisions.remarks import Remark, of_few_domains, of_policy, of_spreads
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity, of_unknown_capacity
from evenkeel_cli.decisions.waiting import Waiting, waiting
from evenkeel_cli.headroom.wording import told
from evenkeel_cli.namespaces import unseen
from evenkeel_cli.status import others
from evenkeel_cli.status.pools import InPools, in_pools


@dataclass(frozen=True, slots=True)
class Found:
    """Where each workload stands, and the nodes whose capacity type no label tells.

    ``pools`` says how pools share its pods, ``spreads`` what is off with their spreads,
    ``by_policy`` of those whose pods the admission policy places what is off with that,
    ``evictions`` which of these wait at the gate, and ``restores`` what restore decides about it.
    ``others`` are sentences about pods that no workload has. ``headroom`` is one, where all
    namespaces were read. ``elsewhere``: how many workloads other namespaces have, where one was.
    ``unseen`` are the namespaces that a snapshot lacks.
    """

    standings: Sequence[Standing]
    unknown_capacity: UnknownCapacity
    pools: Mapping[Reference, InPools]
    spreads: Mapping[Reference, Sequence[Remark]]
    by_policy: Mapping[Reference, Sequence[Remark]]
    evictions: Mapping[Reference, Sequence[Waiting]]
    restores: Mapping[Reference, Decision] = field(default_factory=dict)
    headroom: str = ""
    others: Sequence[str] = ()
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()


def gather(
    cluster: Cluster,
    namespace: str = "",
    clock: Clock | None = None,
    labels: CapacityLabels = WELL_KNOWN,
) -> Found:
    """Read a namespace, or all. ``labels`` tell which nodes are spot. Raises ClusterError."""
    snapshot = read(
        cluster, clock or SystemClock(), Terms(), Scope(namespace, capacity_labels=labels)
    )
    standings = [each.standing for each in snapshot.candidates]
    standings.sort(key=lambda each: (each.workload.namespace, each.workload.name))
    nodes = snapshot.fleet.nodes.values()
    rooms = Rooms(snapshot.fleet)
    pools = in_pools(snapshot, rooms)
    spreads = {
        each.workload.reference: [*of_spreads(each, labels), *of_few_domains(each, rooms)]
        for each in snapshot.candidates
    }
    by_policy = {
        each.workload.reference: of_policy(each) for each in snapshot.candidates if each.by_policy
    }
    evictions = {each.workload.reference: _evictions(each.pods) for each in snapshot.candidates}
    headroom = "" if namespace else told(cluster, snapshot)
    restores = _by_workload(plan(snapshot))
    spaces = [each for each in snapshot.namespaces if namespace in ("", each.name)]
    counted = {pod.uid for each in snapshot.candidates for pod in each.pods}
    rest = others.placed((pod for pod in snapshot.pods if pod.uid not in counted), spaces)
    workloads = others.owners(cluster, (pod for pod, _ in rest))
    of_others = [*others.told(rest, workloads, snapshot.fleet.capacity)]
    return Found(
        standings=standings,
        unknown_capacity=of_unknown_capacity(nodes, labels),
        pools=pools,
        spreads=spreads,
        by_policy=by_policy,
        evictions=evictions,
        restores=restores,
        headroom=headroom,
        others=of_others,
        elsewhere=elsewhere(cluster, namespace),
        unseen=unseen(snapshot.namespaces),
    )


def elsewhere(cluster: Cluster, namespace: str) -> Mapping[str, int]:
    """How many Deployments and StatefulSets each other namespace has. Raises ClusterError.

    None where all namespaces are looked at, or who asks may not read the others.
    """
    if not namespace:
        return {}
    requests: list[List[Any]] = [
        List(Selection(kind), fresh=False, metadata_only=True) for kind in (Deployment, StatefulSet)
    ]
    with suppress(ForbiddenError):
        found = Counter(each.namespace for listed in list_all(cluster, requests) for each in listed)
        del found[namespace]
        return found
    return {}


def _evictions(pods: Iterable[Pod]) -> Sequence[Waiting]:
    """The evictions of pods that wait at the gate."""
    found = (waiting(pod) for pod in pods if pod.active)
    return [each for each in found if each is not None]


def _by_workload(made: RestorePlan) -> Mapping[Reference, Decision]:
    """What is done about a workload, else why nothing is."""
    decisions = [*made.left, *(step.decision for step in made.steps)]
    return {each.workload or each.subject: each for each in decisions if not _is_aside(each)}


def _is_aside(decision: Decision) -> bool:
    """Whether something else says it: a floor that cannot be read, or pools that are full."""
    return decision.reason in (Reason.BAD_FLOOR, Reason.POOLS_FULL)
