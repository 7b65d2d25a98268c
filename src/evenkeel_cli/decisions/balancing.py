"""Pods that a load balancer has as its targets: what that costs their requests, and what to do.

It calls a new target healthy some 15 s after the pod is Ready, and stops sending to one that ends a
few seconds late. The drain waits for the first; rollouts and other drainers do not.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.settling import BEHIND_BALANCER
from evenkeel.decisions.placement.pre_stop import sleep_said
from evenkeel.model import names
from evenkeel.model.balancers import IP, TargetGroupBinding
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod

SECONDS: Final = int(BEHIND_BALANCER.total_seconds())
GATES: Final = (
    f"label the namespace {names.READINESS_GATES}=enabled, or set minReadySeconds: {SECONDS}"
)
SLEEP: Final = f"annotate its template, or the namespace, {names.PRE_STOP_SLEEP}: 5s"


class Cost(NamedTuple):
    """What it costs that a load balancer's targets are pods, and what to do about it."""

    message: str
    remedy: str


def costs(
    pod: Pod, around: NamespaceObjects, min_ready_seconds: int, home: Namespace | None = None
) -> Iterator[Cost]:
    """What it costs a workload that a load balancer leads to pods like this one; nothing if none.

    ``home``: its namespace, where that is known.

    - none of them is Ready late enough to be a target first: it has no readiness gate, which its
      namespace may have new pods be given, and no minReadySeconds;
    - one of its containers gets its SIGTERM while requests are still sent to it.
    """
    leading = sorted(map(str, _leading(pod, around)))
    if not leading:
        return
    by = f"{' and '.join(leading)} makes its pods targets"
    is_given = home is not None and _gives_gates(home)
    if not pod.spec.readiness_gates and not is_given and min_ready_seconds < SECONDS:
        yield Cost(
            f"{by}, which get requests some 15 s after they are Ready, and neither a readiness gate"
            " nor minReadySeconds waits for that: a rollout, or another's drain, that replaces all"
            " of them at once leaves no healthy target",
            GATES,
        )
    notes = home.metadata.annotations if home is not None else {}
    ends = any(not (each.lifecycle and each.lifecycle.pre_stop) for each in pod.spec.containers)
    if ends and not sleep_said(pod.metadata.annotations, notes):
        yield Cost(
            f"{by}, which get requests for some seconds after they are told to go, and a container"
            " without a preStop hook may have ended by then",
            SLEEP,
        )


def _leading(pod: Pod, around: NamespaceObjects) -> Iterable[Reference]:
    """What has a load balancer send requests to a pod's own address.

    A binding is named where nothing else is: a controller makes those of Ingresses and Services.
    """
    services = around.services_of(pod)
    selecting = {service.name for service in services}
    written = {
        each.reference
        for each in services
        if each.metadata.annotations.get(names.NLB_TARGETS) == IP
    }
    bound = set[Reference]()
    for each in around.leading:
        if each.to_pods and not selecting.isdisjoint(each.services):
            (bound if isinstance(each, TargetGroupBinding) else written).add(each.reference)
    return written or bound


def without_gates(
    bindings: Iterable[TargetGroupBinding], homes: Iterable[Namespace]
) -> tuple[int, list[str]]:
    """In how many namespaces pods are targets, and in which of them new ones get no gate."""
    there = {each.namespace for each in bindings if each.to_pods}
    gated = {home.name for home in homes if _gives_gates(home)}
    return len(there), sorted(there - gated)


def _gives_gates(home: Namespace) -> bool:
    """Whether new pods of a namespace get readiness gates."""
    return home.metadata.labels.get(names.READINESS_GATES) == "enabled"
