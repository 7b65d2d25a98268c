"""One way to drain: without the gate and with it, each on a cluster of its own."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench import conditions, store
from bench.drainers import binaries, figures
from bench.drainers.descheduler import Descheduler
from bench.drainers.drainer import Drainer
from bench.drainers.karpenter import Consolidation, Drift, Interruption, Warned
from bench.drainers.kubectl import KubectlDrain
from bench.drainers.results import Pair, Run
from bench.drainers.site import REPLICAS, Site
from bench.say import Say
from bench.storm import aws, metrics, worker
from bench.storm.beside import observed
from bench.storm.site import launched
from bench.storm.webhook import gating
from evenkeel.model import names

LONGEST: Final = 120.0
"""Seconds that a drainer is given."""

GRACE: Final = "90s"
"""A node's terminationGracePeriod, after which Karpenter deletes what it could not evict."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to drain. ``make`` gets the path of a log; the pods have these annotations."""

    title: str
    make: Callable[[Path], Drainer]
    budgets: bool = True
    annotations: Mapping[str, str] = field(default_factory=dict)


WAYS: Final[Mapping[str, Way]] = {
    "kubectl": Way("`kubectl drain`", KubectlDrain),
    "consolidation": Way("Karpenter, consolidation", Consolidation, budgets=False),
    "drift": Way("Karpenter, drift", Drift, budgets=False),
    "drift-grace": Way(
        f"Karpenter, drift, `terminationGracePeriod: {GRACE}`",
        lambda log: Drift(log, grace=GRACE),
    ),
    "interruption": Way("Karpenter, a NodeClaim deleted as for an interruption", Interruption),
    "warned": Way("Karpenter and Evenkeel on the same interruption warning", Warned),
    "descheduler": Way("descheduler, `RemovePodsViolatingNodeTaints`, once", Descheduler),
    "descheduler-background": Way(
        "descheduler, the same with `EvictionsInBackground`",
        lambda log: Descheduler(log, in_background=True),
        annotations={names.REQUEST_EVICT_ONLY: ""},
    ),
}
"""Without a terminationGracePeriod Karpenter does not begin with a node that a budget holds."""


def pair(name: str, runs: int, say: Say) -> Pair:
    """Measure one way, without the gate, and so many times with it."""
    way = WAYS[name]
    if name != "kubectl":
        binaries.folder()
    without = run(name, say, gated=False)
    gated = [run(name, say, gated=True) for _ in range(runs)]
    return Pair(
        conditions=conditions.look(),
        title=way.title,
        budgets=way.budgets,
        without=without,
        gated=gated,
    )


def run(name: str, say: Say, *, gated: bool) -> Run:
    """One drain on a cluster of its own; ``gated``: with the webhook and a reconciler."""
    way = WAYS[name]
    say(f"{way.title}, {'behind the gate' if gated else 'without the gate'}")
    label = f"drainers-{name}-{'gated' if gated else 'without'}"
    with launched() as control_plane:
        site = Site(control_plane, budgets=way.budgets, annotations=way.annotations)
        with closing(way.make(store.new_log(label))) as drainer, ExitStack() as stack:
            drainer.prepare(site)
            site.fill()
            if gated:
                stack.enter_context(_evenkeel(site, label))
            nodes = site.occupied()
            seen = stack.enter_context(observed(control_plane))
            refused = metrics.refusals(control_plane)
            drainer.begin()
            ran = _wait(drainer, site)
            refusals = metrics.refusals(control_plane) - refused
            stack.close()
    outcome = figures.judge(seen.sights, REPLICAS, nodes)
    ended = "not ended" if ran is None else f"ended after {ran:.1f} s"
    say(f"{outcome}, {refusals} refusals, {ended}")
    return Run(outcome=outcome, refusals=refusals, ran=ran)


@contextmanager
def _evenkeel(site: Site, label: str) -> Iterator[None]:
    """The gate, and a reconciler for what drainers leave behind."""
    kubeconfig = site.control_plane.kubeconfig
    log = store.new_log(f"{label}-evenkeel")
    with (
        aws.started() as stand_in,
        worker.started(stand_in, kubeconfig, log),
        gating(site.control_plane, log.with_suffix(".gate.log")),
    ):
        yield


def _wait(drainer: Drainer, site: Site) -> float | None:
    """After how many seconds the drainer is through; None if it is not in its time.

    In the end all replicas are available again, and no pod is on its way out.
    """
    began = time.monotonic()
    ran = None
    while (waited := time.monotonic() - began) < LONGEST:
        if ran is None and drainer.is_done():
            ran = waited
        is_ready = ran is not None and site.ready() >= sum(REPLICAS.values())
        if is_ready and not site.is_moving():
            break
        time.sleep(0.5)  # noqa: TID251 - a real cluster has its own clock
    time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
    return ran
