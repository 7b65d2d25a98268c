"""Pods."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar

from evenkeel.model import names
from evenkeel.model.affinity import (
    DO_NOT_SCHEDULE,
    Affinity,
    SchedulingGroup,
    Toleration,
    TopologySpread,
    only_node,
)
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.lifecycle import Lifecycle
from evenkeel.model.meta import (
    ApiStruct,
    Condition,
    KubernetesObject,
    OwnerReference,
    Resource,
)
from evenkeel.model.quantity import number
from evenkeel.model.release import CLOCK_SKEW, Asked, Release
from evenkeel.model.times import is_sound, span

DEFAULT_GRACE_SECONDS = 30
"""What the API server fills in for terminationGracePeriodSeconds."""

PLACES = "pods"
"""The resource of which every pod takes one."""

SIDECAR = "Always"
"""The restart policy of an init container that goes on beside the pod's containers."""

STARTS = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Why a container of a pod waits that starts as it should."""

LONGEST_TEXT = 4_096
"""Characters of a note; a release has some 400. What is longer is none."""


class ResourceRequirements(ApiStruct, frozen=True, kw_only=True):
    """What a container asks for, as Kubernetes quantities."""

    requests: dict[str, str] = {}


class Container(ApiStruct, frozen=True, kw_only=True):
    """The part of a container that Evenkeel reads."""

    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    lifecycle: Lifecycle | None = None


class ClaimSource(ApiStruct, frozen=True, kw_only=True):
    """A volume's reference to a PersistentVolumeClaim of the same namespace."""

    claim_name: str


class EmptyDir(ApiStruct, frozen=True, kw_only=True):
    """A directory that is made for a pod and deleted with it."""


class Volume(ApiStruct, frozen=True, kw_only=True):
    """A volume of a pod."""

    empty_dir: EmptyDir | None = None
    persistent_volume_claim: ClaimSource | None = None


class ReadinessGate(ApiStruct, frozen=True, kw_only=True):
    """A condition that somebody else sets, and without which the pod is not Ready."""

    condition_type: str = ""


class PodSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a pod's spec that Evenkeel reads.

    ``resources`` are the pod's own, which count instead of its containers'; ``overhead`` is what
    its runtime class takes besides.
    """

    node_name: str = ""
    termination_grace_period_seconds: int | None = None
    restart_policy: str = "Always"
    priority: int = 0
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    overhead: dict[str, str] = {}
    volumes: tuple[Volume, ...] = ()
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    scheduling_group: SchedulingGroup | None = None
    scheduler_name: str = ""
    topology_spread_constraints: tuple[TopologySpread, ...] | None = None
    readiness_gates: tuple[ReadinessGate, ...] = ()

    @property
    def only_node(self) -> str:
        """The node that its own rules bind it to, by name or hostname; empty if to none."""
        return only_node(self.node_selector, self.affinity)

    @property
    def runs_to_completion(self) -> bool:
        """Whether its containers may end for good, as a Job's do."""
        return self.restart_policy in ("Never", "OnFailure")

    @property
    def is_kept_apart(self) -> bool:
        """Whether its rules keep pods apart by more than a node, such as by zone."""
        return self.affinity is not None and self.affinity.is_wide

    @property
    def is_spread(self) -> bool:
        """Whether its rules require that pods are spread over more than nodes, such as zones."""
        return any(
            each.when_unsatisfiable == DO_NOT_SCHEDULE and each.topology_key != names.HOSTNAME
            for each in self.topology_spread_constraints or ()
        )

    @property
    def claims(self) -> frozenset[str]:
        """The names of the claims that it mounts."""
        mounted = (volume.persistent_volume_claim for volume in self.volumes)
        return frozenset(claim.claim_name for claim in mounted if claim is not None)

    @property
    def requests(self) -> Mapping[str, float]:
        """What the scheduler keeps free for it, in cores, bytes and the like, and its place.

        That is what its containers and sidecars ask for together. It is more where an init
        container asks for more, together with the sidecars that are started before it.
        https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
        """
        running: dict[str, float] = {}
        most: dict[str, float] = {}
        for each in self.init_containers:
            started = _sum(running, each.resources.requests)
            most = _larger(most, started)
            if each.restart_policy == SIDECAR:
                running = started
        for each in self.containers:
            running = _sum(running, each.resources.requests)
        found = _larger(running, most) | _sum({}, self.resources.requests)
        return {**_sum(found, self.overhead), PLACES: 1.0}


class ContainerWaiting(ApiStruct, frozen=True, kw_only=True):
    """Why a container does not run yet."""

    reason: str = ""


class ContainerState(ApiStruct, frozen=True, kw_only=True):
    """What a container is at; ``waiting`` None: it runs, or has ended."""

    waiting: ContainerWaiting | None = None


