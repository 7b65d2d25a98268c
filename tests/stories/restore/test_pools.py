"""Where one pool has more of a Deployment's pods than its goal, they go to other pools."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel.model.losses import losses_in
from evenkeel.model.pool import Pool
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.stories.restore.conftest import MakeScene
from tests.stories.restore.pools import MINUTE, held

A, B, C = Pool("m5.large", "a"), Pool("m5.large", "b"), Pool("c5.large", "a")
D, E = Pool("c5.large", "b"), Pool("r5.large", "b")


def add_pool(
    scene: RestoreScene, pool: Pool, nodes: int = 1, *, room: str = "", first: int = 0
) -> None:
    """Add nodes of a pool, ``<type>-<zone>-0`` and so on."""
    for number in range(first, first + nodes):
        labels: dict[str, Any] = {names.INSTANCE_TYPE: pool.type, names.ZONE: pool.zone}
        scene.add_node(f"{pool.type[:2]}-{pool.zone}-{number}", room=room, **labels)


def at_most(goal: str, replicas: int = 6, **options: Any) -> dict[str, Any]:
    """A Deployment ``web`` of which one pool is to have so many at most."""
    return deployment("web", replicas, notes={names.ONE_POOL_AT_MOST: goal}, **options)


def moved(scene: RestoreScene) -> list[tuple[float, Decision]]:
    """The moves for the sake of pools, with their times."""
    return [(at, each) for at, each in scene.told("PoolTooFull") if each.write is not None]


def crowded(scene: RestoreScene, *manifests: Mapping[str, Any]) -> None:
    """All pods are in A, which has most of the room, and then there are other pools."""
    add_pool(scene, A, 9)
    scene.apply(*manifests)
    scene.settle(150)
    add_pool(scene, B, room="0.4")
    add_pool(scene, C, room="0.4")
    scene.begin()


def full_pools(scene: RestoreScene) -> str | None:
    """What the Deployment notes of full pools."""
    (web,) = scene.cluster.objects("Deployment")
    note: str | None = web["metadata"]["annotations"].get(names.FULL_POOLS)
    return note


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


def test_new_pods_rather_go_to_pools_that_are_not_full(scene: RestoreScene) -> None:
    add_pool(scene, A, 6)
    scene.apply(at_most("3", 3))
    scene.settle()
    add_pool(scene, B, 3)
    add_pool(scene, C, 3)
    scene.begin()
    scene.run(until=90)
    assert full_pools(scene) == '[["m5.large","a"]]'

    scene.cluster.scale("Deployment", "web", "default", 9)
    scene.run(until=5 * MINUTE)

    assert held(scene) == {A: 3, B: 3, C: 3}
    assert not moved(scene)
    scene.cluster.scale("Deployment", "web", "default", 0)
    scene.run(until=7 * MINUTE)
    assert full_pools(scene) is None


def test_as_many_are_on_spot_as_without_a_goal(make_scene: MakeScene) -> None:
    def on_spot(goal: str) -> int:
        scene = make_scene()
        scene.add_nodes("o", 4, spot=False, room="8")
        add_pool(scene, A, 4, room="8")
        scene.apply(at_most(goal, 4))
        scene.begin()
        scene.run(until=90)
        scene.cluster.scale("Deployment", "web", "default", 16)
        scene.run(until=110)
        return held(scene)[A]

    assert on_spot("1") == on_spot("nothing that makes sense") > 0


def test_without_the_webhook_the_replacement_goes_astray_and_the_pod_back(
    scene: RestoreScene,
) -> None:
    crowded(scene, at_most("2"))
    scene.webhook.down = True
    before = {pod.uid for pod in scene.pods("web")}

    scene.run(until=50 * MINUTE)

    assert {pod.uid for pod in scene.pods("web")} == before
    assert [minutes(at) for at, _ in scene.told("WrongCapacityType")] == [0, 11, 22, 43]
    assert scene.lowest("web") == 6


def test_where_no_other_pool_has_room_nothing_moves(scene: RestoreScene) -> None:
    add_pool(scene, A, 2)
    scene.given(at_most("2"), on="", settle=0)
    scene.run(until=30 * MINUTE)
    assert not moved(scene)
    assert held(scene) == {A: 6}


def test_a_moving_pod_whose_node_is_warned_may_be_replaced_anywhere(scene: RestoreScene) -> None:
    slow = {"annotations": {"evenkeel.test/start-after": "100s"}}
    crowded(scene, at_most("2", pod=slow))
    scene.run(until=40)
    ((_, move),) = moved(scene)
    scene.interrupt(move.node).run(until=20 * MINUTE)
    assert scene.lowest("web") >= 5
    assert sum(held(scene).values()) == 6


def minutes(seconds: float) -> int:
    return int(seconds // MINUTE)


def lost_pools(scene: RestoreScene) -> list[Pool]:
    """The pools that the reconciler's Lease says have lost a node, and that still count."""
    (lease,) = (
        each["metadata"].get("annotations", {})
        for each in scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
        if each["metadata"]["name"] == names.HANDOVER_LEASE
    )
    return [loss.pool for loss in losses_in(lease.get(names.LOST_POOLS), scene.clock.now())]


