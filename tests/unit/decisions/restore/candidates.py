"""Workloads as a snapshot has them, on two on-demand nodes and two spot nodes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.standing import Movable
from evenkeel.decisions.pools.warned import warned
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import (
    Candidate,
    NotTaken,
    Snapshot,
    Terms,
    candidate_of,
)
from evenkeel.decisions.restore.step import RestorePlan, RestoreStep, StepOrDecision
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, PodTemplate
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Condition
from evenkeel.model.move import Restored
from evenkeel.model.node import Node
from evenkeel.model.placement import Placed
from evenkeel.model.pod import Pod
from evenkeel.model.spot_rest import SpotRest
from tests.kit import builders
from tests.kit.builders import LONG_AGO, NOW

SPOT, ON_DEMAND = Capacity.SPOT, Capacity.ON_DEMAND
ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}
ZONE = {"topology.kubernetes.io/zone": "a"}


def unscheduled(message: str, reason: str = "Unschedulable") -> Condition:
    """What the scheduler, or a gate, says of a pod without a node."""
    return Condition(type="PodScheduled", status="False", reason=reason, message=message)


ITS_RULES = unscheduled(
    "0/4 nodes are available: 2 Insufficient cpu, 2 node(s) didn't match Pod's node"
    " affinity/selector."
)
"""The scheduler found no room on on-demand nodes, and a floor's rules keep it off spot."""


def node(name: str, room: Mapping[str, str] = ROOM, **options: Any) -> Node:
    """A node with room; on spot if its name begins with an s."""
    made = builders.node(name, spot=name.startswith("s"), **options)
    return msgspec.structs.replace(
        made, status=msgspec.structs.replace(made.status, allocatable=dict(room))
    )


NODES = tuple(node(name, labels=ZONE) for name in ("o1", "o2", "s1", "s2"))


def fleet(
    *nodes: Node,
    used: Mapping[str, Mapping[str, float]] | None = None,
    doomed: Sequence[str] = (),
) -> Fleet:
    """These nodes, or the usual four."""
    there = {each.name: each for each in nodes or NODES}
    losses = tuple(warned((there[name] for name in doomed), WELL_KNOWN, NOW))
    return Fleet(there, frozenset(doomed), used or {}, losses=losses)


def deployment(replicas: int, floor: str = "", **options: Any) -> Deployment:
    """A Deployment ``web``; ``notes`` are further annotations."""
    notes = {names.ON_DEMAND: floor} if floor else {}
    notes |= options.pop("notes", {})
    return builders.deployment(replicas=replicas, annotations=notes, **options)


def stateful_set(replicas: int, floor: str = "", **options: Any) -> StatefulSet:
    """A StatefulSet ``db``."""
    notes = {names.ON_DEMAND: floor} if floor else {}
    notes |= options.pop("notes", {})
    return builders.stateful_set(replicas=replicas, annotations=notes, **options)


def with_rules[T: (Deployment, ReplicaSet, StatefulSet)](workload: T, **rules: Any) -> T:
    """A workload whose template asks this of its nodes."""
    template = PodTemplate(spec=msgspec.convert(rules, NewPodSpec))
    return msgspec.structs.replace(
        workload, spec=msgspec.structs.replace(workload.spec, template=template)
    )


def candidate(
    workload: Movable,
    *places: str,
    pods: Sequence[Pod] | None = None,
    replica_sets: Sequence[ReplicaSet] | None = None,
    nodes: Fleet | None = None,
    is_managed: bool = True,
    around: NamespaceObjects | None = None,
    **options: Any,
) -> Candidate:
    """A workload with a pod on each of these nodes (empty: on none), or these ``pods``."""
    if replica_sets is None:
        replica_sets = [replica_set(workload)] if isinstance(workload, Deployment) else []
    if pods is None:
        pods = pods_of(workload, *places)
    made = candidate_of(
        workload, pods, nodes or fleet(), around or NamespaceObjects(), {}, is_managed=is_managed
    )
    return msgspec.structs.replace(made, replica_sets=replica_sets, **options)


