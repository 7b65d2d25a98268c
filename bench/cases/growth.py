"""How a storm grows, and how evenly it hits.

Storms on simulated time, whose figures depend on no other process. *functions* takes all spot
nodes of clusters of several sizes at once, and counts the CPU time inside Evenkeel's functions.
*shares* has four reconcilers share such a storm, beside one that has it alone.
*evenness* is storm D: the controllers make 20 requests a second, which is slower than the notice,
and the API server takes 90 of Evenkeel's a second, so that not all pods can be replaced.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import Final

from bench.figure import NONE, Figure, Mark
from bench.lab.inside import Stopwatch, watched
from bench.lab.lab import Lab
from bench.lab.manifests import GRACE
from bench.lab.scenario import SCENARIOS
from bench.lab.storm import LEAD
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.settings.handover import PODS_EACH
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.trial import Ground, Policy, Setting
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import Shape, Share
from tests.kit.manifests import deployment
from tests.kit.scene import CALM, Scene

NOTES: Final = """\
- [Decision 12](decisions/0012-the-last-round-is-even.md) says why the lowest share is no higher,
  and what was tried.
"""
SIZES: Final = ("functions", "shares", "evenness")
NODES: Final = (20, 60, 180)
PODS_OF_A_NODE: Final = 30
ALL_AT_ONCE: Final = Share(1.0, timedelta())
LARGEST: Final = Mark(most=1.3)
"""What a pod may take with the most nodes, as a multiple of what it takes with the fewest."""
SHARED_NODES: Final = 480
RECONCILERS: Final = 4
SHARED, OF_THE_LONGEST = Mark(most=1.2), Mark(most=0.35)
"""What all may take together, and one of them, as a multiple of what one alone takes."""
FILLING: Final = 600.0
QPS, BURST = 20.0, 30
REQUESTS: Final = 90.0


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One round."""
    measured = {"functions": _functions, "shares": _shares, "evenness": _evenness}
    return measured[size](lab)


def _functions(lab: Lab) -> Sequence[Figure]:
    figures, per_pod = [], []
    for nodes in NODES:
        watch, pods = inside(nodes, nodes * PODS_OF_A_NODE, ALL_AT_ONCE)
        seconds = watch.seconds
        per_pod.append(1000 * seconds / pods)
        lab.say(f"{nodes} nodes, {pods} pods: {seconds:.1f} s of CPU inside the functions")
        of = f"{nodes} nodes"
        figures += [
            Figure("pods on spot", pods, of=of),
            Figure("CPU inside the functions", seconds, "s", of=of),
            Figure("per pod", per_pod[-1], "ms", of=of),
        ]
    growth = per_pod[-1] / per_pod[0]
    return [*figures, Figure("per pod, to the fewest", growth, mark=LARGEST, of=of)]


def _shares(lab: Lab) -> Sequence[Figure]:
    size = SHARED_NODES, SHARED_NODES * PODS_OF_A_NODE
    alone, pods = inside(*size, ALL_AT_ONCE, pods_each=size[1])
    lab.say(f"{pods} pods, one reconciler: {alone.seconds:.1f} s of CPU inside the functions")
    shared, _ = inside(*size, ALL_AT_ONCE, pods_each=-(-pods // RECONCILERS))
    lab.say(f"{RECONCILERS} share them: {shared.seconds:.1f} s, the longest {shared.longest:.1f} s")
    together, longest = shared.seconds / alone.seconds, shared.longest / alone.longest
    return [
        Figure("pods on spot", pods),
        Figure("CPU inside the functions, one", alone.seconds, "s"),
        Figure(f"{RECONCILERS} together", shared.seconds, "s"),
        Figure("the longest of them", shared.longest, "s"),
        Figure("together, to the one", together, mark=SHARED),
        Figure("the longest, to the one", longest, mark=OF_THE_LONGEST),
    ]


def inside(
    nodes: int, pods: int, shape: Shape, pods_each: int = PODS_EACH
) -> tuple[Stopwatch, int]:
    """The CPU inside the functions in a storm, and how many pods it concerned.

    A storm of more than ``pods_each`` pods is shared.
    """
    setting = Setting(shape=shape, policy=Policy.EVENKEEL, labels=WELL_KNOWN)
    objects = synthetic.objects(nodes, pods)
    struck = trial.struck(objects, setting, 0)
    concerned = sum(e["kind"] == "Pod" and e["spec"]["nodeName"] in struck for e in objects)
    with watched(pods_each) as stopwatch:
        trial.run(Ground.of(objects), setting, 0)
    return stopwatch, concerned


def _evenness(lab: Lab) -> Sequence[Figure]:
    scenario = SCENARIOS["D"]
    spot = [f"spot-{number}" for number in range(scenario.spot)]
    scene = Scene(options=replace(CALM, start_seconds=(2.0, 3.0), requests_per_second=REQUESTS))
    try:
        for name in spot:
            scene.add_node(name, room=f"{100 * scenario.per_spot}m")
        scene.apply(*(deployment(name, size) for name, size in scenario.replicas.items()))
        scene.settle(FILLING)
        for number in range(scenario.idle):
            scene.add_node(f"idle-{number}", spot=False, room=f"{100 * scenario.per_idle}m")
        lab.say(f"{scenario.pods:,} pods are on {scenario.spot} spot nodes")
        scene.cluster.limit_controllers(QPS, BURST)
        scene.begin()
        scene.interrupt(*spot)
        scene.run(until=LEAD - GRACE)
        pods = [pod for name in scenario.replicas for pod in scene.pods(name)]
        made = sum(bool(pod.spec.node_name) and pod.spec.node_name not in spot for pod in pods)
        late = sum(pod.active and pod.spec.node_name in spot for pod in pods)
        scene.run(until=FILLING)
        lowest = {name: scene.lowest(name) for name in scenario.replicas}
    finally:
        scene.close()
    large = [lowest[name] / size for name, size in scenario.replicas.items() if size > 1]
    singles = sum(lowest[name] == 0 for name, size in scenario.replicas.items() if size == 1)
    return [
        Figure("replaced in time", made),
        Figure("pods too late", late, mark=NONE),
        Figure("lowest ready share", min(large)),
        Figure("of the workload in the middle", median(large)),
        Figure("single replicas at zero", singles, mark=NONE),
    ]
