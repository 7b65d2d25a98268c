"""Ten pools, half of the nodes of one type, most of these in one zone: EC2 takes each in turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from evenkeel.flows.placement import flow
from evenkeel.model import names
from evenkeel.model.pool import Pool
from evenkeel.model.request import Delete, Evict
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.kit.scene import ending
from tests.stories.restore.pools import MINUTE, held

type MakePools = Callable[..., TenPools]

SIZE = 10
GOAL = 3
M5 = [Pool("m5.large", zone) for zone in "abcde"]
C5 = [Pool("c5.large", zone) for zone in "abcde"]


class TenPools(RestoreScene):
    """40 spot nodes for Deployments of ten pods, which all belong on spot."""

    def __init__(self, goal: str, apps: int) -> None:
        super().__init__()
        self.apps = [f"w{number}" for number in range(apps)]
        self.second: list[str] = []
        """Pods that were told to go although they had been made since the story began."""
        self._generations = iter(range(100))
        self.add_nodes("o", 4, spot=False, room="8")
        for pool in (*M5, *C5):
            self.supply(pool)
        notes = {names.ONE_POOL_AT_MOST: goal} if goal else {}
        self.apply(*(deployment(app, SIZE, notes=notes) for app in self.apps))
        self.begin()
        self.cluster.intercept(self._count)

    def supply(self, pool: Pool) -> None:
        """Add the nodes of a pool."""
        big = {M5[0]: 12} | dict.fromkeys(M5[1:], 2)
        generation = next(self._generations)
        for number in range(big.get(pool, 4)):
            labels: dict[str, Any] = {names.INSTANCE_TYPE: pool.type, names.ZONE: pool.zone}
            name = f"{pool.type[:2]}-{pool.zone}-{generation}-{number}"
            self.add_node(name, room="2", **labels)

    def kill(self, pool: Pool) -> None:
        """EC2 warns all nodes of a pool, and takes them."""
        labels = {names.INSTANCE_TYPE: pool.type, names.ZONE: pool.zone}.items()
        nodes = [obj["metadata"] for obj in self.cluster.objects("Node")]
        self.interrupt(*(each["name"] for each in nodes if labels <= each["labels"].items()))

    @property
    def most(self) -> int:
        """The most pods of a workload that one pool has."""
        counts = [held(self, app) for app in self.apps]
        return max(number for each in counts for pool, number in each.items() if pool)

    @property
    def on_spot(self) -> int:
        """How many pods are on spot."""
        return sum(self.split(app)["spot"] for app in self.apps)

    @property
    def is_whole(self) -> bool:
        """Whether no Deployment had a Ready pod less than it wants, at any time."""
        return all(self.lowest(app) == SIZE for app in self.apps)

    def _count(self, request: Any, proceed: Any) -> Any:
        if isinstance(request, Evict | Delete) and request.name.startswith("w"):
            pods = {each["metadata"]["name"]: each["metadata"] for each in self._pods()}
            created = datetime.fromisoformat(pods[request.name]["creationTimestamp"])
            if created > self.at(0):
                self.second.append(request.name)
        return proceed()

    def _pods(self) -> Sequence[Mapping[str, Any]]:
        return self.cluster.objects("Pod")


@pytest.fixture
def make_pools() -> Iterator[MakePools]:
    with ending(TenPools) as made:
        yield lambda goal="", apps=5: made(goal, apps)


def turns(scene: TenPools) -> tuple[list[int], list[int]]:
    """Each pool is killed in turn, and is there again 15 minutes later.

    The most pods of a workload that one pool had each time, and how many were on spot then.
    """
    scene.run(until=120 * MINUTE)
    most, on_spot = [scene.most], [scene.on_spot]
    for number, pool in enumerate((*M5, *C5)):
        start = (120 + number * 60) * MINUTE
        scene.kill(pool)
        scene.run(until=start + 15 * MINUTE)
        on_spot.append(scene.on_spot)
        scene.supply(pool)
        scene.run(until=start + 60 * MINUTE)
        most.append(scene.most)
        on_spot.append(scene.on_spot)
    assert scene.is_whole
    return most, on_spot


def test_a_goal_is_kept_while_each_pool_dies_and_as_many_are_on_spot(make_pools: MakePools) -> None:
    most, on_spot = turns(make_pools("30%"))
    assert max(most) <= GOAL
    most_without, on_spot_without = turns(make_pools())
    assert max(most_without) > GOAL
    assert on_spot == on_spot_without


def handed_over_again(scene: TenPools) -> int:
    """The pools of one type die within three minutes; how many pods went for a second time."""
    for number, pool in enumerate(M5):
        scene.later(number * 40, partial(scene.kill, pool))
    scene.run(until=8 * MINUTE)
    assert scene.is_whole
    return len(scene.second)


def test_fewer_pods_are_handed_over_twice_when_the_pools_of_a_type_die_one_after_the_other(
    make_pools: MakePools, monkeypatch: pytest.MonkeyPatch
) -> None:
    avoiding = handed_over_again(make_pools(apps=20))
    monkeypatch.setattr(flow, "losses_in", lambda _note, _now: ())
    before = handed_over_again(make_pools(apps=20))
    assert (avoiding, before > 20) == (0, True)
