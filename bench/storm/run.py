"""One scenario from its beginning to its end, and what was measured."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Final

import msgspec

from bench import machine
from bench.storm import aws, baselines, figures, site, worker
from bench.storm.aws import Aws
from bench.storm.figures import Outcome
from bench.storm.scenario import Limit, Scenario
from bench.storm.site import GRACE, NAMESPACE, Site
from evenkeel.adapters.kubernetes import from_kubeconfig
from evenkeel.model.node import Node
from evenkeel.model.request import Get, Operation, Patch

LEAD: Final = 120.0
"""Seconds from an interruption warning to the end of its instance."""

LONGEST: Final = 300.0

type Say = Callable[[str], None]


class Bare(msgspec.Struct, frozen=True, kw_only=True):
    """What single steps take on the idle cluster, in seconds, on the worker's CPU."""

    gets: float
    patches: float
    describe: float
    round_trip: float

    @property
    def allowed(self) -> float:
        """Until when all nodes should be cordoned: three times the bare requests, and the way."""
        return 3 * (self.gets + self.patches) + self.describe + self.round_trip


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What another way did with the same pods: seconds to full capacity, and how low it went."""

    whole: float | None
    lowest_share: float
    at_zero: int
    cordons: figures.Percentiles | None = None
    failed: int = 0


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One storm: what it is compared with, what became of it, what Evenkeel used."""

    fill: float
    bare: Bare
    outcome: Outcome
    cpu_seconds: float
    cpu_share: float
    requests: Mapping[str, float]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario's results. ``peak_mb`` is the worker's, over all rounds."""

    scenario: str
    title: str
    condition: str
    pods: int
    machine: machine.Machine
    rounds: Sequence[Round]
    deletion: Baseline | None = None
    drain: Baseline | None = None
    peak_mb: float
    messages_left: Mapping[str, int]


class Storm:
    """A scenario on a running cluster."""

    def __init__(self, scenario: Scenario, cluster: Site, stand_in: Aws, say: Say) -> None:
        """The cluster is empty yet."""
        self._scenario = scenario
        self._site = cluster
        self._aws = stand_in
        self._say = say
        self._replicas = {
            f"{kind}-{number:02d}": replicas
            for number in range(scenario.large)
            for kind, replicas in (("large", scenario.size), ("one", 1))
        }

    def round(self, fill: float, process: worker.Worker) -> Round:
        """Notice all spot nodes, and watch until all is well or nothing changes any more."""
        bare = self._bare()
        self._say(
            f"bare: {len(self._site.spot)} GETs {bare.gets:.2f} s, patches {bare.patches:.2f} s,"
            f" DescribeInstances {bare.describe:.2f} s, queue {bare.round_trip:.2f} s"
        )
        cpu_before, began = process.cpu_seconds, time.monotonic()
        before = request_counts(self._site)
        with self._observed() as sights, self._autoscaler():
            noticed = self._notice()
            self._wait(noticed)
        seconds = time.monotonic() - began
        cpu = process.cpu_seconds - cpu_before
        after = request_counts(self._site)
        outcome = figures.judge(sights(), self._replicas, noticed, LEAD, GRACE)
        return Round(
            fill=fill,
            bare=bare,
            outcome=outcome,
            cpu_seconds=cpu,
            cpu_share=cpu / seconds,
            requests={
                key: count - before.get(key, 0.0)
                for key, count in sorted(after.items())
                if count > before.get(key, 0.0)
            },
        )

    def _notice(self) -> Mapping[str, float]:
        """Send the notices, at once or spread evenly; when each node's was sent."""
        noticed: dict[str, float] = {}
        instances = list(self._site.spot.items())
        step = self._scenario.spread / max(1, len(instances) - 1)
        began = time.monotonic()
        for start in range(0, len(instances), 10 if step == 0 else 1):
            some = instances[start : start + (10 if step == 0 else 1)]
            _sleep_until(began + start * step)
            now = datetime.now(UTC)  # noqa: TID251 - a feeder's own clock
            self._aws.send([aws.warning(one, now, start + n) for n, (one, _) in enumerate(some)])
            noticed |= {node: now.timestamp() for _, node in some}
            if step:
                continue
        return noticed

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
            if (is_whole or is_over) and not self._left(noticed):
                time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
                return
            if is_over and not is_whole:
                return
            time.sleep(1)  # noqa: TID251 - a real cluster has its own clock

    def _left(self, noticed: Mapping[str, float]) -> int:
        pods = self._site.control_plane.items("v1", "Pod", NAMESPACE)
        return sum(
            pod["spec"].get("nodeName") in noticed and "deletionTimestamp" not in pod["metadata"]
            for pod in pods
        )

    def _bare(self) -> Bare:
        """Cordon and uncordon all spot nodes by the same pool on the same CPU, nothing else."""
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cpus)})
        try:
            with from_kubeconfig(kubeconfig=str(self._site.control_plane.kubeconfig)) as cluster:
                names = list(self._site.spot.values())
                cluster.perform([Get(Node, names[0])])
                began = time.monotonic()
                replies = cluster.perform([Get(Node, name) for name in names])
                got = time.monotonic()
                nodes = [reply.result for reply in replies]
                cordons = [_cordon(node) for node in nodes if isinstance(node, Node)]
                assert all(reply.error is None for reply in cluster.perform(cordons))
                patched = time.monotonic()
                undo = Operation("remove", "/spec/unschedulable")
                cluster.perform([Patch(Node, name, (undo,)) for name in names])
        finally:
            os.sched_setaffinity(0, cpus)
        return Bare(
            gets=got - began,
            patches=patched - got,
            describe=self._aws.describe_seconds(list(self._site.spot)),
            round_trip=self._aws.round_trip_seconds(),
        )

    @contextmanager
    def _observed(self) -> Iterator[Callable[[], Sequence[figures.Sight]]]:
        """Somebody watches meanwhile; what was seen can be read when it is over."""
        with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
            path = Path(folder) / "sights.jsonl"
            command = [
                *(sys.executable, "-m", "bench.storm.observer"),
                *(str(self._site.control_plane.kubeconfig), NAMESPACE, str(path)),
            ]
            found: list[figures.Sight] = []
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                assert process.stdout.readline().strip() == "ready"
                try:
                    yield lambda: found
                finally:
                    process.stdin.close()
                    process.wait(20)
                    found.extend(figures.read(path))

    @contextmanager
    def _autoscaler(self) -> Iterator[None]:
        """Nodes for whatever is Pending, so many seconds after they were found to be missing."""
        if not self._scenario.late:
            yield
            return
        stopping = Event()
        thread = Thread(target=self._scale, args=(stopping,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join(30)

    def _scale(self, stopping: Event) -> None:
        waiting: list[float] = []
        added = 0
        while not stopping.wait(1.0):
            now = time.monotonic()
            ready = [at for at in waiting if at <= now]
            waiting = [at for at in waiting if at > now]
            for name in self._site.idle[added : added + len(ready)]:
                self._site.add_idle_node(name)
            added += len(ready)
            pending = self._site.pending()
            needed = -(-pending // self._scenario.per_idle) - len(waiting)
            room = len(self._site.idle) - added - len(waiting)
            waiting += [now + self._scenario.late_after] * max(0, min(needed, room))


def run(scenario: Scenario, rounds: int, say: Say, log: Path) -> Result:
    """Run a scenario; several rounds of A on one cluster, refilled by a bare deletion."""
    with site.launched() as control_plane, aws.started() as stand_in:
        cluster = Site(control_plane, scenario, _launch(stand_in, scenario.spot))
        say(f"{scenario.name}: {scenario.title}")
        fill = cluster.fill()
        say(f"fill: {scenario.pods} pods Ready from nothing in {fill:.1f} s")
        if not scenario.late:
            cluster.add_idle_nodes()
        cluster.limit_controllers()
        storm = Storm(scenario, cluster, stand_in, say)
        deletion: Baseline | None = None
        done: list[Round] = []
        with worker.started(stand_in, control_plane.kubeconfig, log) as process:
            for number in range(rounds):
                if number:
                    say("refilling the spot nodes by a bare deletion")
                    cluster.replace_spot_nodes(_launch(stand_in, scenario.spot))
                    fill = cluster.refill()
                    say(f"bare deletion: full capacity after {fill:.1f} s")
                done.append(storm.round(fill, process))
                say(summary(done[-1]))
            code = process.end()
            assert code == 0, f"the worker ended with {code}: {process.lines[-3:]}"
            peak = process.peak_mb
        return Result(
            scenario=scenario.name,
            title=scenario.title,
            condition=scenario.limit.value,
            pods=scenario.pods,
            machine=machine.look(),
            rounds=done,
            deletion=deletion,
            peak_mb=peak,
            messages_left=stand_in.left(),
        )


def summary(measured: Round) -> str:
    """One round in a line."""
    outcome = measured.outcome
    whole = "never" if outcome.whole is None else f"{outcome.whole:.1f} s"
    ratio = "" if outcome.whole is None else f" = {outcome.whole / measured.fill:.2f} x fill"
    cordons = outcome.cordons
    return (
        f"cordoned {cordons.count if cordons else 0} in"
        f" {cordons.worst if cordons else 0:.2f} s (allowed {measured.bare.allowed:.2f} s),"
        f" first pod touched {outcome.touched or 0:.2f} s, full capacity {whole}{ratio},"
        f" all off {outcome.empty or 0:.1f} s, left {outcome.left}, late {outcome.late},"
        f" lowest share {outcome.lowest_share:.2f}, below wanted {outcome.below_wanted},"
        f" at zero {outcome.at_zero}, CPU {measured.cpu_seconds:.1f} s"
    )


def request_counts(cluster: Site) -> Mapping[str, float]:
    """Requests that the API server answered so far, as ``PATCH pods/status``."""
    counts: dict[str, float] = {}
    for line in cluster.control_plane.text("metrics").splitlines():
        if not line.startswith("apiserver_request_total{"):
            continue
        labels, _, value = line.rpartition("} ")
        verb, resource, part = (
            labels.partition(f'{name}="')[2].partition('"')[0]
            for name in ("verb", ",resource", "subresource")
        )
        key = f"{verb} {resource}/{part}".rstrip("/")
        counts[key] = counts.get(key, 0.0) + float(value)
    return counts


def _launch(stand_in: Aws, count: int) -> Mapping[str, str]:
    instances = stand_in.launch(count)
    return stand_in.dns_names(instances)


def _cordon(node: Node) -> Patch:
    return Patch(
        Node,
        node.name,
        (
            Operation("test", "/metadata/resourceVersion", node.metadata.resource_version),
            Operation("add", "/spec/unschedulable", value=True),
        ),
    )


def _sleep_until(when: float) -> None:
    left = when - time.monotonic()
    if left > 0:
        time.sleep(left)  # noqa: TID251 - a feeder's own clock