class ContainerStatus(ApiStruct, frozen=True, kw_only=True):
    """What a kubelet says of a container, as far as Evenkeel reads it."""

    state: ContainerState = ContainerState()


class PodStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a pod's status that Evenkeel reads."""

    phase: str = "Pending"
    conditions: tuple[Condition, ...] = ()
    start_time: datetime | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None

    @property
    def start_failure(self) -> str:
        """What a container waits for that is not its turn: a back-off, an image; empty: none does.

        https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-waiting
        """
        every = (*(self.init_container_statuses or ()), *(self.container_statuses or ()))
        reasons = (each.state.waiting.reason for each in every if each.state.waiting is not None)
        return next((each for each in reasons if each not in STARTS), "")

    @property
    def crashes(self) -> bool:
        """Whether a container has ended again and again, and rests before its next start."""
        return self.start_failure == "CrashLoopBackOff"

    def condition(self, condition_type: str) -> Condition | None:
        """The condition of a type, true or false; None if nobody has set it."""
        return next((each for each in self.conditions if each.type == condition_type), None)

    @property
    def started_at(self) -> datetime | None:
        """When the pod's kubelet took it on; None before that, and where that makes no sense."""
        started = self.start_time
        return started if started is not None and is_sound(started) else None

    @property
    def not_scheduled(self) -> Condition | None:
        """Why the pod has no node: the scheduler's word, or that of its gates; None if nobody says.

        The reason is ``Unschedulable`` where the scheduler has looked for one.
        https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/
        """
        found = self.condition("PodScheduled")
        return found if found is not None and found.status == "False" else None

    @property
    def refused(self) -> str:
        """What the scheduler says of a pod for which it found no node; empty if it did not look.

        Gates and others say something else.
        """
        said = self.not_scheduled
        return said.message if said is not None and said.reason == "Unschedulable" else ""

    @property
    def gated(self) -> str:
        """What is said of a pod that waits at its scheduling gates; empty if it does not."""
        said = self.not_scheduled
        return (
            f"SchedulingGated: {said.message}" if said and said.reason == "SchedulingGated" else ""
        )

    @property
    def lacks_node(self) -> str:
        """Why it has no node: the scheduler's word, or that of its gates; empty if nobody says."""
        return self.refused or self.gated


