"""A scenario on a running cluster: one storm, or what it is compared with."""

import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from typing import Final

from bench.figure import Figure
from bench.lab import cluster, sights, webhook, worker
from bench.lab.beside import Observed, observed, scaling, taking, working
from bench.lab.cluster import Cluster
from bench.lab.lab import Lab
from bench.lab.manifests import GRACE, NAMESPACE
from bench.lab.metered import Invocation
from bench.lab.scenario import Scenario
from bench.lab.worker import Watched, Worker
from tests.kit import moto_server
from tests.kit.moto_server import Aws

LEAD: Final = 120.0
"""Seconds from an interruption warning to the end of its instance."""

LONGEST: Final = 300.0
DRAIN_TIMEOUT: Final = 150
GATED_TIMEOUT: Final = 600
PAUSE: Final = "GET configmaps"
"""The question whether Evenkeel is paused, which is asked by the second, not by the pod."""


@contextmanager
def prepared(scenario: Scenario, lab: Lab) -> Iterator["Storm"]:
    """A cluster of its own for a scenario, full, with the idle nodes that do not appear later."""
    with cluster.launched() as control_plane, moto_server.started() as stand_in:
        site = Cluster(control_plane, scenario, stand_in.nodes(scenario.spot))
        fill = site.fill()
        lab.say(f"fill: {scenario.pods} pods Ready from nothing in {fill:.1f} s")
        site.add_idle_nodes()
        site.limit_controllers()
        yield Storm(site, stand_in, fill, lab)


