"""Groups of pods that are of use together only: gangs.

- ``scheduling.k8s.io``: Kubernetes' own, named by a pod's ``spec.schedulingGroup`` (alpha in 1.36,
  beta in 1.37, off by default); k8s.io/api, scheduling/v1alpha2, v1alpha3 and v1beta1
- ``scheduling.x-k8s.io``: of the coscheduling plugin, and ``scheduling.sigs.k8s.io`` of its earlier
  versions and of Koordinator, named by a label of the pod.
  https://scheduler-plugins.sigs.k8s.io/docs/plugins/coscheduling/
- ``leaderworkerset.x-k8s.io``: one of so many groups of a leader and its workers, named by two
  labels of the pod. https://lws.sigs.k8s.io/docs/concepts/
"""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple, override

import msgspec

from evenkeel.model.affinity import SchedulingGroup
from evenkeel.model.meta import ApiStruct, KubernetesObject, Resource
from evenkeel.model.pod import Pod
from evenkeel.model.workload import Workload


class GangPolicy(ApiStruct, frozen=True, kw_only=True):
    """All or nothing: so many at least."""

    min_count: int = 1


class Chosen(ApiStruct, frozen=True, kw_only=True):
    """A member of a union of which no field is read."""


class SchedulingPolicy(ApiStruct, frozen=True, kw_only=True):
    """How the pods of a group are scheduled: one by one (``basic``), or as a gang."""

    basic: Chosen | None = None
    gang: GangPolicy | None = None


class DisruptionMode(ApiStruct, frozen=True, kw_only=True):
    """Whether the pods of a group are disrupted together; without ``whole`` one by one."""

    whole: Chosen | None = msgspec.field(default=None, name="all")


class PodGroupSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a group's spec that Evenkeel reads: of all the APIs.

    ``disruption_mode`` is text in v1alpha2 of Kubernetes' own: ``Pod`` or ``PodGroup``.
    """

    scheduling_policy: SchedulingPolicy | None = None
    disruption_mode: DisruptionMode | str | None = None
    min_member: int = 0


class PodGroup(KubernetesObject, frozen=True, kw_only=True):
    """A group of ``scheduling.k8s.io``; the other two have the same form here."""

    resource: ClassVar = Resource(
        kind="PodGroup",
        group="scheduling.k8s.io",
        version="v1beta1",
        earlier=("v1alpha3", "v1alpha2"),
    )

    spec: PodGroupSpec = PodGroupSpec()

    @property
    def is_one(self) -> bool:
        """Whether its owner says that its pods are disrupted together, or none of them is."""
        mode = self.spec.disruption_mode
        return mode.whole is not None if isinstance(mode, DisruptionMode) else mode == "PodGroup"

    @property
    def minimum(self) -> int | None:
        """How many pods it takes at least: 0, it is no gang; None, all that it has.

        That is all where one is not disrupted without the others, and where its policy is one that
        Evenkeel does not know.
        """
        policy = self.spec.scheduling_policy
        if self.is_one:
            return None
        if policy is None:
            return self.spec.min_member
        if policy.gang is not None:
            return policy.gang.min_count
        return None if policy.basic is None else 0


def is_gang(group: PodGroup | None) -> bool:
    """Whether pods that name this group are of use together only; None: it could not be read.

    Then they may be.
    """
    return group is None or group.minimum != 0


class CoschedulingPodGroup(PodGroup, frozen=True, kw_only=True):
    """A group of the coscheduling plugin."""

    resource: ClassVar = Resource(kind="PodGroup", group="scheduling.x-k8s.io", version="v1alpha1")


class EarlierPodGroup(PodGroup, frozen=True, kw_only=True):
    """A group of its earlier versions, and of Koordinator."""

    resource: ClassVar = Resource(
        kind="PodGroup", group="scheduling.sigs.k8s.io", version="v1alpha1"
    )


RECREATED: Final = ("RecreateGroupOnPodRestart", "RecreateGroupAfterStart")
"""Policies under which LeaderWorkerSet deletes a leader, and all its workers with it, once one of
them is being deleted; handleRestartPolicy in pkg/controllers/pod_controller.go."""


class LeaderWorkerTemplate(ApiStruct, frozen=True, kw_only=True):
    """What each group of a LeaderWorkerSet is made of: ``size`` pods, the leader among them."""

    size: int = 1
    restart_policy: str = RECREATED[0]


class LeaderWorkerSetSpec(PodGroupSpec, frozen=True, kw_only=True):
    """The part of a LeaderWorkerSet's spec that Evenkeel reads."""

    leader_worker_template: LeaderWorkerTemplate = LeaderWorkerTemplate()


class LeaderWorkerSet(PodGroup, frozen=True, kw_only=True):
    """What says of each of its groups how many pods it takes."""

    resource: ClassVar = Resource(
        kind="LeaderWorkerSet", group="leaderworkerset.x-k8s.io", short="lws"
    )

    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()

    @property
    @override
    def minimum(self) -> int | None:
        """All, where the others are recreated with any that goes; else a group is no gang."""
        group = self.spec.leader_worker_template
        return None if group.size > 1 and group.restart_policy in RECREATED else 0


SET_NAME: Final = "leaderworkerset.sigs.k8s.io/name"
GROUP_KEY: Final = "leaderworkerset.sigs.k8s.io/group-key"
"""The labels that name a pod's LeaderWorkerSet, and which group of it.

A template of leaders has the first alone: the second differs from one to the next.
"""

LABELS: Final[Mapping[str, type[PodGroup]]] = {
    "scheduling.x-k8s.io/pod-group": CoschedulingPodGroup,
    "pod-group.scheduling.sigs.k8s.io": EarlierPodGroup,
}
"""The labels that name a pod's group for its scheduler, and the group's kind."""


class GroupName(NamedTuple):
    """Names a group, by the object that says how many pods it takes.

    ``label``, with this ``value``, selects its pods; empty where none does.
    """

    kind: type[PodGroup]
    namespace: str
    name: str
    label: str = ""
    value: str = ""


def named(
    namespace: str, labels: Mapping[str, str] | None, own: SchedulingGroup | None
) -> GroupName | None:
    """The group that pods with these labels and this group of their own name."""
    if own is not None and own.pod_group_name:
        return GroupName(PodGroup, namespace, own.pod_group_name)
    if not labels:
        return None
    for label, kind in LABELS.items():
        if name := labels.get(label):
            return GroupName(kind, namespace, name, label, name)
    if name := labels.get(SET_NAME):
        key = labels.get(GROUP_KEY, "")
        return GroupName(LeaderWorkerSet, namespace, name, GROUP_KEY if key else "", key)
    return None


def group_of(pod: Pod) -> GroupName | None:
    """The group that a pod names, whether or not it is there."""
    return named(pod.namespace, pod.metadata.labels, pod.spec.scheduling_group)


def group_of_template(workload: Workload) -> GroupName | None:
    """The group that the pods of a workload name by its template."""
    template = workload.spec.template
    return named(workload.namespace, template.metadata.labels, template.spec.scheduling_group)