class Pod(KubernetesObject, frozen=True, kw_only=True):
    """A pod."""

    resource: ClassVar = Resource(kind="Pod", short="po")
    usual_size: ClassVar = 8_192

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @cached_property
    def grace(self) -> timedelta:
        """How long its containers get to stop, their preStop hooks included, until SIGKILL."""
        seconds = self.spec.termination_grace_period_seconds
        return span(DEFAULT_GRACE_SECONDS if seconds is None else seconds)

    @property
    def sleeps(self) -> timedelta:
        """How long one of its containers sleeps before its SIGTERM, out of that time."""
        hooks = (each.lifecycle.sleeps for each in self.spec.containers if each.lifecycle)
        return max(hooks, default=timedelta())

    @property
    def finished(self) -> bool:
        """Whether all containers have ended for good (phase Succeeded or Failed)."""
        return self.status.phase in ("Succeeded", "Failed")

    @cached_property
    def active(self) -> bool:
        """Whether its controller counts it: neither finished nor being deleted."""
        return not self.finished and not self.leaving

    @cached_property
    def controller(self) -> OwnerReference | None:
        """The owner that manages it; None without one, and while it is released."""
        return None if self.keeper is not None else self.metadata.controller

    @cached_property
    def keeper(self) -> OwnerReference | None:
        """The Deployment in its ReplicaSet's place, as released pods alone have one; None if not.

        A Deployment manages no pods. Another's controller may make pods for a Deployment, which
        bear no template hash.
        """
        controller = self.metadata.controller
        named = self.metadata.owner_references if controller is None else (controller,)
        above = (owner for owner in named if owner.full_kind in DEPLOYMENTS)
        return next(above, None) if self.template_hash else None

    @cached_property
    def released(self) -> bool:
        """Whether Evenkeel took it out of its ReplicaSet.

        One that another owner manages was not, or was adopted: the label is there by mistake.
        """
        bears_label = names.RELEASED_FROM in self.metadata.labels
        return self.keeper is not None or (bears_label and self.controller is None)

    @cached_property
    def is_released_in_part(self) -> bool:
        """Whether a part of its release, its labels or its owner, was put back by a policy."""
        if self.released:
            return names.RELEASED_FROM not in self.metadata.labels
        return self.controller is not None and self.release is not None

    @cached_property
    def hash_label(self) -> str:
        """The label with the template hash of its ReplicaSet: of a released pod that one says so.

        Others may have added the label of another kind.
        """
        labels = self.metadata.labels
        released = names.released_hash(labels.get(names.RELEASED_FROM, ""))
        borne = [key for key in names.HASHES if key in labels]
        left = (key for key in borne if labels[key] == released)
        return next(left, borne[0] if borne else names.TEMPLATE_HASH)

    @cached_property
    def template_hash(self) -> str:
        """The template hash of its ReplicaSet, also of a released pod; empty if it has none."""
        labels = self.metadata.labels
        own, left = labels.get(self.hash_label, ""), labels.get(names.RELEASED_FROM, "")
        return left if left and own in ("", names.released_hash(left)) else own

    @cached_property
    def release(self) -> Release | None:
        """What the annotation of a released pod says; None if it makes no sense.

        Anybody who may annotate pods can have written it, so one that Evenkeel would not write is
        no release either.
        """
        text = self.metadata.annotations.get(names.RELEASE, "")
        return Release.read(text) if 0 < len(text) <= LONGEST_TEXT else None

    def believed_release(self, now: datetime) -> Release | None:
        """What the annotation of a released pod says; None if it cannot be true by now.

        It does not claim to be made later than now, as far as clocks agree.
        """
        release = self.release
        is_later = release is not None and release.since > now + CLOCK_SKEW
        return None if is_later else release

    @cached_property
    def asked(self) -> Asked | None:
        """Who asked for its eviction, which waits for its turn; None if that makes no sense."""
        text = self.metadata.annotations.get(names.ASKED, "")
        return Asked.read(text) if 0 < len(text) <= LONGEST_TEXT else None

    @cached_property
    def origin_key(self) -> str:
        """The key of the controller that it has, or was released from; empty without one."""
        if key := self.controller_key:
            return key
        release = self.release if self.released else None
        return f"{self.namespace}/{release.controller_uid}" if release is not None else ""

    @property
    def is_moved_alive(self) -> bool:
        """Whether somebody moves it to another node, running, once its eviction is asked for."""
        return self.metadata.labels.get(names.LIVE_MIGRATION) == names.TRUE

    @cached_property
    def ready_since(self) -> datetime | None:
        """When it became Ready; None while it is not (readiness gates are part of Ready)."""
        return self.holds_since("Ready")

    @property
    def told_at(self) -> datetime | None:
        """When its deletion began, in whole seconds of the API server's clock; None: never."""
        deadline = self.ends_at
        if deadline is None:
            return None
        return deadline - span(self.metadata.deletion_grace_period_seconds or 0)

    @property
    def ends_at(self) -> datetime | None:
        """When its containers are killed at the latest; None if it is not being deleted."""
        deadline = self.metadata.deletion_timestamp
        return deadline if deadline is not None and is_sound(deadline) else None

    @property
    def ready(self) -> bool:
        """Whether the Ready condition is true."""
        return self.ready_since is not None

    def available(self, now: datetime, min_ready_seconds: int = 0) -> bool:
        """Whether it counts as available to a Deployment: active, and Ready for long enough."""
        since = self.ready_since
        if since is None or not self.active:
            return False
        return not min_ready_seconds or since + span(min_ready_seconds) <= now

    def holds_since(self, condition_type: str) -> datetime | None:
        """Since when a condition is true, at least since it was made; None while it is not.

        The condition's time is a kubelet's word, so one that is out of range is none.
        """
        found = self.status.condition(condition_type)
        if found is None or found.status != "True":
            return None
        since = found.last_transition_time
        sound = since is not None and is_sound(since)
        return since if sound else self.metadata.creation_timestamp


def _sum(amounts: Mapping[str, float], more: Mapping[str, str]) -> dict[str, float]:
    """Amounts of resources, and quantities that are added to them."""
    found = dict(amounts)
    for name, quantity in more.items():
        found[name] = found.get(name, 0.0) + number(quantity)
    return found


def _larger(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Of each resource the larger amount."""
    return {n: max(one.get(n, 0.0), other.get(n, 0.0)) for n in (*one, *other)}


def available_since(pods: Iterable[Pod], min_ready_seconds: int) -> Sequence[datetime]:
    """When those of these pods became available that are so, in order."""
    since = (pod.ready_since for pod in pods)
    return sorted(each + span(min_ready_seconds) for each in since if each is not None)


def next_available_at(
    pods: Iterable[Pod], min_ready_seconds: int, now: datetime
) -> datetime | None:
    """When the next of some pods becomes available (see ``available``) by time alone."""
    if not min_ready_seconds:
        return None
    rest = span(min_ready_seconds)
    times = (pod.ready_since + rest for pod in pods if pod.ready_since is not None)
    return min((time for time in times if time > now), default=None)
