"""What a process takes and what is left in a cluster, and trouble that goes on for hours."""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel.settings import HANDOVER_TIMEOUT
from evenkeel_sandbox.observer.following import is_released
from tests.e2e.accounts import held
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.e2e.placement.webhook import Ground, opened
from tests.e2e.polling import Poll, polling
from tests.kit import moto_server as aws
from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import Manifest

OURS: Final = "evenkeel.dev/"
LEASE: Final = ("coordination.k8s.io/v1", "Lease")
KINDS: Final = (
    *(("v1", "Pod"), ("v1", "Node"), ("apps/v1", "ReplicaSet")),
    *(("apps/v1", "Deployment"), ("apps/v1", "StatefulSet")),
)

SIZES: Final = {"web": 4, "api": 2, "one": 1, "db": 3}
ROLLED: Final = ("web", "api", "one")
SPOT: Final = 4
TIMES: Final[Mapping[str, Any]] = {"start": "200ms", "stop": "200ms"}
PAUSES: Final = (0, 10, 60)
"""Seconds between one storm and the next; restore runs once a minute."""
LEASES: Final = 3 + 2 * len(SIZES)
"""The reconciler's, restore's rest and its schedule's, and of each workload a move and a claim."""
SETTLING: Final = 300.0
"""Seconds in which all pods are Ready again, and off the nodes that end."""


class Taken(NamedTuple):
    """What a process has: kB of memory, open files, threads."""

    memory: int
    files: int
    threads: int


def taken(pid: int) -> Taken:
    """What it has now."""
    folder = Path(f"/proc/{pid}")
    found = re.search(r"VmRSS:\s+(\d+) kB", (folder / "status").read_text())
    assert found is not None
    files, threads = (len([*(folder / each).iterdir()]) for each in ("fd", "task"))
    return Taken(int(found[1]), files, threads)


def left(plane: ControlPlane, namespace: str) -> Mapping[str, Sequence[str]]:
    """Evenkeel's labels, annotations and taints, by the kind and name of what bears them."""
    found = {}
    for api_version, kind in KINDS:
        for each in plane.items(api_version, kind, "" if kind == "Node" else namespace):
            metadata = each["metadata"]
            noted = {**metadata.get("labels", {}), **metadata.get("annotations", {})}
            pairs = [f"{key}={value}" for key, value in noted.items()]
            pairs += [taint["key"] for taint in each["spec"].get("taints", ())]
            if mine := [pair for pair in pairs if pair.startswith(OURS)]:
                found[f"{kind} {metadata['name']}"] = mine
    return found


def leases(plane: ControlPlane) -> Sequence[Manifest]:
    """Evenkeel's Leases, whole."""
    return plane.items(*LEASE, names.SYSTEM_NAMESPACE)


def added(site: Site, queues: aws.Aws, **options: Any) -> tuple[str, str]:
    """A spot instance of the cluster's and its node; the id and the name."""
    (instance_id,) = queues.launch(1)
    name = queues.dns_names([instance_id])[instance_id]
    provider_id = f"aws:///eu-central-1a/{instance_id}"
    site.control_plane.add_node(name, spot=True, provider_id=provider_id, **options)
    return instance_id, name


@dataclass(frozen=True)
class Rest:
    """What there is when all is settled.

    ``objects`` and ``notes`` by kind: how many, and the bytes of Evenkeel's labels, annotations
    and taints. ``processes``: what each takes that runs all the time.
    """

    at: float
    objects: Mapping[str, int]
    notes: Mapping[str, int]
    leases: Sequence[str]
    processes: Mapping[str, Taken]


