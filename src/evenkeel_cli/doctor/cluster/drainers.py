"""Others that drain nodes, and whether they evict before Evenkeel's replacement runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from evenkeel_cli.aws.eks import Described
from evenkeel_cli.doctor.check import Finding, broken, fine, unknown
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Container
from evenkeel_cli.explain import drainers
from evenkeel_cli.explain.drainers import AUTO, EKS_AUTO_MODE, Drainer

LINK: Final = "other drainers"
HARMLESS: Final = frozenset({"cluster autoscaler"})
KARPENTER: Final = "Karpenter"
KARPENTERS: Final = "app.kubernetes.io/name=karpenter"
QUEUE: Final = "INTERRUPTION_QUEUE"
FLAG: Final = "--interruption-queue="
GATE: Final = "let them wait: install the eviction gate (docs/gate.md)"


def other_drainers(facts: ClusterFacts) -> Iterator[Finding]:
    """Others that drain nodes, and whether they evict before Evenkeel's replacement runs."""
    return look(facts, is_gated=facts.is_gated())


def look(facts: ClusterFacts, *, is_gated: bool) -> Iterator[Finding]:
    """Each drainer that is seen, or told of and not seen; or that there is none.

    Raises ClusterError.
    """
    found = drainers.find(facts.cluster, facts.nodes())
    seen = {drainer.name for drainer in found}
    found += [drainer for drainer in facts.known.drainers if drainer.name not in seen]
    if not found:
        yield fine("none is seen", link=LINK)
    queues: Sequence[str] | None = None
    if any(drainer.name == KARPENTER for drainer in found):
        queues = queues_of(facts.containers("pods", KARPENTERS, KARPENTER))
    for drainer in found:
        yield judge(drainer, queues, is_gated=is_gated, observes=facts.known.observes)


def told_by(described: Described | None) -> Sequence[Drainer]:
    """The drainers that EKS tells of; none if it does not tell.

    Auto Mode may be on before it has made a node, whose label would tell of it.
    """
    if described is None or not described.is_auto:
        return ()
    return (Drainer(EKS_AUTO_MODE, "the cluster's computeConfig.enabled", AUTO),)


def queues_of(containers: Iterable[Container]) -> Sequence[str] | None:
    """The queues that Karpenter's containers read interruptions from; None where none is seen."""
    containers = list(containers)
    if not containers:
        return None
    return sorted(set(filter(None, map(_queue_of, containers))))


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
        return fine(f"{seen}: {drainer.terms}", link=LINK)
    if observes:
        said = f"{seen}: Evenkeel only observes, so they do not collide yet"
        return fine(said, link=LINK)
    if is_gated:
        return fine(f"{seen}: where namespaces have the gate its evictions wait", link=LINK)
    if drainer.name != KARPENTER:
        return broken(f"{seen}: {drainer.terms}", GATE, link=LINK)
    if queues is None:
        said = f"{seen}: no pod of it is seen: {drainer.terms}"
        return unknown(said, f"see that its {QUEUE} is empty, or {GATE}", link=LINK)
    if not queues:
        return fine(f"{seen}: it reads interruptions from no queue", link=LINK)
    said = f"{seen}: it reads interruptions from the queue {', '.join(queues)}: {drainer.terms}"
    return broken(said, f"empty its {QUEUE}, or {GATE}", link=LINK)


def _queue_of(container: Container) -> str:
    words = (*(container.command or ()), *(container.args or ()))
    flags = [word.removeprefix(FLAG) for word in words if word.startswith(FLAG)]
    variables = [each.value for each in container.env or () if each.name == QUEUE]
    return next(filter(None, (*flags, *variables)), "")
