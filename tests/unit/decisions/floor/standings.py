"""A Deployment of three with pods on a spot node and an on-demand node, and where it stands."""

from collections.abc import Sequence
from typing import Any

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.floor.standing import Standing, stand
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model.floor import Floor, Unit
from evenkeel.model.meta import Condition
from evenkeel.model.pod import Pod
from tests.kit import builders

SPOT, ON_DEMAND = builders.node("s1", spot=True), builders.node("o1", spot=False)
FLEET = Fleet({node.name: node for node in (SPOT, ON_DEMAND)}, frozenset(), {})
WEB = builders.deployment(replicas=3)
REPLICA_SET = builders.replica_set(of=WEB, replicas=3)
TWO = Floor(Unit.REPLICAS, 2)
NO_ROOM = Condition(type="PodScheduled", status="False", message="0/2 nodes are available")


def pods(on_demand: int = 0, spot: int = 0, waiting: int = 0, **options: Any) -> list[Pod]:
    of: dict[str, Any] = {"of": REPLICA_SET} | options
    return [
        *builders.pods(on_demand, prefix="o", node="o1", **of),
        *builders.pods(spot, prefix="s", node="s1", **of),
        *builders.pods(
            waiting, prefix="w", node="", ready=False, conditions=(NO_ROOM,), of=REPLICA_SET
        ),
    ]


def standing(
    floor: Floor, *groups: Sequence[Pod], managed: bool = True, problem: str = ""
) -> Standing:
    every = [pod for group in groups for pod in group]
    source = FloorOf(floor, Source.WORKLOAD, problem)
    return stand(WEB, source, every, FLEET.capacities, is_managed=managed)
