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
    """What another way did with as many pods on as many nodes, at once.

    ``failed``: so many of `kubectl drain`'s processes did not end well.
    """

    outcome: Outcome
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
    worker: str
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
        noticed: dict[str, float] = {}
        with (
            self._observed() as sights,
            self._beside(self._scale, wanted=self._scenario.late),
            self._beside(lambda stopping: self._take(noticed, stopping)),
        ):
            self._notice(noticed)
            self._wait(noticed)
        seconds = time.monotonic() - began
        cpu = process.cpu_seconds - cpu_before
        after = request_counts(self._site)
        outcome = self._judge(sights(), noticed)
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

    def delete_all(self) -> Baseline:
        """Cordon the spot nodes and delete every pod, as fast as the API server takes it."""
        with self._observed() as sights:
            noticed = self._noticed_now()
            for name in self._site.spot.values():
                self._site.set_unschedulable(name, value=True)
            site.delete_all(self._site.control_plane)
            self._wait(noticed)
        return Baseline(outcome=self._judge(sights(), noticed))

    def drain(self) -> Baseline:
        """`kubectl drain` on every spot node, all beside each other."""
        with self._observed() as sights:
            noticed = self._noticed_now()
            failed = baselines.drain(self._site, self._site.spot.values())
            self._wait(noticed)
        return Baseline(outcome=self._judge(sights(), noticed), failed=failed)

    def _noticed_now(self) -> Mapping[str, float]:
        now = time.time()  # noqa: TID251 - the observer's clock
        return dict.fromkeys(self._site.spot.values(), now)

    def _judge(self, sights: Sequence[figures.Sight], noticed: Mapping[str, float]) -> Outcome:
        return figures.judge(sights, self._replicas, noticed, LEAD, GRACE)

    def _notice(self, noticed: dict[str, float]) -> None:
        """Send the notices, at once or spread evenly, and note when each node's was sent."""
        instances = list(self._site.spot.items())
        step = self._scenario.spread / max(1, len(instances) - 1)
        began = time.monotonic()
        for start in range(0, len(instances), 10 if step == 0 else 1):
            some = instances[start : start + (10 if step == 0 else 1)]
            _sleep_until(began + start * step)
            now = datetime.now(UTC)  # noqa: TID251 - a feeder's own clock
            self._aws.send([aws.warning(one, now, start + n) for n, (one, _) in enumerate(some)])
            noticed |= {node: now.timestamp() for _, node in some}

    def _take(self, noticed: Mapping[str, float], stopping: Event) -> None:
        """EC2 terminates each instance at its deadline, and the node's object goes with it."""
        instances = {node: instance_id for instance_id, node in self._site.spot.items()}
        while not stopping.wait(0.5):
            now = time.time()  # noqa: TID251 - EC2's own clock
            over = [node for node, at in list(noticed.items()) if at + LEAD <= now]
            taken = [node for node in over if node in instances]
            if taken:
                self._aws.terminate([instances.pop(node) for node in taken])
                for node in taken:
                    self._site.control_plane.delete("v1", "Node", node)

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
    def _beside(self, work: Callable[[Event], None], *, wanted: bool = True) -> Iterator[None]:
        """Somebody else's work goes on meanwhile, until it is told to stop."""
        if not wanted:
            yield
            return
        stopping = Event()
        thread = Thread(target=work, args=(stopping,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join(30)

    def _scale(self, stopping: Event) -> None:
        """Nodes for whatever is Pending, so many seconds after they were found to be missing."""
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


def run(scenario: Scenario, rounds: int, say: Say, log: Path, *, beside: bool = False) -> Result:
    """Run a scenario, so many storms on one cluster.

    ``beside``: then a bare deletion of the same pods and `kubectl drain`, on the same cluster.
    """
    with site.launched() as control_plane, aws.started() as stand_in:
        cluster = Site(control_plane, scenario, _launch(stand_in, scenario.spot))
        storm = Storm(scenario, cluster, stand_in, say)
        say(f"{scenario.name}: {scenario.title}")
        fill = cluster.fill()
        say(f"fill: {scenario.pods} pods Ready from nothing in {fill:.1f} s")
        if not scenario.late:
            cluster.add_idle_nodes()
        cluster.limit_controllers()
        done: list[Round] = []
        with worker.started(stand_in, control_plane.kubeconfig, log) as process:
            for number in range(rounds):
                if number:
                    _refill(cluster, stand_in, say)
                done.append(storm.round(fill, process))
                say(summary(done[-1].outcome, fill))
            code = process.end()
            assert code == 0, f"the worker ended with {code}: {process.lines[-3:]}"
            peak = process.peak_mb
        deletion = drain = None
        if beside:
            _refill(cluster, stand_in, say)
            say("beside it: every pod deleted at once")
            deletion = storm.delete_all()
            say(summary(deletion.outcome, fill))
            _refill(cluster, stand_in, say)
            say("beside it: kubectl drain on every node at once")
            drain = storm.drain()
            say(summary(drain.outcome, fill))
        return Result(
            scenario=scenario.name,
            title=scenario.title,
            condition=scenario.limit.value,
            pods=scenario.pods,
            machine=machine.look(),
            worker=worker.how_held(),
            rounds=done,
            deletion=deletion,
            drain=drain,
            peak_mb=peak,
            messages_left=stand_in.left(),
        )


def _refill(cluster: Site, stand_in: Aws, say: Say) -> None:
    """New spot nodes, and all pods on them again."""
    cluster.replace_spot_nodes(_launch(stand_in, cluster.scenario.spot))
    say(f"all pods are on spot nodes again after {cluster.refill():.1f} s")


def summary(outcome: Outcome, fill: float) -> str:
    """An outcome in a line."""
    whole = "never" if outcome.whole is None else f"{outcome.whole:.1f} s"
    ratio = "" if outcome.whole is None else f" = {outcome.whole / fill:.2f} x fill"
    cordons = outcome.cordons
    return (
        f"cordoned {cordons.count if cordons else 0} in {cordons.worst if cordons else 0:.2f} s,"
        f" first pod touched {outcome.touched or 0:.2f} s, full capacity {whole}{ratio},"
        f" all off {outcome.empty or 0:.1f} s, left {outcome.left}, late {outcome.late},"
        f" lowest share {outcome.lowest_share:.2f}, below wanted {outcome.below_wanted},"
        f" at zero {outcome.at_zero}"
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
