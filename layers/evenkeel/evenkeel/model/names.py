"""The labels, annotations, taints and objects that Evenkeel and its neighbours use.

Each name stands once, here.
"""

import re
from typing import Final

DOMAIN: Final = "evenkeel.dev"

# Keys of that domain. docs/reference/annotations.md says what each means.

DOOMED: Final = "evenkeel.dev/doomed"
NOTICE: Final = "evenkeel.dev/notice"
RELEASED_FROM: Final = "evenkeel.dev/released-from"
RELEASE: Final = "evenkeel.dev/release"
NODE_ENDS_AT: Final = "evenkeel.dev/node-ends-at"
COOLDOWN: Final = "evenkeel.dev/cooldown"
POOL_COOLDOWN: Final = "evenkeel.dev/pool-cooldown"
EVICTION_COOLDOWN: Final = "evenkeel.dev/eviction-cooldown"
REFUSED: Final = "evenkeel.dev/refused"
HANDOVER: Final = "evenkeel.dev/handover"
GATE: Final = "evenkeel.dev/gate"
GATE_PATIENCE: Final = "evenkeel.dev/gate-patience"
ASKED: Final = "evenkeel.dev/eviction-asked"
ASKED_BEFORE: Final = "evenkeel.dev/eviction-asked-before"
AT_DEADLINE: Final = "evenkeel.dev/at-deadline"
GRACE_PERIOD: Final = "evenkeel.dev/grace-period"
SETTLE: Final = "evenkeel.dev/settle"
PRE_STOP_SLEEP: Final = "evenkeel.dev/pre-stop-sleep"
GANG: Final = "evenkeel.dev/gang"
GANG_AT_NOTICE: Final = "evenkeel.dev/gang-at-notice"
ON_DEMAND: Final = "evenkeel.dev/on-demand"
DEFAULT_FLOORS: Final = "evenkeel.dev/default-floors"
ONE_POOL_AT_MOST: Final = "evenkeel.dev/one-pool-at-most"
PLACED: Final = "evenkeel.dev/placed"
CAPACITY: Final = "evenkeel.dev/capacity"
PLACEMENT: Final = "evenkeel.dev/placement"
TEMPLATE: Final = "evenkeel.dev/template"
TEMPLATE_OF: Final = "evenkeel.dev/template-of"
FLOOR_RELAXED: Final = "evenkeel.dev/floor-relaxed"
CLAIM_OF: Final = "evenkeel.dev/claim-of"
CLAIM_FOR: Final = "evenkeel.dev/claim-for"
RESTORED: Final = "evenkeel.dev/restored"
MOVE_OF: Final = "evenkeel.dev/move-of"
MOVED_POD: Final = "evenkeel.dev/moved-pod"
TAKEN_BY: Final = "evenkeel.dev/taken-by"
WITHOUT_ROOM: Final = "evenkeel.dev/without-room"
NOT_IN_POOLS: Final = "evenkeel.dev/not-in-pools"
NOT_IN_DOMAINS: Final = "evenkeel.dev/not-in-domains"
FULL_POOLS: Final = "evenkeel.dev/full-pools"
LOST_POOLS: Final = "evenkeel.dev/lost-pools"
LOW_COUNTS: Final = "evenkeel.dev/low-counts"
INTERRUPTION: Final = "evenkeel.dev/interruption"
SHARES: Final = "evenkeel.dev/shares"
SHARE_STAGE: Final = "evenkeel.dev/share-stage"
WAITING_HOOKS: Final = "evenkeel.dev/waiting-hooks"
MANAGED: Final = "evenkeel.dev/managed"
SEAT: Final = "evenkeel.dev/seat"
SEAT_OF: Final = "evenkeel.dev/seat-of"
SEAT_FOR: Final = "evenkeel.dev/seat-for"
HEADROOM: Final = "evenkeel.dev/headroom"
WAKE_UP_AT: Final = "evenkeel.dev/wake-up-at"
SCHEDULED_AT: Final = "evenkeel.dev/scheduled-at"
CLOCK_AHEAD: Final = "evenkeel.dev/clock-ahead"

# Objects of Evenkeel's own.

FIELD_MANAGER: Final = "evenkeel"
"""The field manager of Evenkeel's writes, in managedFields and in the reviews of its evictions."""

BY_TEMPLATE: Final = "template"
"""The value of the annotation ``evenkeel.dev/placement``."""

PLACING: Final = "evenkeel"
"""What tells the API server who places pods: manifests/webhook, or manifests/policy."""

