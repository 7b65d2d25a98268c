"""Where one pool has more of a Deployment's pods than its goal, they go to other pools."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel.model.pool import Pool
from tests.fixtures.restoring import RestoreScene
from tests.unit.drain.manifests import deployment

MINUTE = 60
A, B, C = Pool("m5.large", "a"), Pool("m5.large", "b"), Pool("c5.large", "a")


def add_pool(scene: RestoreScene, pool: Pool, nodes: int = 1, *, room: str = "") -> None:
    """Add nodes of a pool, ``<type>-<zone>-0`` and so on."""
    for number in range(nodes):
        labels = {names.INSTANCE_TYPE: pool.type, names.ZONE: pool.zone}
        scene.add_node(f"{pool.type[:2]}-{pool.zone}-{number}", room=room, **labels)


def at_most(goal: str, replicas: int = 6, **options: Any) -> dict[str, Any]:
    """A Deployment ``web`` of which one pool is to have so many at most."""
    return deployment("web", replicas, notes={names.ONE_POOL_AT_MOST: goal}, **options)


def held(scene: RestoreScene, app: str = "web") -> Mapping[Pool | None, int]:
    """How many live pods each pool has; None: on-demand nodes, or no node."""
    pools = {
        obj["metadata"]["name"]: Pool(labels[names.INSTANCE_TYPE], labels[names.ZONE])
        for obj in scene.cluster.objects("Node")
        if names.ZONE in (labels := obj["metadata"]["labels"])
    }
    return Counter(pools.get(pod.spec.node_name) for pod in scene.pods(app) if pod.active)


def moved(scene: RestoreScene) -> list[tuple[float, Decision]]:
    """The moves for the sake of pools, with their times."""
    return [(at, each) for at, each in scene.told("PoolTooFull") if each.write is not None]


def crowded(scene: RestoreScene, *manifests: Mapping[str, Any]) -> None:
    """All pods are in A, and then there are other pools."""
    add_pool(scene, A, 2)
    scene.apply(*manifests)
    scene.settle(30)
    add_pool(scene, B, 2)
    add_pool(scene, C, 2)
    scene.begin()


def test_pods_go_one_at_a_time_until_no_pool_has_too_many(scene: RestoreScene) -> None:
    crowded(scene, at_most("2"))
    assert held(scene) == {A: 6}

    scene.run(until=60 * MINUTE)

    assert held(scene) == {A: 2, B: 2, C: 2}
    times = [at for at, _ in moved(scene)]
    assert len(times) == 4
    assert min(later - at for at, later in pairwise(times)) >= 10 * MINUTE
    assert scene.lowest("web") == 6
    assert not scene.moves()