def replica_set(of: Deployment, **options: Any) -> ReplicaSet:
    """The ReplicaSet of a Deployment, with its template."""
    made = builders.replica_set(of=of, **{"replicas": of.spec.replicas} | options)
    return msgspec.structs.replace(
        made, spec=msgspec.structs.replace(made.spec, template=of.spec.template)
    )


def pods_of(workload: Movable, *places: str, **options: Any) -> list[Pod]:
    """A Ready pod of a workload on each of these nodes; their names end in 0, 1 ..."""
    owner = replica_set(workload) if isinstance(workload, Deployment) else workload
    return [
        ruled(
            workload,
            builders.pod(
                f"{workload.name}-{number}", of=owner, node=place, ready=bool(place), **options
            ),
        )
        for number, place in enumerate(places)
    ]


def ruled(workload: Movable, pod: Pod) -> Pod:
    """A pod with what its workload's template asks of its node."""
    rules = workload.spec.template.spec
    spec = msgspec.structs.replace(
        pod.spec,
        node_selector=rules.node_selector,
        affinity=rules.affinity,
        tolerations=rules.tolerations,
    )
    return msgspec.structs.replace(pod, spec=spec)


def waiting(
    workload: Movable,
    name: str = "web-w",
    *,
    age: timedelta = timedelta(minutes=10),
    capacity: Capacity = ON_DEMAND,
    preferred: bool = False,
    move: str = "",
    why: Condition | None = ITS_RULES,
    **options: Any,
) -> Pod:
    """A pod that placement has placed, and that has no node; ``why`` is what is said of that."""
    owner = replica_set(workload) if isinstance(workload, Deployment) else workload
    note = Placed(v=1, as_=capacity, at=NOW - age, preferred=preferred, move=move)
    made = builders.pod(
        name,
        of=owner,
        node="",
        ready=False,
        annotations={names.PLACED: note.encode()},
        creation_timestamp=NOW - age,
        conditions=[why] if why is not None else [],
        **options,
    )
    return ruled(workload, made)


def restored(
    target: Capacity, *, spot: int = 0, pod: str = "web-0", at: datetime = LONG_AGO
) -> dict[str, str]:
    """The annotation of a workload of which restore moved a pod."""
    value = Restored(at=at, target=target, pod=pod, spot=spot)
    return {names.RESTORED: msgspec.json.encode(value).decode()}


def snapshot(
    *candidates: Candidate,
    nodes: Fleet | None = None,
    rest: SpotRest | None = None,
    not_taken: Mapping[str, NotTaken] | None = None,
    **terms: Any,
) -> Snapshot:
    """A snapshot of these workloads; without ``rest`` none of them moves without room on spot."""
    where = nodes or fleet()
    return Snapshot(
        now=NOW,
        candidates=[msgspec.structs.replace(each, fleet=where) for each in candidates],
        fleet=where,
        terms=Terms(**terms),
        rest=rest,
        not_taken=not_taken or {},
    )


def planned(*candidates: Candidate, **options: Any) -> RestorePlan:
    """The plan for these workloads."""
    return plan(snapshot(*candidates, **options))


def outcome(candidate: Candidate, **options: Any) -> StepOrDecision:
    """What becomes of one workload."""
    made = planned(candidate, **options)
    both: list[StepOrDecision] = [*made.steps, *made.left]
    (found,) = both
    return found


def step(candidate: Candidate, **options: Any) -> RestoreStep:
    """The step that is taken about one workload."""
    found = outcome(candidate, **options)
    assert isinstance(found, RestoreStep), found.message
    return found


def reason(candidate: Candidate, **options: Any) -> str:
    """Why one workload is left."""
    found = outcome(candidate, **options)
    assert not isinstance(found, RestoreStep), found.decision.message
    assert found.write is None
    return found.reason
