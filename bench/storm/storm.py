"""A scenario on a running cluster: one storm, or what it is compared with."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import conditions
from bench.say import Say
from bench.storm import aws, bare, baselines, curve, figures, metrics, site, worker
from bench.storm.aws import Aws
from bench.storm.beside import Observed, Work, observed, scaling, taking, working
from bench.storm.feed import Dispatch, Feed, evenly
from bench.storm.figures import Outcome, Sight
from bench.storm.results import Baseline, Gated, Round
from bench.storm.scenario import Scenario
from bench.storm.site import Site
from bench.storm.webhook import gating
from bench.storm.worker import Worker
from bench.storm.workloads import GRACE

LEAD: Final = 120.0
"""Seconds from an interruption warning to the end of its instance."""

LONGEST: Final = 300.0


@dataclass(frozen=True, slots=True)
class Endured:
    """What became of a storm, and what it was made of.

    ``sent``: the ids of its messages. ``noticed``: when each node's notice was sent, in seconds
    since 1970. ``sights``: all that the observer saw.
    """

    outcome: Outcome
    sent: Sequence[str]
    noticed: Mapping[str, float]
    sights: Sequence[Sight]


class Storm:
    """A scenario on a cluster that is full, with what is beside it."""

    def __init__(self, cluster: Site, stand_in: Aws, fill: float, say: Say) -> None:
        """``fill``: seconds that the cluster itself took to run all pods from nothing."""
        self.site = cluster
        self.aws = stand_in
        self.fill = fill
        self._scenario = cluster.scenario
        self._say = say

    @property
    def kubeconfig(self) -> Path:
        """The way to the cluster."""
        return self.site.control_plane.kubeconfig

    def refill(self, gone: Collection[str] | None = None) -> None:
        """New nodes instead of these instances, all without, and all pods on spot nodes again."""
        gone = list(self.site.spot) if gone is None else gone
        self.site.replace_spot_nodes(gone, self.aws.nodes(len(gone)))
        self._say(f"all pods are on spot nodes again after {self.site.refill():.1f} s")

    def round(self, process: Worker) -> Round:
        """Notice all spot nodes, and watch until all is well or nothing changes any more."""
        single = bare.measure(self.site, self.aws)
        self._say(
            f"bare: {len(self.site.spot)} GETs {single.gets:.2f} s, patches"
            f" {single.patches:.2f} s, DescribeInstances {single.describe:.2f} s, queue"
            f" {single.round_trip:.2f} s"
        )
        cpu_before, began = process.cpu_seconds, time.monotonic()
        before, sent = self.site.request_counts(), process.requests
        endured = self.endure(evenly(list(self.site.spot), self._scenario.spread))
        seconds = time.monotonic() - began
        cpu = process.cpu_seconds - cpu_before
        after = self.site.request_counts()
        return Round(
            fill=self.fill,
            bare=single,
            outcome=endured.outcome,
            ready=self._curve(endured.sights, endured.noticed),
            cpu_seconds=cpu,
            cpu_share=cpu / seconds,
            requests={
                key: count - before.get(key, 0.0)
                for key, count in sorted(after.items())
                if count > before.get(key, 0.0)
            },
            own=dict(sorted((process.requests - sent).items())),
            seconds=seconds,
        )

    def endure(self, plan: Sequence[Dispatch], *further: Callable[[Observed], Work]) -> Endured:
        """Send these notices, and watch until all is well or nothing changes any more.

        ``further`` makes what else goes on meanwhile, from what an observer sees.
        """
        feed = Feed(self.aws, plan, self.site.spot)
        with observed(self.site.control_plane) as seen:
            works = [taking(self.site, self.aws, feed.noticed, LEAD)]
            if self._scenario.late:
                works.append(scaling(self.site))
            with working(*works, *(make(seen) for make in further)):
                feed.run()
                self._wait(feed.noticed)
        outcome = self._judge(seen.sights, feed.noticed)
        return Endured(outcome, feed.sent, feed.noticed, seen.sights)

    def delete_all(self) -> Baseline:
        """Cordon the spot nodes and delete every pod, as fast as the API server takes it."""
        with observed(self.site.control_plane) as seen:
            noticed = self._noticed_now()
            for name in self.site.spot.values():
                self.site.set_unschedulable(name, value=True)
            site.delete_all(self.site.control_plane)
            self._wait(noticed)
        return self._baseline(seen, noticed)

    def drain(self) -> Baseline:
        """`kubectl drain` on every spot node, all beside each other."""
        with observed(self.site.control_plane) as seen:
            noticed = self._noticed_now()
            failed = baselines.drain(self.site, self.site.spot.values())
            self._wait(noticed)
        return self._baseline(seen, noticed, failed)

    def drain_gated(self, log: Path) -> Gated:
        """The same behind the eviction gate, with a reconciler. No node ends."""
        control_plane = self.site.control_plane
        with (
            worker.started(self.aws, self.kubeconfig, log) as reconciler,
            gating(control_plane, log.with_suffix(".gate.log")) as gate,
        ):
            refused, unasked = metrics.refusals(control_plane), metrics.unasked(control_plane)
            before = reconciler.cpu_seconds
            with observed(control_plane) as seen:
                noticed = self._noticed_now()
                nodes = self.site.spot.values()
                failed = baselines.drain(self.site, nodes, baselines.GATED_TIMEOUT)
                self._wait(noticed)
            return Gated(
                fill=self.fill,
                outcome=self._judge(seen.sights, noticed, float("inf")),
                failed=failed,
                refusals=metrics.refusals(control_plane) - refused,
                unasked=metrics.unasked(control_plane) - unasked,
                cpu_seconds=gate.cpu_seconds,
                peak_mb=gate.peak_mb,
                reconciler=reconciler.cpu_seconds - before,
                conditions=conditions.look(),
            )

    def _noticed_now(self) -> Mapping[str, float]:
        now = time.time()  # noqa: TID251 - the observer's clock
        return dict.fromkeys(self.site.spot.values(), now)

    def _baseline(self, seen: Observed, noticed: Mapping[str, float], failed: int = 0) -> Baseline:
        return Baseline(
            outcome=self._judge(seen.sights, noticed),
            ready=self._curve(seen.sights, noticed),
            fill=self.fill,
            failed=failed,
        )

    def _judge(
        self, sights: Sequence[Sight], noticed: Mapping[str, float], lead: float = LEAD
    ) -> Outcome:
        return figures.judge(sights, self._scenario.replicas, noticed, lead, GRACE)

    def _curve(self, sights: Sequence[Sight], noticed: Mapping[str, float]) -> Sequence[int]:
        return curve.ready(sights, self._scenario.replicas, noticed, LEAD)

    def _wait(self, noticed: Mapping[str, float]) -> None:
        """Until all replicas are available and no pod is left on the noticed nodes."""
        last = max(noticed.values()) + LEAD + 10
        began = time.monotonic()
        told = -10.0
        while time.monotonic() - began < LONGEST + self._scenario.spread:
            available = self.site.ready()
            seconds = time.monotonic() - began
            if seconds - told >= 10:
                told = seconds
                self._say(f"{seconds:5.0f} s  {available} replicas available")
            is_whole = available >= self._scenario.pods
            is_over = time.time() > last and not self._scenario.has_room  # noqa: TID251
            if (is_whole or is_over) and not self.site.staying(noticed):
                time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
                return
            if is_over and not is_whole:
                return
            time.sleep(1)  # noqa: TID251 - a real cluster has its own clock


@contextmanager
def prepared(scenario: Scenario, say: Say) -> Iterator[Storm]:
    """A cluster of its own for a scenario, full, with the idle nodes that do not appear later."""
    say(f"{scenario.name}: {scenario.title}")
    with site.launched() as control_plane, aws.started() as stand_in:
        cluster = Site(control_plane, scenario, stand_in.nodes(scenario.spot))
        fill = cluster.fill()
        say(f"fill: {scenario.pods} pods Ready from nothing in {fill:.1f} s")
        cluster.add_idle_nodes()
        cluster.limit_controllers()
        yield Storm(cluster, stand_in, fill, say)
