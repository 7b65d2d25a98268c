"""All spot nodes go at once, and no replacement has room anywhere: every floor stands.

The storm of bench/storm with its 100 workloads, half of them StatefulSets. Its Deployments are
smaller than there: with 57 replicas each, 3,000 pods in all, the same story takes a minute.
"""

from collections.abc import Iterator, Mapping

import pytest

from evenkeel.model import names
from evenkeel.model.meta import Reference
from tests.kit.manifests import MAJORITY, deployment, stateful_set
from tests.kit.restoring import RestoreScene

TEAMS = 10
EACH = 50
"""So many Deployments, and so many StatefulSets."""
REPLICAS = 10
ORDINALS = 3
FLOORS = {"Deployment": 2, "StatefulSet": 2}
"""20 % of 10, and the majority of 3."""
SPOT = " ".join(f"s{number}" for number in range(100))
ON_DEMAND_NODES = 4
"""Of 50 pods each: the 200 of the floors fill them up."""


class Storm(RestoreScene):
    """100 spot nodes, and on-demand nodes without room for anything but the floors."""

    def __init__(self) -> None:
        super().__init__()
        for team in range(TEAMS):
            self.manage(f"team-{team}")
        floor = {names.ON_DEMAND: "20%"}
        workloads = []
        for number in range(EACH):
            space = f"team-{number % TEAMS}"
            workloads += [
                deployment(f"web-{number}", REPLICAS, notes=floor, namespace=space),
                stateful_set(f"db-{number}", ORDINALS, notes=MAJORITY, namespace=space),
            ]
        self.place(*workloads, on=SPOT, settle=60)
        self.add_nodes("o", ON_DEMAND_NODES, spot=False, room="5")
        self.settle(60)

    def ready(self) -> Mapping[Reference, int]:
        """How many ready pods each workload has, as the observer counts them."""
        return {
            workload: health.ready
            for workload, health in self.observer.workloads.items()
            if workload.kind in FLOORS
        }

    def running_on(self, prefix: str) -> int:
        """How many pods have a node whose name begins so."""
        pods = self.cluster.objects("Pod")
        return sum(pod["spec"].get("nodeName", "").startswith(prefix) for pod in pods)


@pytest.fixture
def storm() -> Iterator[Storm]:
    made = Storm()
    yield made
    made.close()


def test_every_floor_stands_when_all_spot_goes_and_nothing_has_room(storm: Storm) -> None:
    storm.begin()
    floors = sum(FLOORS.values()) * EACH
    assert storm.running_on("o") == floors
    assert storm.running_on("s") == (REPLICAS + ORDINALS) * EACH - floors
    assert set(storm.ready().values()) == {REPLICAS, ORDINALS}

    storm.interrupt(*SPOT.split()).run(until=240)

    assert storm.running_on("s") == 0
    assert len(storm.ready()) == 2 * EACH
    for workload, ready in storm.ready().items():
        floor = FLOORS[workload.kind]
        assert storm.observer.workloads[workload].lowest >= floor, workload
        assert ready == floor, workload
