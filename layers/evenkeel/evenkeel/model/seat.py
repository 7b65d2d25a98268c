"""Seats: pods of Evenkeel's own that keep room for the next pod of a workload.

Where no second pod may run beside a pod, its move leaves a gap: a node has to be made, and its next
pod has to start. A seat asks for what the next pod will ask for while the pod still serves, so that
of the gap the start alone is left.
"""

from typing import Any, ClassVar, Final

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import (
    NodeAffinity,
    NodeRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PodTerm,
)
from evenkeel.model.meta import KubernetesObject, LabelSelector, Metadata, Resource
from evenkeel.model.pod import PLACES, Pod, PodStatus

IMAGE: Final = "registry.k8s.io/pause:3.10.1"
"""What a seat runs: it waits for its end."""

LASTS: Final = 600
"""Seconds after which a kubelet ends a seat that nobody has deleted."""

SHARED: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources of which a container may have more than it asks for; of others it needs a limit."""


class NewSeat(KubernetesObject, frozen=True, kw_only=True):
    """A seat as it is made: a pod with fields that Evenkeel reads of no other pod."""

    resource: ClassVar[Resource] = Pod.resource

    spec: dict[str, Any]
    status: PodStatus = PodStatus()

    @property
    def stored(self) -> Pod:
        """The same as any pod that is read."""
        return msgspec.convert(msgspec.to_builtins(self), Pod)


def is_seat(pod: Pod) -> bool:
    """Whether a pod is a seat: one of a tenant's with the same label is none."""
    return pod.namespace == names.SYSTEM_NAMESPACE and names.SEAT in pod.metadata.labels


def controller_key(seat: Pod) -> str:
    """The key of the controller for whose pod a seat is."""
    return seat.metadata.annotations.get(names.SEAT_OF, "")


def new_seat(pod: Pod, key: str, zone: str = "") -> NewSeat:
    """The seat for the next pod in a pod's place.

    It asks for what the pod asks for, but for rules that its own pod would keep it off by, as it
    goes first: those that keep pods apart by more than a node. Instead it asks for the pod's
    ``zone``, where there is one; so it does for a pod with volumes. ``key``: see
    ``controller_key``.
    """
    controller = key.rpartition("/")[2]
    metadata = Metadata(
        name=f"seat-{pod.uid}",  # so that no pod has two
        namespace=names.SYSTEM_NAMESPACE,
        labels={names.SEAT: pod.uid, names.SEAT_OF: controller},
        annotations={
            names.SEAT_OF: key,
            names.SEAT_FOR: pod.name,
            names.DO_NOT_DISRUPT: names.TRUE,
        },
    )
    spec: dict[str, Any] = {
        "priorityClassName": names.SEAT_CLASS,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": LASTS,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65535,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "seat",
                "image": IMAGE,
                "resources": _resources(pod),
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
        "affinity": _affinity(pod, controller, zone),
    }
    if pod.spec.node_selector:
        spec["nodeSelector"] = pod.spec.node_selector
    if pod.spec.tolerations:
        spec["tolerations"] = msgspec.to_builtins(pod.spec.tolerations)
    if pod.spec.scheduler_name:
        spec["schedulerName"] = pod.spec.scheduler_name
    return NewSeat(metadata=metadata, spec=spec)


def _resources(pod: Pod) -> dict[str, dict[str, str]]:
    """What all its containers ask for together, as quantities: thousandths of cores, and whole."""
    asked = {
        name: f"{round(amount * 1000)}m" if name == "cpu" else str(round(amount))
        for name, amount in pod.spec.requests.items()
        if name != PLACES
    }
    limits = {name: amount for name, amount in asked.items() if name not in SHARED}
    return {"requests": asked, "limits": limits}


def _affinity(pod: Pod, controller: str, zone: str) -> dict[str, Any]:
    """Its nodes' affinity in its zone, and apart from what it is apart from on a node."""
    affinity, found = pod.spec.affinity, dict[str, Any]()
    nodes = (affinity and affinity.node_affinity) or NodeAffinity()
    if zone and _stays_in_zone(pod):
        here = NodeRequirement(key=names.ZONE, operator="In", values=(zone,))
        terms = (nodes.required and nodes.required.node_selector_terms) or (NodeSelectorTerm(),)
        required = NodeSelector(
            node_selector_terms=tuple(
                msgspec.structs.replace(
                    term, match_expressions=(*(term.match_expressions or ()), here)
                )
                for term in terms
            )
        )
        nodes = msgspec.structs.replace(nodes, required=required)
    if nodes != NodeAffinity():
        found["nodeAffinity"] = msgspec.to_builtins(nodes)
    rules = (affinity and affinity.pod_anti_affinity and affinity.pod_anti_affinity.required) or ()
    apart = [each for each in rules if each.topology_key == names.HOSTNAME]
    if apart:
        others = LabelSelector(match_labels={names.SEAT_OF: controller})
        apart_from = [
            *(
                msgspec.structs.replace(each, namespaces=each.namespaces or (pod.namespace,))
                for each in apart
            ),
            PodTerm(topology_key=names.HOSTNAME, label_selector=others),
        ]
        found["podAntiAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": msgspec.to_builtins(apart_from)
        }
    return found


def _stays_in_zone(pod: Pod) -> bool:
    """Whether its next pod may have to be in its zone: for a volume, or for how pods are spread."""
    spec = pod.spec
    return bool(spec.claims) or spec.is_kept_apart or spec.is_spread
