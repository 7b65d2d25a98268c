"""Cache, plans and agenda fed by hand: what they take for a pod, without requests and watches.

So sizes are reached for which no cluster has room here. All nodes are doomed at once; then each pod
is released, its replacement comes and gets Ready, and the pod goes. Changes are planned for five
times a second, as in a storm.
"""

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from typing import Any, Final

from bench import conditions
from bench.growth.results import Fed, Feeding
from bench.say import Say
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.streams import Stream
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import Answers, ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.model.pod import Pod
from evenkeel.model.workload import ReplicaSet
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.builders import NOW

SIZES: Final = (100, 300, 1_000)
PODS_PER_NODE: Final = 30
REPLICAS: Final = 30
"""Of each ReplicaSet, which has a namespace of its own."""

SECONDS, ROUNDS = 80, 400
"""How long the storm lasts, and how often changes are planned for meanwhile: of any size."""

PER_SECOND: Final = 60.0
CAPACITY: Final = 64


def run(sizes: Sequence[int], say: Say) -> Feeding:
    """Feed each number of doomed nodes, in a process of its own, for its memory."""
    points = []
    for size in sizes:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            points.append(process.submit(feed, size).result())
        last = points[-1]
        say(f"{size} nodes: {last.per_pod:.2f} ms of CPU a pod, {last.megabytes:.0f} MB at most")
    return Feeding(conditions=conditions.look(simulated=True), points=points)


def feed(nodes: int) -> Fed:
    """A storm that takes so many nodes."""
    marked = [builders.node(f"n{number}", notice=builders.notice()) for number in range(nodes)]
    sets, pods = _workloads(nodes)
    changes = list(_changes(sets, pods))
    view = View()
    forced = ForcedEvictions(PER_SECOND, CAPACITY, Answers())
    plans = Plans(Planner(view), view, forced, OnceRecorder(InMemoryRecorder()))
    clock = SimulatedClock(NOW)
    began = time.process_time()
    for node in marked:
        view.see(node)
    for replica_set in sets:
        view.see(replica_set)
    labels = {label for each in sets for label in selections.labels_of(each)}
    view.streams.arrange({label: [Stream(NOW)] for label in labels})  # as in a storm
    for pod in pods:
        view.pods.see(pod)
    _plan(plans, view, clock)
    for fact in list(view.facts.due(NOW)):
        view.facts.read(fact, NOW)
    _plan(plans, view, clock)
    forced.settle()
    assert sum(len(ranking.turns) for ranking in plans.rankings) == len(pods)
    together = math.ceil(len(changes) / ROUNDS)
    for number, some in enumerate(itertools.batched(changes, together, strict=False)):
        now = NOW + timedelta(seconds=SECONDS * number / ROUNDS)
        clock.advance(now - clock.now())
        for pod in some:
            view.pods.see(pod)
        _plan(plans, view, clock)
        assert len(list(itertools.islice(forced.due(now, now), CAPACITY))) <= CAPACITY
        forced.next_at(now)
    assert not plans.rankings
    seconds = time.process_time() - began
    return Fed(doomed=nodes, pods=len(pods), seconds=seconds, megabytes=conditions.peak_megabytes())


def _plan(plans: Plans, view: View, clock: SimulatedClock) -> None:
    for key in view.queue.take(clock):
        if key != NODES:
            plans.replan(key, clock.now())


def _workloads(nodes: int) -> tuple[Sequence[ReplicaSet], Sequence[Pod]]:
    """ReplicaSets whose pods are spread over the nodes."""
    number = nodes * PODS_PER_NODE // REPLICAS
    sets = [
        builders.replica_set(
            f"web-{each}", replicas=REPLICAS, template_hash=f"{each:010}", namespace=f"w{each}"
        )
        for each in range(number)
    ]
    places = itertools.cycle(f"n{each}" for each in range(nodes))
    pods = [
        builders.pod(
            f"{replica_set.name}-{each}",
            of=replica_set,
            node=next(places),
            namespace=replica_set.namespace,
        )
        for each in range(REPLICAS)
        for replica_set in sets
    ]
    return sets, pods


def _changes(sets: Sequence[ReplicaSet], pods: Sequence[Pod]) -> Iterator[Pod]:
    """What happens to the pods, one after the other: each is released, replaced, and leaves."""
    owners = {replica_set.namespace: replica_set for replica_set in sets}
    for pod in pods:
        owner = owners[pod.namespace]
        common: dict[str, Any] = {"namespace": pod.namespace, "of": owner}
        new: dict[str, Any] = {"name": f"{pod.name}-new", "node": "good", **common}
        old: dict[str, Any] = {"name": pod.name, "node": pod.spec.node_name, **common}
        release = builders.release(owner)
        yield builders.pod(**old, released=release, revision=2)
        yield builders.pod(**new, ready=False, revision=2)
        yield builders.pod(**new, ready_since=NOW, revision=3)
        yield builders.pod(**old, released=release, revision=3, leaving=True)
