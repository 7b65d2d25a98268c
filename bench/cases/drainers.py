"""Other drainers.

Other drainers on a real control plane empty a node, each without the eviction gate and, as
`-gated`, with it. On the node are 10 Deployments of one replica and 4 of 3; their pods take 2 s
to start and 0.5 s to end. Every other Deployment has a budget, minAvailable 1 or 2, except where
Karpenter consolidates or replaces for drift: without a `terminationGracePeriod` it does not begin
with a node that a budget holds. A drainer is given 120 s; kubectl itself sends no more than five
requests a second. With `-100` there are 100 Deployments of one replica instead, without budgets
but those that a drainer makes, and 300 s.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Final

from bench.figure import NONE, Figure
from bench.lab import cluster, karpenter, webhook, worker
from bench.lab.beside import observed
from bench.lab.drainers import (
    Descheduler,
    DeschedulerInBackground,
    Drainer,
    KubectlDrain,
    Site,
)
from bench.lab.eviction_autoscaler import EvictionAutoscaler
from bench.lab.lab import Lab
from bench.lab.manifests import NAMESPACE
from bench.lab.sights import Sight, fewest, ready_seconds_lost
from evenkeel.model import names
from tests.kit import moto_server
from tests.kit.drainers import binaries

NOTES: Final = """\
- Times are from the first pod that was released or told to go. *kubectl* is `kubectl drain`,
  *interruption* Karpenter whose NodeClaim is deleted as for one, *warned* Karpenter and Evenkeel
  on the same warning, *descheduler* one run of `RemovePodsViolatingNodeTaints`, *background* the
  same with `EvictionsInBackground`, *drift-grace* drift with `terminationGracePeriod: 90s`.
  *autoscaler* is `kubectl drain` beside a stand-in that makes the writes of Azure's
  eviction-autoscaler: a budget for each Deployment, one pod more of it while its node is cordoned.
- *Ready-seconds lost* are the pods that were missing of all workloads, times for how long: two
  workloads that lack a pod for 3 s lose 6.
"""
MIXED: Final[Mapping[str, int]] = {
    **{f"single-{number}": 1 for number in range(10)},
    **{f"large-{number}": 3 for number in range(4)},
}
"""How many replicas each workload has, by its name."""
WORKLOADS: Final = len(MIXED)
CROWD: Final[Mapping[str, int]] = {f"single-{number}": 1 for number in range(100)}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to drain. The pods have these annotations; the drainer is given so many ``seconds``."""

    drainer: type[Drainer]
    budgets: bool = True
    annotations: Mapping[str, str] = field(default_factory=dict)
    replicas: Mapping[str, int] = field(default_factory=lambda: MIXED)
    seconds: float = 120.0


_MIXED: Final[Mapping[str, Way]] = {
    "kubectl": Way(KubectlDrain),
    "consolidation": Way(karpenter.Consolidation, budgets=False),
    "drift": Way(karpenter.Karpenter, budgets=False),
    "drift-grace": Way(karpenter.DriftWithGrace),
    "interruption": Way(karpenter.Interruption),
    "warned": Way(karpenter.Warned),
    "descheduler": Way(Descheduler),
    "background": Way(DeschedulerInBackground, annotations={names.REQUEST_EVICT_ONLY: ""}),
    "autoscaler": Way(EvictionAutoscaler, budgets=False),
}
WAYS: Final[Mapping[str, Way]] = {
    **_MIXED,
    **{
        f"{name}-{len(CROWD)}": replace(way, replicas=CROWD, budgets=False, seconds=300.0)
        for name, way in _MIXED.items()
    },
}
GATED: Final = "-gated"
SIZES: Final = tuple(f"{way}{gate}" for way in WAYS for gate in ("", GATED))


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One drain on a cluster of its own; behind the gate a reconciler finishes what is left."""
    way = WAYS[size.removesuffix(GATED)]
    is_gated = size.endswith(GATED)
    if not issubclass(way.drainer, KubectlDrain):
        binaries()
    with ExitStack() as stack:
        control_plane = stack.enter_context(cluster.launched())
        site = Site(control_plane, way.replicas, budgets=way.budgets, annotations=way.annotations)
        drainer = stack.enter_context(closing(way.drainer(site, lab.log("drainer"))))
        drainer.prepare()
        site.fill()
        if is_gated:
            stand_in = stack.enter_context(moto_server.started())
            log = lab.log("poll")
            stack.enter_context(worker.started(stand_in, control_plane.kubeconfig, log))
            stack.enter_context(webhook.gating(control_plane, NAMESPACE))
        nodes, refused = site.occupied(), webhook.refusals(control_plane)
        with observed(control_plane) as seen:
            began = time.time()  # noqa: TID251 - the observer's clock
            drainer.begin()
            ran = _wait(drainer, site, way.seconds)
            ended = time.time()  # noqa: TID251 - the observer's clock
        refusals = webhook.refusals(control_plane) - refused
    replicas = way.replicas
    lowest = fewest(seen.sights, replicas, began)
    lost = ready_seconds_lost(seen.sights, replicas, began, ended)
    mark = NONE if is_gated else None
    found = [
        Figure(f"fewest Ready of {size}", min(lowest[n] for n in replicas if replicas[n] == size))
        for size in sorted({*replicas.values()})
    ]
    found += [
        Figure("workloads below wanted", sum(lowest[n] < replicas[n] for n in lowest), mark=mark),
        Figure("Ready-seconds lost", lost, mark=mark),
        *emptied(seen.sights, replicas, nodes, is_wanted=is_gated),
        Figure("drainer through", ran, "s"),
        Figure("evictions refused", refusals),
    ]
    return found


def emptied(
    sights: Iterable[Sight], apps: Collection[str], nodes: Collection[str], *, is_wanted: bool
) -> Sequence[Figure]:
    """How many pods of these workloads stay on these nodes, and when the last was gone.

    ``is_wanted``: none is to stay.
    """
    there: set[str] = set()
    touched = empty = None
    for sight in sights:
        if sight.kind == "node" or sight.app not in apps or sight.node not in nodes:
            continue
        if touched is None and (sight.released or sight.leaving or sight.gone):
            touched = sight.at
        if sight.gone:
            there.discard(sight.uid)
        else:
            there.add(sight.uid)
        empty = None if there or touched is None else sight.at - touched
    return [
        Figure("pods that stay", len(there), mark=NONE if is_wanted else None),
        Figure("node empty", empty, "s"),
    ]


def _wait(drainer: Drainer, site: Site, longest: float) -> float | None:
    """After how many seconds the drainer is through; None if it is not within the ``longest``.

    In the end all replicas are available again, and no pod is on its way out.
    """
    began, ran = time.monotonic(), None
    while (waited := time.monotonic() - began) < longest:
        if ran is None and drainer.is_done():
            ran = waited
        if ran is not None and site.is_whole() and not site.is_moving():
            break
        time.sleep(0.5)  # noqa: TID251 - a real cluster has its own clock
    time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
    return ran
