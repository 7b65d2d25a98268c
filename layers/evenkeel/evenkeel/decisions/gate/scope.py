"""Evictions that the gate lets pass without a look at the pod's workload."""

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.gate.eviction import Allowed
from evenkeel.model import names
from evenkeel.model.annotations import GATED, MANAGED, UNGATED
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way


def passes_by_namespace(namespace: Namespace, *, everywhere: bool) -> Allowed | None:
    """Why evictions in this namespace pass; None if they are gated.

    ``everywhere``: managed namespaces are gated without the label ``evenkeel.dev/gate=true``, too.
    """
    labels = namespace.metadata.labels
    entry = MANAGED if everywhere and names.GATE not in labels else GATED
    if namespace.name in names.CLUSTERS_OWN:
        return Allowed(reason=Reason.SYSTEM_NAMESPACE, message=f"{namespace.name} is never gated")
    if entry.of(labels) == names.TRUE:
        return None
    message = f"the namespace {namespace.name} has not the label {names.GATE}=true"
    return Allowed(reason=Reason.NOT_GATED, message=message)


def passes_by_itself(pod: Pod, owner: Owner, way: Route) -> Allowed | None:
    """Why the eviction of this pod passes, whatever its workload looks like; None if it is gated.

    - its owner says ``evenkeel.dev/gate: "false"``;
    - it has ended, or is being deleted already;
    - it is not Ready: it serves nobody, and a drain need not wait for another;
    - it cannot be handed over, or its ReplicaSet is gone: it goes as without the gate.

    ``way`` is that of a pod whose node goes in any case. An owner who forbids voluntary moves does
    not keep a pod that somebody evicts, and its replacement comes first as any other's.
    """
    if owner.says(UNGATED, pod) == "false":
        return Allowed(
            reason=Reason.NOT_GATED, message=f'it has the annotation {names.GATE}: "false"'
        )
    if not pod.active:
        return Allowed(reason=Reason.ALREADY_LEAVING, message="it has ended, or is being deleted")
    if not pod.ready:
        return Allowed(reason=Reason.NOT_READY, message="it is not Ready")
    if way.way is not Way.HANDOVER:
        return Allowed(reason=way.reason, message=f"it goes without a replacement: {way.cause}")
    if owner.controller is None:
        return Allowed(reason=Reason.NOT_WANTED, message="its ReplicaSet is gone")
    return None
