"""A day in the life of a cluster: what happens in it, who is watched, and what is left at rest.

Evenkeel runs as ``evenkeel poll`` runs it: one process for hours, whose machine's clock somebody
sets, and which is killed and started again. Each part of the day begins with things that happen
one after the other, in any order, and ends with a rest in which what is kept is counted.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

from evenkeel.errors import UnavailableError
from evenkeel.model import names
from evenkeel.model.request import Request
from tests.kit.held import held_by
from tests.kit.manifests import Manifest, bare_pod, budget, deployment, job, resource, stateful_set
from tests.kit.restoring import RestoreScene

MINUTE: Final = 60
REST: Final = 20 * MINUTE
"""After so long nothing waits any more: what a failure left rests for ten minutes."""

BOUNDS: Final = {"web": 0, "api": 0, "one": 0, "db": 1}
"""The workloads, and how many pods may be missing: one ordinal at a time, and none else."""

SIZES: Final = {"web": 4, "api": 2, "one": 1, "db": 3}
SPOT: Final = 6
TENANT: Final = "tenant"
CROWD: Final = 150
STRANGERS: Final = 60
OURS: Final = "evenkeel.dev/"
IN_A_CLUSTER: Final = ("Node", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "Lease", "Event")


@dataclass(frozen=True)
class Left:
    """What there is at rest.

    ``objects`` by kind; ``notes`` are the bytes of Evenkeel's labels, annotations and taints by
    kind; ``entries`` are the Python objects that Evenkeel's processes keep; ``watches`` those that
    are connected, ``messages`` those in both queues.
    """

    objects: Mapping[str, int]
    notes: Mapping[str, int]
    leases: Collection[str]
    entries: int
    watches: int
    messages: int


class Day:
    """A cluster and what happens in it; ``dips`` tells what must not have happened."""

    def __init__(self, seed: int) -> None:
        """The same seed makes the same day."""
        self._rng = random.Random(seed)  # noqa: S311 - no cryptography
        self._numbers = iter(range(1_000_000))
        self.scene = RestoreScene(steady=True)
        self.dips: list[str] = []
        self.done: Counter[str] = Counter()
        self.excused: Counter[str] = Counter()
        self._sizes = dict(SIZES)
        self._excuses: dict[str, str] = {}
        self._down_until = 0.0
        self._is_clock_set = False
        self._settled = False
        self._set_up()

    def _set_up(self) -> None:
        scene = self.scene
        scene.apply(resource("Namespace", TENANT))
        scene.add_nodes("o", 3, spot=False, room="64")
        self._add_spot(SPOT)
        kept = {names.ON_DEMAND: "1"}
        surge: Manifest = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
        scene.apply(
            deployment("web", SIZES["web"], notes=kept, **surge),
            deployment("api", SIZES["api"], **surge),
            deployment("one", **surge),
            stateful_set("db", SIZES["db"]),
            budget("web", minAvailable=SIZES["web"] - 1),
        )
        scene.settle(60)
        scene.begin()
        scene.cluster.intercept(self._fail)
        scene.cluster.server.store.observe("Pod", lambda _old, _new: self._look())
        self._settled = True

    # What happens.

    def part(self, deeds: int) -> Left:
        """So many things one after the other, minutes or seconds apart, and then a rest."""
        every = (
            *(self._storm, self._storm, self._hint, self._hint, self._rollout, self._scale),
            *(self._crowd, self._strangers, self._restart, self._set_clock, self._fail_for),
            *(self._delete, self._silent_end, self._forge, self._runs),
        )
        for _ in range(deeds):
            deed = self._rng.choice(every)
            self.done[deed.__name__.strip("_")] += 1
            deed()
            self.scene.settle(self._rng.choice([1, 20, 60, 240]))
        self.scene.set_clock(0)
        self._is_clock_set = False
        self.scene.settle(3 * MINUTE)
        self._tidy()
        self.scene.settle(REST)
        self._even_out()
        self.scene.settle(REST)
        self._forget()
        return self._left()

    def _spot(self) -> list[str]:
        """The spot nodes that live on, as far as is known."""
        found = []
        for node in self.scene.cluster.objects("Node"):
            name, labels = node["metadata"]["name"], node["metadata"]["labels"]
            is_there = name not in self.scene.observer.lost_nodes
            if name.startswith("s") and names.DOOMED not in labels and is_there:
                found.append(name)
        return found

    def _add_spot(self, count: int) -> None:
        for _ in range(count):
            self.scene.add_node(f"s{next(self._numbers)}", room="2")

    def _storm(self) -> None:
        """EC2 takes up to three nodes after a warning, and as many come a while later."""
        nodes = self._spot()
        going = self._rng.sample(nodes, min(len(nodes), self._rng.choice([1, 1, 2, 3])))
        self.scene.interrupt(*going)
        late = self._rng.choice([5, 30, 60])
        self._later(late, partial(self._add_spot, len(going)))

    def _hint(self) -> None:
        self.scene.recommend(*self._rng.sample(self._spot(), 1))
        self._add_spot(1)

    def _rollout(self) -> None:
        name = self._rng.choice(["web", "api", "one"])
        made = self._one("Deployment", name)
        made["spec"]["template"]["metadata"]["annotations"] = {"build": str(next(self._numbers))}
        self.scene.apply(made)

    def _scale(self) -> None:
        name = self._rng.choice(["web", "api"])
        size = self._rng.choice([2, 3, 4, 5])
        self._excuse(name, "it is scaled")
        self._sizes[name] = size
        self.scene.cluster.scale("Deployment", name, "default", size)

    def _crowd(self) -> None:
        """A tenant makes many small objects of the kinds that are read around pods."""
        for number in range(CROWD):
            self.scene.apply(
                budget(f"b{number}", f"app-{number}", TENANT, minAvailable=1),
                resource("Service", f"s{number}", TENANT, spec={"selector": {"app": f"{number}"}}),
            )

    def _forge(self) -> None:
        """A tenant's pods bear what a release writes."""
        for number in range(5):
            made = bare_pod(f"forged-{number}", TENANT)
            made["metadata"]["labels"] |= {names.RELEASED_FROM: "abc"}
            made["metadata"]["annotations"] = {names.RELEASE: "{}" * self._rng.choice([1, 900])}
            self.scene.apply(made)

    def _runs(self) -> None:
        """A Job runs for a while, and a bare pod."""
        number = next(self._numbers)
        self.scene.apply(bare_pod(f"bare-{number}", TENANT), job(f"job-{number}", namespace=TENANT))

    def _strangers(self) -> None:
        """Notices of instances that nobody knows, and messages that are none."""
        for number in range(STRANGERS):
            self.scene.put(
                "aws.ec2",
                "EC2 Spot Instance Interruption Warning",
                {"instance-id": f"i-{number:08x}abc", "instance-action": "terminate"},
            )
        self.scene.notices.put("{")
        self.scene.wake_ups.put("[]")

    def _restart(self) -> None:
        """The process is killed, and a new one begins; not while its clock would begin wrong."""
        if self._is_clock_set:
            return
        for process in self.scene.restoring.running:
            process.kill()
        self.scene.restart()

    def _set_clock(self) -> None:
        """The machine's clock is set, and is right again some minutes later."""
        if self._is_clock_set:
            return
        self._is_clock_set = True
        self.scene.set_clock(self._rng.choice([-3600, -90, 90, 3600]))

        def right() -> None:
            self._is_clock_set = False
            self.scene.set_clock(0)

        self._later(self._rng.choice([5, 120, 420]), right)

    def _fail_for(self) -> None:
        """The API server answers Evenkeel nothing for some seconds."""
        self._down_until = self.scene.seconds + self._rng.choice([2, 10, 20])

    def _fail(self, _request: Request, proceed: Callable[[], Any]) -> Any:
        if self.scene.seconds < self._down_until:
            raise UnavailableError("503")
        return proceed()

    def _delete(self) -> None:
        """A person deletes a pod."""
        name = self._rng.choice([*SIZES])
        pods = self.scene.pods(name)
        if pods:
            self._excuse(name, "a person deleted a pod")
            self.scene.cluster.delete("Pod", self._rng.choice(pods).name, "default")

    def _silent_end(self) -> None:
        """A node is gone without a word."""
        (node,) = self._rng.sample(self._spot(), 1)
        for name in SIZES:
            if self.scene.pods(name, node):
                self._excuse(name, "its node ended without a word")
        self.scene.observer.lose(node)
        self.scene.cluster.kill_node(node, timedelta(seconds=10))
        self._add_spot(1)

    def _later(self, seconds: float, action: Callable[[], object]) -> None:
        self.scene.later(self.scene.seconds + seconds, action)

    def _tidy(self) -> None:
        """What tenants made is deleted, and there are as many spot nodes as in the beginning."""
        for kind in ("PodDisruptionBudget", "Service", "Job", "Pod"):
            for obj in self.scene.cluster.objects(kind, TENANT):
                self.scene.cluster.delete(kind, obj["metadata"]["name"], TENANT)
        for name in SIZES:
            if self._sizes[name] != SIZES[name]:
                self._excuse(name, "it is scaled")
                self._sizes[name] = SIZES[name]
                self.scene.cluster.scale("Deployment", name, "default", SIZES[name])

    def _even_out(self) -> None:
        """There are as many spot nodes as in the beginning."""
        nodes = self._spot()
        self.scene.interrupt(*nodes[SPOT:])
        self._add_spot(max(0, SPOT - len(nodes)))

    def _one(self, kind: str, name: str) -> dict[str, Any]:
        found = self.scene.cluster.objects(kind, "default")
        return next(obj for obj in found if obj["metadata"]["name"] == name)

    # Who is watched.

    def _excuse(self, name: str, why: str) -> None:
        """What others take is not counted until the workload is whole again."""
        self._excuses[name] = why
        self.excused[why] += 1

    def _look(self) -> None:
        """Count the pods that serve, as a Service counts them."""
        lost = self.scene.observer.lost_nodes
        for name, missing in BOUNDS.items() if self._settled else ():
            pods, size = self.scene.pods(name), self._sizes[name]
            serving = sum(
                pod.ready and pod.active and pod.spec.node_name not in lost for pod in pods
            )
            if serving == len(pods) >= size:
                self._excuses.pop(name, None)
            elif name not in self._excuses and serving < size - missing:
                is_one = 0 < serving == size - 1
                if not (is_one and self._is_in_rollout(name)):
                    self.dips.append(f"{self.scene.seconds:.1f} {name}: {serving} of {size}")

    def _is_in_rollout(self, name: str) -> bool:
        """Whether pods of two templates are wanted.

        Then the Deployment's controller may take the one that Evenkeel has just replaced: within
        milliseconds neither sees what the other does.
        """
        sets = self.scene.cluster.objects("ReplicaSet", "default")
        ours = (each for each in sets if each["metadata"]["name"].startswith(f"{name}-"))
        return sum(bool(each["spec"]["replicas"]) for each in ours) > 1

    @property
    def still_excused(self) -> Mapping[str, str]:
        """The workloads that are not whole again."""
        return dict(self._excuses)

    # What is left.

    def _forget(self) -> None:
        """The test's own books."""
        scene = self.scene
        for book in (scene.requests, scene.writes, scene.events, scene.auto_scaling.calls):
            book.clear()
        recorder = scene.recorder
        for kept in (recorder.decisions, recorder.times, recorder.notes, recorder.pod_counts):
            kept.clear()
        recorder.values.clear()

    def _left(self) -> Left:
        cluster = self.scene.cluster
        kinds = {kind: cluster.objects(kind) for kind in IN_A_CLUSTER}
        return Left(
            objects={kind: len(found) for kind, found in kinds.items()},
            notes={kind: sum(map(_bytes_of_notes, found)) for kind, found in kinds.items()},
            leases=sorted(each["metadata"]["name"] for each in kinds["Lease"]),
            entries=self._entries(),
            watches=cluster.watches,
            messages=len(self.scene.notices.messages) + len(self.scene.wake_ups.messages),
        )

    def _entries(self) -> int:
        """The Python objects that Evenkeel's processes hold on to, the world's own left aside."""
        scene = self.scene
        handlers = [each for environment in scene.environments for each in environment.idle]
        return sum(1 for _ in held_by(*handlers, scene.answers))


def _bytes_of_notes(obj: Mapping[str, Any]) -> int:
    metadata = obj["metadata"]
    notes = [*metadata.get("labels", {}).items(), *metadata.get("annotations", {}).items()]
    taints = [(taint["key"], "") for taint in obj.get("spec", {}).get("taints", ())]
    return sum(len(key) + len(value) for key, value in (*notes, *taints) if key.startswith(OURS))