EKS_COMPUTE: Final = "eks.amazonaws.com/compute-type"
"""Label of nodes that EKS runs by itself: fargate, hybrid, auto."""

WITHOUT_INSTANCES: Final = frozenset({"fargate", "hybrid"})
"""Its values on nodes that no EC2 instance runs."""

NODE_TYPE: Final = "type"
VIRTUAL: Final = "virtual-kubelet"
"""Label, and its value, of nodes that are none: https://virtual-kubelet.io/docs/architecture."""

FARGATE_SCHEDULER: Final = "fargate-scheduler"
"""What EKS has pods of Fargate name as their schedulerName. It gives each a node of its own."""

SCHEDULER: Final = "evenkeel"
"""What pods name as their schedulerName that manifests/scheduler schedules."""

TOLERATIONS_ALLOWED: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
"""On a namespace: the only tolerations that the admission plugin PodTolerationRestriction allows.
https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#podtolerationrestriction
"""

SINGLES: Final = "singles"
"""The value of the label and taint ``evenkeel.dev/headroom``."""

REQUIRED: Final = "required"
"""The value of the annotation ``evenkeel.dev/default-floors`` that has them counted as written."""

TEMPLATE_PREFIX: Final = "evenkeel-template-"
"""Leases in the system namespace whose names begin so tell whose template was written once."""

CLAIM_PREFIX: Final = "evenkeel-slot-"
"""Leases in the system namespace whose names begin so keep places of floors."""

MOVE_PREFIX: Final = "evenkeel-move-"
"""Leases in the system namespace whose names begin so tell the webhook of a restore's move."""

SPOT_REST: Final = "evenkeel-move-rest"
"""Lease in the system namespace: how long no pod goes to spot where no node has room."""

SYSTEM_NAMESPACE: Final = "evenkeel-system"
"""Where Evenkeel's own objects live."""

CLUSTERS_OWN: Final = frozenset({"kube-system", SYSTEM_NAMESPACE})
"""Namespaces in which nothing is placed or gated: the cluster needs them for everything else."""

SEAT_CLASS: Final = "evenkeel-seat"
"""PriorityClass of seats: 0, and never preempting. manifests/rbac has it."""

PAUSED: Final = "evenkeel-paused"
"""ConfigMap in the system namespace; while it exists nothing is touched."""

HANDOVER_LEASE: Final = "evenkeel-handover"
"""Lease in the system namespace; its holder is the reconciler at work."""

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
"""Label of a node: its EC2 instance type."""

HOSTNAME: Final = "kubernetes.io/hostname"
"""Label of a node: most often its name, and no other node's."""

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""Label of every namespace, which the API server sets: its name."""

ZONE: Final = "topology.kubernetes.io/zone"
"""Label of a node: its availability zone."""

TEMPLATE_HASH: Final = "pod-template-hash"
"""Label that the Deployment controller puts on its ReplicaSets and their pods."""

ROLLOUT_HASH: Final = "rollouts-pod-template-hash"
"""Label that Argo Rollouts' controller puts on its ReplicaSets and their pods.

https://github.com/argoproj/argo-rollouts/blob/v1.8.3/pkg/apis/rollouts/v1alpha1/types.go
"""

HASHES: Final = (TEMPLATE_HASH, ROLLOUT_HASH)
"""Labels that tell the pods of one ReplicaSet from those of others."""

REVISION_HASH: Final = "controller-revision-hash"
"""Label that the StatefulSet controller puts on pods: the revision of their template."""

RELEASED_SUFFIX: Final = "-released"
"""What the template hash label of a released pod ends with."""

DISRUPTION_TARGET: Final = "DisruptionTarget"
"""Condition of a pod that goes for a disruption, as evictions set it (KEP-3329)."""

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
"""Annotation that Karpenter honours: it waits for such a pod when it drains a node."""

DRAINING_TAINTS: Final = frozenset(
    {"karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler", DOOMED}
)
"""Taints of nodes that are drained uncordoned: by Karpenter, the cluster autoscaler, for a hint."""

SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""Annotation that the cluster autoscaler honours; ``false`` forbids voluntary moves."""

LIVE_MIGRATION: Final = "paguro.dev/migratable"
"""Label of pods that Paguro moves alive: it answers their evictions with 429 meanwhile.

https://github.com/DPicillo/paguro/blob/main/docs/OPERATIONS.md
"""

REQUEST_EVICT_ONLY: Final = "descheduler.alpha.kubernetes.io/request-evict-only"
"""Annotation by which a pod's owner says that its eviction goes on in the background.

The descheduler (feature EvictionsInBackground) asks once, and leaves the rest to who refused it.
That it is there decides, and not what it says.
"""

