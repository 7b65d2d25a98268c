"""Storm D on simulated time."""

from dataclasses import replace
from typing import Final

from bench import conditions
from bench.evenness.results import Evenness
from bench.say import Say
from bench.simulated import fill, spot_nodes
from bench.storm.scenario import Scenario
from bench.storm.storm import LEAD
from bench.storm.workloads import GRACE
from tests.kit.scene import CALM, Scene

REQUESTS_PER_SECOND: Final = 90.0
"""What is left of an API server on two CPUs for Evenkeel, about."""

QPS: Final = 20.0
BURST: Final = 30
"""The controller manager's default."""

LONGEST: Final = 600.0


def run(scenario: Scenario, say: Say) -> Evenness:
    """All its spot nodes are noticed at once."""
    options = replace(CALM, start_seconds=(2.0, 3.0), requests_per_second=REQUESTS_PER_SECOND)
    scene = Scene(options=options)
    try:
        fill(scene, scenario)
        say(f"{scenario.pods:,} pods are on {scenario.spot} spot nodes")
        scene.cluster.limit_controllers(QPS, BURST)
        scene.begin()
        spot = spot_nodes(scenario)
        scene.interrupt(*spot)
        scene.run(until=LEAD - GRACE)
        doomed = set(spot)
        pods = [pod for name in scenario.replicas for pod in scene.pods(name)]
        made = sum(bool(pod.spec.node_name) and pod.spec.node_name not in doomed for pod in pods)
        late = sum(pod.active and pod.spec.node_name in doomed for pod in pods)
        say(f"the last grace period begins: {made:,} replacements, {late} pods not told to go")
        scene.run(until=LONGEST)
        lowest = {name: scene.lowest(name) for name in scenario.replicas}
        return Evenness(
            conditions=conditions.look(simulated=True),
            nodes=scenario.spot,
            pods=scenario.pods,
            qps=QPS,
            requests_per_second=REQUESTS_PER_SECOND,
            made=made,
            late=late,
            shares=[lowest[name] / size for name, size in scenario.replicas.items() if size > 1],
            singles_at_zero=sum(
                lowest[name] == 0 for name, size in scenario.replicas.items() if size == 1
            ),
        )
    finally:
        scene.close()
