"""A storm that is too large for one reconciler: several share its workloads."""

from typing import Any

import pytest

from evenkeel.model.division import lease_of
from tests.kit.manifests import deployment
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

SPOT = [f"s{number}" for number in range(1, 5)]
SPARE = "o1 o2 o3 o4"
SIZES = {f"w{number}": 1 + number % 3 for number in range(12)}


def storm(make_scene: MakeScene, pods_each: int, **options: Any) -> Scene:
    """24 pods of 12 workloads on four nodes, all of which are interrupted at once."""
    scene = make_scene(pods_each=pods_each, **options)
    apps = [deployment(name, size) for name, size in SIZES.items()]
    scene.given(*apps, on=" ".join(SPOT), spare=SPARE)
    return scene.interrupt(*SPOT)


def holders(scene: Scene) -> dict[int, str]:
    """Who holds which Lease."""
    leases = {obj["metadata"]["name"]: obj for obj in scene.cluster.objects("Lease")}
    return {
        number: leases[lease_of(number)]["spec"]["holderIdentity"]
        for number in range(8)
        if lease_of(number) in leases
    }


@pytest.mark.parametrize("pods_each", [100, 12, 5])
def test_however_it_is_divided_no_workload_has_too_few_pods(
    make_scene: MakeScene, pods_each: int
) -> None:
    scene = storm(make_scene, pods_each)
    scene.run(until=60)
    assert {name: scene.lowest(name) for name in SIZES} == SIZES
    assert not [
        pod.name for name in SIZES for pod in scene.pods(name) if pod.spec.node_name in SPOT
    ]


def test_it_is_shared_by_as_many_as_its_pods_need(make_scene: MakeScene) -> None:
    scene = storm(make_scene, 8)
    scene.run(until=4)
    assert sorted(holders(scene)) == [0, 1, 2]
