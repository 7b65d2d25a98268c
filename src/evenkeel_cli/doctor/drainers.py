"""Others that drain nodes, and whether they evict before Evenkeel's replacement runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

import msgspec

from evenkeel.model.node import Node
from evenkeel.ports import Cluster
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, unknown
from evenkeel_cli.explain import drainers
from evenkeel_cli.explain.drainers import AUTO, EKS_AUTO_MODE, Drainer

LINK = "other drainers"
HARMLESS: Final = frozenset({"cluster autoscaler"})
KARPENTER: Final = "Karpenter"
KARPENTERS: Final = "/api/v1/pods?labelSelector=" + quote("app.kubernetes.io/name=karpenter")
QUEUE: Final = "INTERRUPTION_QUEUE"
FLAG: Final = "--interruption-queue"
GATE: Final = "or let them wait: install the eviction gate (docs/gate.md)"


class Variable(msgspec.Struct, frozen=True):
    """One environment variable of a container."""

    name: str
    value: str = ""


class Container(msgspec.Struct, frozen=True):
    """How a container is started."""

    args: tuple[str, ...] | None = ()
    command: tuple[str, ...] | None = ()
    env: tuple[Variable, ...] | None = ()

    @property
    def queue(self) -> str:
        """The queue that it reads interruptions from; empty for none."""
        words = (*(self.command or ()), *(self.args or ()))
        by_flag = next((w.partition("=")[2] for w in words if w.startswith(f"{FLAG}=")), "")
        by_variable = next((v.value for v in self.env or () if v.name == QUEUE), "")
        return by_flag or by_variable


class PodSpec(msgspec.Struct, frozen=True):
    """The containers of a pod."""

    containers: tuple[Container, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """A pod, as far as it tells what it was started with."""

    spec: PodSpec = PodSpec()


class Pods(msgspec.Struct, frozen=True):
    """A list of pods."""

    items: tuple[Pod, ...] | None = ()


def look(
    cluster: Cluster,
    server: ApiServer,
    nodes: Sequence[Node],
    *,
    is_gated: bool,
    observes: bool,
    known: Sequence[Drainer] = (),
) -> Iterator[Finding]:
    """Each drainer that is seen; or that there is none. Raises ClusterError.

    ``known`` are those that somebody else tells of; one that is seen by itself counts once.
    """
    found = drainers.find(cluster, nodes)
    seen = {drainer.name for drainer in found}
    found += [drainer for drainer in known if drainer.name not in seen]
    if not found:
        yield fine(LINK, "none is seen")
    queues: Sequence[str] | None = None
    if any(drainer.name == KARPENTER for drainer in found):
        queues = queues_in(server.read_as(Pods, KARPENTERS, "list pods of Karpenter").items or ())
    for drainer in found:
        yield judge(drainer, queues, is_gated=is_gated, observes=observes)


def told_by(described: Described | None) -> Sequence[Drainer]:
    """The drainers that EKS tells of; none if it does not tell.

    Auto Mode may be on before it has made a node, whose label would tell of it.
    """
    if described is None or not described.is_auto:
        return ()
    return (Drainer(EKS_AUTO_MODE, "the cluster's computeConfig.enabled", AUTO),)


def queues_in(pods: Iterable[Pod]) -> Sequence[str] | None:
    """The interruption queues of Karpenter's pods; None where no pod of it is seen."""
    pods = list(pods)
    if not pods:
        return None
    found = [container.queue for pod in pods for container in pod.spec.containers]
    return sorted(set(filter(None, found)))


def judge(
    drainer: Drainer, queues: Sequence[str] | None, *, is_gated: bool, observes: bool
) -> Finding:
    """Whether a drainer and Evenkeel get on.

    - it never collides, or Evenkeel only observes, or its evictions wait at the gate: fine;
    - Karpenter reads no interruptions: fine; whether it does cannot be seen: unknown;
    - else it evicts on the same notices.
    """
    seen = f"{drainer.name} ({drainer.seen})"
    if drainer.name in HARMLESS:
        return fine(LINK, f"{seen}: {drainer.terms}")
    if observes:
        return fine(LINK, f"{seen}: Evenkeel only observes, so they do not collide yet")
    if is_gated:
        return fine(LINK, f"{seen}: where namespaces have the gate its evictions wait")
    if drainer.name == KARPENTER:
        if queues is None:
            remedy = f"see that its {QUEUE} is empty, {GATE}"
            return unknown(LINK, f"{seen}: no pod of it is seen: {drainer.terms}", remedy)
        if not queues:
            return fine(LINK, f"{seen}: it reads interruptions from no queue")
        said = f"{seen}: it reads interruptions from the queue {', '.join(queues)}"
        return broken(LINK, f"{said}: {drainer.terms}", f"empty its {QUEUE}, {GATE}")
    return broken(LINK, f"{seen}: {drainer.terms}", GATE.removeprefix("or "))