@dataclass
class Trouble:
    """Storms with more beside them, on a cluster with the webhook, the gate and two pollers.

    The same ``rng`` makes the same trouble, as far as the machine is as fast. ``done`` counts what
    happened, ``rests`` are what there was after each storm.
    """

    ground: Ground
    site: Site
    queues: aws.Aws
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)
    rests: list[Rest] = field(default_factory=list)
    _polls: dict[str, Poll] = field(default_factory=dict)
    _ends: dict[str, ExitStack] = field(default_factory=dict)
    _spot: dict[str, str] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def opened(cls, site: Site, queues: aws.Aws, folder: Path, seed: int) -> Iterator[Self]:
        """All workloads are whole and counted, and all processes run."""
        with opened(site.control_plane, site.namespace, folder) as ground:
            ground.kubeconfig = held(site.control_plane)
            made = cls(ground, site, queues, random.Random(seed))  # noqa: S311 - no cryptography
            try:
                made._begin()
                yield made
            finally:
                for end in made._ends.values():
                    end.close()

    def _begin(self) -> None:
        site = self.site
        site.add_nodes("demand-0", "demand-1", spot=False, pods=30)
        self._add(SPOT)
        self.ground.serve(2)
        self.ground.gate()
        surge = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        above = {names.ON_DEMAND: "none"}
        site.apply(budget("web", minAvailable=4), budget("one", minAvailable=1))
        site.run(
            deployment("web", 4, annotations={names.ON_DEMAND: "1"}, strategy=surge, **TIMES),
            deployment("api", 2, annotations=above, strategy=surge, **TIMES),
            deployment("one", 1, annotations=above, strategy=surge, **TIMES),
            stateful_set("db", 3, **TIMES),
        )
        for name in ("first", "second"):
            self._start(name)

    def _start(self, name: str) -> None:
        log = self.ground.folder / f"{name}-{self.done['restart']}.log"
        stack = self._ends[name] = ExitStack()
        options = ("--wake-up-queue-url", self.queues.wake_up_queue, "--metrics-port", "0")
        ran = polling(self.site.control_plane, self.queues, log, *options)
        self._polls[name] = stack.enter_context(ran)

    def go_on(self, lasts: timedelta) -> None:
        """Storms one after the other, for so long."""
        clock = SystemClock()
        began = clock.now()
        while (passed := clock.now() - began) < lasts:
            self._storm()
            self.rests.append(self._rest(passed.total_seconds()))
            self.site.let_pass(self.rng.choice(PAUSES))
        # What a killed process had taken is seen again when its visibility timeout ends.
        seconds = HANDOVER_TIMEOUT.total_seconds() + SETTLING
        unread = self.queues.left
        self.site.wait_for("no message to be left", lambda: not any(unread().values()), seconds)
        for each in self._polls.values():
            assert each.end() == 0, each.told[-2000:]

    def _storm(self) -> None:
        """EC2 takes some spot nodes or all, and as many come at once or when they are gone."""
        self.done["storm"] += 1
        going = self.rng.sample([*self._spot], self.rng.choice([1, 2, 3, SPOT]))
        ending = {each: self._spot.pop(each) for each in going}
        is_early = self.rng.random() < 0.5
        self.done["nodes"] += len(going)
        self.done["early"] += is_early
        if is_early:
            self._add(len(going))
        moved = len(self.site.witness.departures())
        self.queues.send([aws.warning(each, SystemClock().now()) for each in going])
        self.rng.choice([self._roll_out, self._restart, self._evict])()
        self._await_whole("a storm", off=ending.values())
        self.done["departures"] += len(self.site.witness.departures()) - moved
        self.queues.terminate(going)
        for node in ending.values():
            self.site.control_plane.delete_node(node)
        if not is_early:
            self._add(len(going))

    def _roll_out(self) -> None:
        self.done["rollout"] += 1
        name = self.rng.choice(ROLLED)
        notes = {"build": str(self.done["rollout"])}
        template = {"metadata": {"annotations": notes}}
        self.site.merge("apps/v1", "Deployment", name, {"spec": {"template": template}})

    def _restart(self) -> None:
        """The second process is killed, or asked to end, and started again."""
        self.done["restart"] += 1
        if self.rng.random() < 0.5:
            self._polls["second"].process.kill()
        else:
            assert self._polls["second"].end() == 0
        self._ends["second"].close()
        self._start("second")

    def _evict(self) -> None:
        """Somebody wants a pod to go, until it is gone."""
        self.done["eviction"] += 1
        pod = self.rng.choice(self.site.witness.pods())["metadata"]["name"]

        def is_gone() -> bool:
            return self.site.control_plane.evict(self.site.namespace, pod, fine=(404, 429)) != 429

        self.site.control_plane.wait_for("the gate to let a pod go", is_gone, every=2)

    def _add(self, count: int) -> None:
        for _ in range(count):
            instance_id, node = added(self.site, self.queues, pods=8)
            self._spot[instance_id] = node

    def _await_whole(self, after: str, off: Collection[str] = ()) -> None:
        away = {*off}

        def is_whole() -> bool:
            pods = self.site.witness.pods()
            there = Counter(pod["metadata"]["labels"]["app"] for pod in pods)
            ready = {name: self.site.witness.ready(name) for name in SIZES}
            settled = not any(is_released(p) or p["spec"].get("nodeName") in away for p in pods)
            return settled and there == ready == SIZES and self._are_rolled_out()

        self.site.wait_for(f"all to be whole after {after}", is_whole, SETTLING)

    def _are_rolled_out(self) -> bool:
        found = self.site.control_plane.items("apps/v1", "Deployment", self.site.namespace)
        return all(
            each["status"].get("updatedReplicas") == each["status"].get("replicas")
            and each["status"]["observedGeneration"] == each["metadata"]["generation"]
            for each in found
        )

    def _rest(self, at: float) -> Rest:
        """What there is now; restore may begin to move the next pod at any time."""
        self._await_whole("the end of nodes")
        plane, namespace = self.site.control_plane, self.site.namespace
        lowest = {name: self.site.witness.lowest(name) for name in SIZES}
        assert lowest == SIZES | {"db": max(lowest["db"], 1)}, (lowest, self.done)
        objects = {kind: len(plane.items(version, kind, namespace)) for version, kind in KINDS}
        notes: Counter[str] = Counter()
        for subject, mine in left(plane, namespace).items():
            notes[subject.partition(" ")[0]] += sum(map(len, mine))
        kept = leases(plane)
        notes["Lease"] = sum(len(str(each["metadata"])) for each in kept)
        running = {
            "poll": self._polls["first"].process.pid,
            "serve": self.ground.webhooks[0].process.pid,
        }
        processes = {name: taken(pid) for name, pid in running.items()}
        named = [each["metadata"]["name"] for each in kept]
        return Rest(at, objects, notes, named, processes)
