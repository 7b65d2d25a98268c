"""A queue such as Kueue's: it lets pods go to the scheduler while fewer than so many are there."""

from datetime import timedelta
from typing import Final

from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import Manifest, resource

GATED: Final[Manifest] = {"schedulingGates": [{"name": "example.org/queue"}]}
"""What a pod template says to have its pods wait for the queue."""

LOOK: Final = timedelta(seconds=1)


def opens_gates(clock: SimulatedClock, cluster: SimulatedCluster, most: int) -> None:
    """Look every second from now on: while fewer than ``most`` pods are let in, let in one."""

    def look() -> None:
        pods = cluster.objects("Pod")
        gated = [pod for pod in pods if pod["spec"].get("schedulingGates")]
        if gated and len(pods) - len(gated) < most:
            name = gated[0]["metadata"]["name"]
            cluster.apply(resource("Pod", name, "default", spec={"schedulingGates": []}))
        clock.call_in(LOOK, look)

    look()
