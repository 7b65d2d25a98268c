"""A scenario on a running cluster: one storm, or what it is compared with."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bench.storm import bare, baselines, figures, invocations, site
from bench.storm.aws import Aws
from bench.storm.beside import observed, scaling, taking, working
from bench.storm.feed import Feed, evenly
from bench.storm.figures import Outcome
from bench.storm.results import Baseline, Round
from bench.storm.scenario import Limit, Scenario
from bench.storm.site import Site
from bench.storm.worker import Worker
from bench.storm.workloads import GRACE

LEAD: Final = 120.0
"""Seconds from an interruption warning to the end of its instance."""

LONGEST: Final = 300.0

type Say = Callable[[str], None]


class Storm:
    """A scenario on a running cluster."""

    def __init__(self, scenario: Scenario, cluster: Site, stand_in: Aws, say: Say) -> None:
        """The cluster is empty yet."""
        self._scenario = scenario
        self._site = cluster
        self._aws = stand_in
        self._say = say

    def round(self, fill: float, process: Worker) -> Round:
        """Notice all spot nodes, and watch until all is well or nothing changes any more."""
        single = bare.measure(self._site, self._aws)
        self._say(
            f"bare: {len(self._site.spot)} GETs {single.gets:.2f} s, patches"
            f" {single.patches:.2f} s, DescribeInstances {single.describe:.2f} s, queue"
            f" {single.round_trip:.2f} s"
        )
        cpu_before, began = process.cpu_seconds, time.monotonic()
        before, invoked = self._site.request_counts(), len(process.invocations)
        feed = Feed(
            self._aws, evenly(list(self._site.spot), self._scenario.spread), self._site.spot
        )
        works = [taking(self._site, self._aws, feed.noticed, LEAD)]
        if self._scenario.late:
            works.append(scaling(self._site))
        with observed(self._site) as sights, working(*works):
            feed.run()
            self._wait(feed.noticed)
        seconds = time.monotonic() - began
        cpu = process.cpu_seconds - cpu_before
        after = self._site.request_counts()
        return Round(
            fill=fill,
            bare=single,
            outcome=self._judge(sights(), feed.noticed),
            cpu_seconds=cpu,
            cpu_share=cpu / seconds,
            requests={
                key: count - before.get(key, 0.0)
                for key, count in sorted(after.items())
                if count > before.get(key, 0.0)
            },
            seconds=seconds,
            invocations=invocations.total(process.invocations[invoked:]),
        )

    def delete_all(self) -> Baseline:
        """Cordon the spot nodes and delete every pod, as fast as the API server takes it."""
        with observed(self._site) as sights:
            noticed = self._noticed_now()
            for name in self._site.spot.values():
                self._site.set_unschedulable(name, value=True)
            site.delete_all(self._site.control_plane)
            self._wait(noticed)
        return Baseline(outcome=self._judge(sights(), noticed))

    def drain(self) -> Baseline:
        """`kubectl drain` on every spot node, all beside each other."""
        with observed(self._site) as sights:
            noticed = self._noticed_now()
            failed = baselines.drain(self._site, self._site.spot.values())
            self._wait(noticed)
        return Baseline(outcome=self._judge(sights(), noticed), failed=failed)

    def _noticed_now(self) -> Mapping[str, float]:
        now = time.time()  # noqa: TID251 - the observer's clock
        return dict.fromkeys(self._site.spot.values(), now)

    def _judge(self, sights: Sequence[figures.Sight], noticed: Mapping[str, float]) -> Outcome:
        return figures.judge(sights, self._scenario.replicas, noticed, LEAD, GRACE)

    def _wait(self, noticed: Mapping[str, float]) -> None:
        """Until all replicas are available and no pod is left on the noticed nodes."""
        last = max(noticed.values()) + LEAD + 10
        began = time.monotonic()
        told = -10.0
        while time.monotonic() - began < LONGEST + self._scenario.spread:
            available = self._site.ready()
            seconds = time.monotonic() - began
            if seconds - told >= 10:
                told = seconds
                self._say(f"{seconds:5.0f} s  {available} replicas available")
            is_whole = available >= self._scenario.pods
            is_over = time.time() > last and self._scenario.limit is Limit.NONE  # noqa: TID251
            if (is_whole or is_over) and not self._site.staying(noticed):
                time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
                return
            if is_over and not is_whole:
                return
            time.sleep(1)  # noqa: TID251 - a real cluster has its own clock
