"""The headroom that a cluster has, in either form, and whether it is really there."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import msgspec

from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.errors import NotFoundError
from evenkeel.flows.reads import ask, ask_for_one
from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, Condition, KubernetesObject, Resource
from evenkeel.model.pod import PodSpec
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli import words
from evenkeel_cli.headroom.sizing import Room, Size, size_of
from evenkeel_cli.program import NAME

HEADROOM: Final = "evenkeel-headroom"
"""The name of its objects, in the system namespace. For nodes of a kind it goes on with that."""

RESERVED: Final = f"{HEADROOM}-reserved"
"""The name of those that are for single replicas alone."""

READY: Final = "ReadyForProvisioning"
PROVISIONING: Final = "Provisioning"
"""The conditions by which an autoscaler says that it has understood a buffer, and that there is
room for it. Karpenter and the cluster autoscaler write both."""

UNHEEDED: Final = (
    "set Karpenter's feature gate CapacityBuffer (1.14 and later), or the cluster autoscaler's"
    " flags --capacity-buffer-controller-enabled and --capacity-buffer-pod-injection-enabled;"
    f" or take pause pods: {NAME} headroom --buffer none"
)
REMEDIES: Final = {
    READY: f"print and apply it anew: {NAME} headroom",
    PROVISIONING: (
        "nodes for it take minutes; if none comes, see that a NodePool or node group may make"
        f" on-demand nodes of that size, or print less: {NAME} headroom"
    ),
}
"""What mends a condition that does not hold."""


class LocalReference(ApiStruct, frozen=True, kw_only=True):
    """The name of an object in the same namespace."""

    name: str = ""


class CapacityBufferSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a buffer that is read: so many pods of that template."""

    pod_template_ref: LocalReference = LocalReference()
    replicas: int = 0


class CapacityBufferStatus(ApiStruct, frozen=True, kw_only=True):
    """What an autoscaler says of a buffer; it is empty where none heeds it."""

    conditions: tuple[Condition, ...] = ()


class CapacityBuffer(KubernetesObject, frozen=True, kw_only=True):
    """Free room that an autoscaler keeps.

    https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer
    """

    resource: ClassVar = Resource(
        kind="CapacityBuffer",
        group="autoscaling.x-k8s.io",
        version="v1beta1",
        earlier=("v1alpha1",),
    )

    spec: CapacityBufferSpec = CapacityBufferSpec()
    status: CapacityBufferStatus = CapacityBufferStatus()


class Template(ApiStruct, frozen=True, kw_only=True):
    """What pods of a template are like."""

    spec: PodSpec = PodSpec()


class PodTemplate(KubernetesObject, frozen=True, kw_only=True):
    """A template that no controller makes pods of."""

    resource: ClassVar = Resource(kind="PodTemplate")

    template: Template = Template()


class Present(msgspec.Struct, frozen=True):
    """Headroom in one form. ``lack``: why it is not there, empty where it is; and its remedy."""

    form: str
    room: Room
    lack: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        """As people read it."""
        lack = f", which is not there: {self.lack}" if self.lack else ""
        return f"{self.form} of {self.room}{lack}"


def find(cluster: Cluster, snapshot: Snapshot) -> Sequence[Present]:
    """Each form that the cluster has. Raises ClusterError."""
    return [*_buffer(cluster), *_pause_pods(snapshot)]


def _buffer(cluster: Cluster) -> Iterator[Present]:
    try:
        found = ask(cluster, List(Selection(CapacityBuffer, names.SYSTEM_NAMESPACE))).items
    except NotFoundError:
        return
    for each in found:
        if each.name.startswith(HEADROOM):
            name = each.spec.pod_template_ref.name
            template = ask_for_one(cluster, Get(PodTemplate, name, names.SYSTEM_NAMESPACE))
            size = size_of(template.template.spec.requests) if template is not None else Size()
            yield _told(judge_buffer(each, Room(each.spec.replicas, size)), each.name)


def judge_buffer(buffer: CapacityBuffer, room: Room) -> Present:
    """Whether an autoscaler keeps it, by its conditions.

    - a condition is not there: none heeds it, or one that makes no nodes for it;
    - one does not hold: its reason and message say why;
    - else the room is there.
    """
    conditions = {each.type: each for each in buffer.status.conditions}
    form = "a CapacityBuffer"
    for wanted in (READY, PROVISIONING):
        condition = conditions.get(wanted)
        if condition is None:
            lack = f"no autoscaler says of it that it is {wanted}"
            return Present(form, room, lack, UNHEEDED)
        if condition.status != "True":
            said = f" ({condition.message})" if condition.message else ""
            return Present(
                form, room, f"{wanted} is not true: {condition.reason}{said}", REMEDIES[wanted]
            )
    return Present(form, room)


def _pause_pods(snapshot: Snapshot) -> Iterator[Present]:
    for candidate in snapshot.candidates:
        reference = candidate.workload.reference
        is_ours = reference.namespace == names.SYSTEM_NAMESPACE
        if is_ours and reference.name.startswith(HEADROOM):
            yield _told(judge_pods(candidate), reference.name)


def _told(found: Present, name: str) -> Present:
    """With the words for reserved room, where it is that."""
    if not name.startswith(RESERVED):
        return found
    remedy = found.remedy.replace(f"{NAME} headroom", f"{NAME} headroom --reserved")
    return msgspec.structs.replace(found, form=f"reserved, {found.form}", remedy=remedy)


def judge_pods(candidate: Candidate) -> Present:
    """Whether all pause pods have a node."""
    standing = candidate.standing
    size = max((size_of(pod.spec.requests) for pod in candidate.owned), default=Size())
    room = Room(standing.replicas, size)
    missing = standing.replicas - standing.on_demand
    if missing <= 0:
        return Present("pause pods", room)
    why = f" ({standing.why_waiting.rstrip('.')})" if standing.why_waiting else ""
    lack = f"{missing} of {words.counted(standing.replicas, 'pod')} have no on-demand node{why}"
    return Present("pause pods", room, lack, REMEDIES[PROVISIONING])