def test_for_ten_minutes_new_pods_rather_go_to_pools_that_lost_no_node(
    scene: RestoreScene,
) -> None:
    add_pool(scene, A, 6, room="8")
    scene.apply(deployment("web", 1))
    scene.settle()
    add_pool(scene, D, 3, room="0.6")
    scene.begin()
    scene.interrupt(scene.pods("web")[0].spec.node_name).run(until=20)
    assert lost_pools(scene) == [A]
    assert held(scene) == {D: 1}

    scene.apply(deployment("api", 3))
    scene.run(until=8 * MINUTE)
    scene.apply(deployment("cart", 3))
    scene.run(until=9 * MINUTE)
    assert (held(scene, "api"), held(scene, "cart")) == ({D: 3}, {D: 3})

    scene.run(until=11 * MINUTE)
    assert lost_pools(scene) == []
    scene.apply(deployment("late", 3))
    scene.run(until=12 * MINUTE)
    assert held(scene, "late") == {A: 3}


def test_a_warning_during_work_is_noted_before_its_pods_are_replaced(scene: RestoreScene) -> None:
    """The first pod is slow, so the reconciler is at work. The second pod's pool has most room."""
    slow = {"annotations": {"evenkeel.test/start-after": "60s"}}
    add_pool(scene, A)
    scene.apply(deployment("slow", 1, pod=slow))
    scene.settle(70)
    add_pool(scene, D)
    scene.apply(deployment("web", 1, pod={"nodeSelector": {names.ZONE: "b"}}))
    scene.settle()
    add_pool(scene, E, room="0.6")
    add_pool(scene, D, 6, room="8", first=1)
    scene.begin()
    scene.interrupt("m5-a-0").run(until=7.51)
    released = scene.pod("web")
    scene.interrupt(scene.pods("web")[0].spec.node_name).run(until=30)
    assert held(scene) == {E: 1}
    assert set(lost_pools(scene)) == {A, D}
    writes = [sent.name for sent in scene.writes if sent.at > 7.51]
    assert writes.index(names.HANDOVER_LEASE) < writes.index(released)


def test_restore_moves_no_pod_into_a_pool_that_lost_a_node(scene: RestoreScene) -> None:
    scene.add_nodes("o", 2, spot=False)
    add_pool(scene, A, 2)
    scene.given(deployment("web", 4, notes={names.ON_DEMAND: "4"}), on="", settle=0)
    scene.interrupt("m5-a-0").run(until=100)
    scene.apply(deployment("web", 4, notes={names.ON_DEMAND: "3"}))
    scene.run(until=9 * MINUTE)
    assert not scene.moves()
    scene.run(until=14 * MINUTE)
    assert held(scene)[A] == 1


def test_nodes_whose_pool_nobody_knows_are_avoided_by_none(scene: RestoreScene) -> None:
    scene.given(deployment("web", 2, notes={names.ON_DEMAND: "2"}), on="s0 s1 s2 s3", spare="o0 o1")
    scene.interrupt("s0").run(until=MINUTE)
    scene.apply(deployment("web", 2, notes={names.ON_DEMAND: "none"}))
    scene.run(until=5 * MINUTE)
    assert scene.split("web")["spot"] == 2