EVICTION_IN_PROGRESS: Final = "descheduler.alpha.kubernetes.io/eviction-in-progress"
"""Annotation on such a pod while its eviction goes on: the descheduler does not ask for it."""

POD_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
"""Annotation that the ReplicaSet controller ranks by when it scales in."""

MIRROR_POD: Final = "kubernetes.io/config.mirror"
"""Annotation of a static pod's mirror: its kubelet owns it."""

POD_INDEX: Final = "apps.kubernetes.io/pod-index"
"""Label of a StatefulSet's pod: its ordinal."""

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
"""Label of a StatefulSet's pod: its name, the same over all revisions."""

JOB_UID: Final = "batch.kubernetes.io/controller-uid"
"""Label that the Job controller puts on its pods."""

DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
"""Annotation that the Deployment controller puts on its ReplicaSets: its own replicas then."""

ROLLOUT_REPLICAS: Final = "rollout.argoproj.io/desired-replicas"
"""Annotation that Argo Rollouts' controller puts on its ReplicaSets: its own replicas then."""

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
"""NoSchedule taint of a node that is cordoned."""

EXCLUDE_FROM_LOAD_BALANCERS: Final = "node.kubernetes.io/exclude-from-external-load-balancers"
"""Node label: cloud load balancers take the node out of their targets."""

ALB_TARGETS: Final = "alb.ingress.kubernetes.io/target-type"
"""On an Ingress: whether the AWS Load Balancer Controller makes nodes or pods its targets."""

NLB_TARGETS: Final = "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"
"""The same on a Service of type LoadBalancer."""

READINESS_GATES: Final = "elbv2.k8s.aws/pod-readiness-gate-inject"
"""Label of a namespace: ``enabled`` has new pods be Ready only once their targets are healthy.

https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/pod_readiness_gate/
"""

OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
"""NoExecute taint for a node that is known to be off: volumes detach at once (KEP-2268)."""

EKS_CAPACITY: Final = "eks.amazonaws.com/capacityType"
"""Label of a managed node group's node: SPOT, ON_DEMAND or CAPACITY_BLOCK."""

KARPENTER_CAPACITY: Final = "karpenter.sh/capacity-type"
"""Label of a node that Karpenter made: spot, on-demand or reserved."""

CAPACITY_LABELS: Final = ("node.kubernetes.io/capacity", EKS_CAPACITY, KARPENTER_CAPACITY)
"""Node labels that tell the capacity type, unless a setting names others."""

TRUE: Final = "true"
"""The value of a label that says yes."""

INTERRUPTIBLE: Final = "karpenter.k8s.aws/capacity-reservation-interruptible"
"""Label of a node in reserved capacity; ``true``: EC2 takes it back with two minutes' notice.

Karpenter 1.10 and newer; older ones refuse pods that require anything of it.
https://karpenter.sh/docs/concepts/scheduling/
"""

RESERVATION_TYPE: Final = "karpenter.k8s.aws/capacity-reservation-type"
"""Label of a node in reserved capacity: default or capacity-block. Karpenter 1.6 and newer.

https://karpenter.sh/docs/tasks/odcrs/
"""

OS: Final = "kubernetes.io/os"

ARCH: Final = "kubernetes.io/arch"

SPOT: Final = "spot"
"""The value of a capacity label that means spot, compared without case."""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

KNOWN: Final = frozenset(
    value for value in list(globals().values()) if isinstance(value, str) and "/" in value
)
"""The keys of all labels, annotations and taints that stand in this module."""


def released_hash(template_hash: str) -> str:
    """The value of the template hash label of a pod that was released from this hash."""
    return f"{template_hash}{RELEASED_SUFFIX}"


def is_subdomain(text: str) -> bool:
    """Whether a text is a DNS subdomain name (RFC 1123), as names of most objects have to be.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
    """
    return len(text) <= 253 and _SUBDOMAIN.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """Whether a text can be the key of a label: a name, and before a slash a DNS subdomain.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    """
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_subdomain(prefix)) and _LABEL_NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether the text can be the value of a label, and is not empty."""
    return _LABEL_NAME.fullmatch(text) is not None


def is_path_segment(text: str) -> bool:
    """Whether a text can be the name of any object at all: one segment of a URL's path.

    Without a name the API server would answer for all objects of the kind, and with a slash
    in it for a subresource.
    """
    return text not in ("", ".", "..") and not any(mark in text for mark in "/%")
