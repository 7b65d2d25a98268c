"""The ground that every contract test runs on, twice: simulated and real."""

from collections.abc import Iterator

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.contract.ground import Ground, RealGround, SimulatedGround
from tests.kit.control_plane import ControlPlane, Options
from tests.kit.manifests import resource


@pytest.fixture(
    params=[
        "simulator",
        pytest.param("control plane", marks=pytest.mark.controlplane),
    ]
)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A namespace of its own in a cluster."""
    if request.param == "simulator":
        rate = float(Options().controller_qps)
        clock = SimulatedClock()
        cluster = SimulatedCluster(clock, SimulatorOptions(controller_qps=rate))
        cluster.apply(resource("Namespace", "contract"))
        yield SimulatedGround(cluster, clock, "contract")
        return
    control_plane: ControlPlane = request.getfixturevalue("control_plane")
    with control_plane.namespace() as namespace:
        yield RealGround(control_plane, SystemClock(), namespace)