@dataclass(frozen=True, slots=True)
class Storm:
    """A scenario on a cluster that is full; ``fill`` are the seconds that this took."""

    cluster: Cluster
    aws: Aws
    fill: float
    lab: Lab

    def evenkeel(self) -> Sequence[Figure]:
        """Notice all spot nodes, and watch until all is well or nothing changes any more."""
        scenario, noticed = self.cluster.scenario, dict[str, float]()
        kubeconfig = self.cluster.control_plane.kubeconfig
        shared = scenario.processes, scenario.pods_each
        with worker.started(self.aws, kubeconfig, self.lab.log("poll"), *shared) as process:
            cpu, sent, began = process.cpu_seconds, process.requests, time.monotonic()
            with observed(self.cluster.control_plane) as seen:
                works = [taking(self.cluster, self.aws, noticed, LEAD)]
                if scenario.late:
                    works.append(scaling(self.cluster))
                with working(*works):
                    self._notice(noticed)
                    self._wait(noticed)
            seconds = time.monotonic() - began
            took = process.cpu_seconds - cpu
            requests = process.requests - sent
            process.end()
        return [
            *self._judged(seen, noticed),
            Figure("CPU", took, "s"),
            Figure("memory, at most", process.peak_mb, "MB"),
            *_sent(requests, scenario.pods),
            *_billed(process),
            Figure("seconds", seconds, "s", shown=False),
        ]

    def deletion(self) -> Sequence[Figure]:
        """Cordon the spot nodes and delete every pod, as fast as the API server takes it."""

        def delete() -> None:
            for name in self.cluster.spot.values():
                self.cluster.set_unschedulable(name, value=True)
            cluster.delete_all(self.cluster.control_plane)

        return self._otherwise(delete)

    def prototype(self) -> Sequence[Figure]:
        """A drainer of a hundred lines, which releases and evicts, and does nothing else."""
        kubeconfig = str(self.cluster.control_plane.kubeconfig)
        command = [sys.executable, "-m", "bench.lab.prototype", kubeconfig, NAMESPACE]
        with subprocess.Popen([*worker.held_to(1), *command], stdin=subprocess.PIPE) as process:
            watched = Watched(process)

            def begin() -> None:
                assert process.stdin is not None
                process.stdin.write("\n".join(self.cluster.spot.values()).encode())
                process.stdin.close()

            try:
                found = self._otherwise(begin)
                watched.sample()
            finally:
                watched.forget()
        return [
            *found,
            Figure("CPU", watched.cpu_seconds, "s"),
            Figure("memory, at most", watched.peak_mb, "MB"),
        ]

    def drain(self) -> Sequence[Figure]:
        """`kubectl drain` on every spot node, all beside each other."""
        return self._otherwise(lambda: self._drain(DRAIN_TIMEOUT))

    def gated(self) -> Sequence[Figure]:
        """The same behind the eviction gate, with a reconciler. No node ends."""
        control_plane = self.cluster.control_plane
        with ExitStack() as stack:
            log = self.lab.log("poll")
            stack.enter_context(worker.started(self.aws, control_plane.kubeconfig, log))
            gate = stack.enter_context(webhook.gating(control_plane, NAMESPACE))
            refused = webhook.refusals(control_plane)
            found = self._otherwise(lambda: self._drain(GATED_TIMEOUT), lead=math.inf)
            refusals = webhook.refusals(control_plane) - refused
            return [
                *found,
                Figure("CPU", gate.cpu_seconds, "s"),
                Figure("memory, at most", gate.peak_mb, "MB"),
                Figure("evictions refused", refusals),
            ]

    def _otherwise(self, act: Callable[[], None], lead: float = LEAD) -> Sequence[Figure]:
        with observed(self.cluster.control_plane) as seen:
            noticed = dict.fromkeys(self.cluster.spot.values(), _now().timestamp())
            act()
            self._wait(noticed)
        return self._judged(seen, noticed, lead)

    def _drain(self, timeout: int) -> None:
        control_plane = self.cluster.control_plane
        command = [
            *(str(control_plane.binaries / "kubectl"), f"--kubeconfig={control_plane.kubeconfig}"),
            *("drain", "--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={timeout}s"),
        ]
        quiet = subprocess.DEVNULL
        running = [
            subprocess.Popen([*command, node], stdin=quiet, stdout=quiet, stderr=quiet)
            for node in self.cluster.spot.values()
        ]
        failed = sum(process.wait(timeout + 60) != 0 for process in running)
        self.lab.say(f"{failed} of {len(running)} commands did not end well")

    def _notice(self, noticed: dict[str, float]) -> None:
        """Send all notices: those of the same moment ten at a time, else one by one."""
        spread, began = self.cluster.scenario.spread, time.monotonic()
        nodes = list(self.cluster.spot.items())
        size = 1 if spread else 10
        for number, some in enumerate(batched(nodes, size, strict=False)):
            due = began + spread * number * size / max(1, len(nodes) - 1)
            time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
            now = _now()
            self.aws.send([moto_server.warning(each, now) for each, _ in some])
            noticed.update(dict.fromkeys((name for _, name in some), now.timestamp()))

    def _judged(
        self, seen: Observed, noticed: Mapping[str, float], lead: float = LEAD
    ) -> Sequence[Figure]:
        replicas = self.cluster.scenario.replicas
        found = [
            Figure("fill", self.fill, "s"),
            *sights.judge(seen.sights, replicas, noticed, lead, GRACE),
        ]
        told = ", ".join(f"{each.name} {each.value}" for each in found[:8])
        self.lab.say(told)
        return found

    def _wait(self, noticed: Mapping[str, float]) -> None:
        """Until all replicas are available and no pod is left on the noticed nodes."""
        scenario, began, told = self.cluster.scenario, time.monotonic(), -10.0
        while (seconds := time.monotonic() - began) < LONGEST + scenario.spread:
            available = self.cluster.ready()
            if seconds - told >= 10:
                told = seconds
                self.lab.say(f"{seconds:5.0f} s  {available} replicas available")
            is_whole = available >= scenario.pods
            if is_whole and not self.cluster.staying(noticed):
                break
            time.sleep(1)  # noqa: TID251 - a real cluster has its own clock
        time.sleep(1)  # noqa: TID251 - for the observer to see the last of it


def _sent(requests: Counter[str], pods: int) -> Sequence[Figure]:
    """What Evenkeel itself sent to the API server and to AWS, by kind too."""
    to_cluster = sum(n for kind, n in requests.items() if not kind.startswith("AWS "))
    gets = sum(n for kind, n in requests.items() if kind.startswith("GET ") and kind != PAUSE)
    return [
        Figure("requests per pod", to_cluster / pods),
        Figure("GETs per pod", gets / pods),
        *(Figure(kind, count, shown=False) for kind, count in sorted(requests.items())),
    ]


def _billed(process: Worker) -> Sequence[Figure]:
    """What Lambda would count of each function, and what the functions logged.

    The schedule's first invocation is one with nothing to do.
    """
    found: dict[str, list[Invocation]] = {}
    for each in process.invocations:
        found.setdefault(each.function, []).append(each)
    counts: dict[str, float] = {
        f"{name}: {what}": value
        for name, some in sorted(found.items())
        for what, value in (
            ("invocations", len(some)),
            ("billed ms", sum(math.ceil(each.seconds * 1000) for each in some)),
            ("handled", sum(len(each.handled) for each in some)),
            ("failed", sum(len(each.failed) for each in some)),
        )
    }
    counts |= {
        "log lines": len(process.lines),
        "idle schedule ms": process.invocations[0].seconds * 1000,
    }
    return [Figure(name, value, shown=False) for name, value in counts.items()]


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the observer's clock
