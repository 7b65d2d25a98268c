"""Floors for which no on-demand node has room."""

from evenkeel.model import names
from evenkeel.model.deployment import Deployment
from evenkeel.model.request import Patch
from tests.kit.asking import asks, noting, once
from tests.kit.manifests import deployment, stateful_set
from tests.kit.restoring import RestoreScene

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}


def relaxed(scene: RestoreScene, kind: str, app: str) -> bool:
    return any(
        names.FLOOR_RELAXED in obj["metadata"].get("annotations", {})
        for obj in scene.cluster.objects(kind)
        if obj["metadata"]["name"] == app
    )


def test_a_floor_without_on_demand_nodes_goes_to_spot_and_comes_back(scene: RestoreScene) -> None:
    db = stateful_set("db", 1, notes={names.ON_DEMAND: "all"})
    scene.given(deployment("web", 4, notes=FLOOR_OF_TWO), db, on="s0 s1")
    assert scene.split("web") == {"spot": 2, "none": 2}

    scene.run(until=400)
    assert scene.split("web") == {"spot": 4}
    assert scene.split("db") == {"spot": 1}
    assert relaxed(scene, "Deployment", "web")
    assert relaxed(scene, "StatefulSet", "db")
    warnings = [d for _, d in scene.told("FloorRelaxed") if d.warning and d.write is not None]
    assert {d.subject.name for d in warnings} == {"web", "db"}

    scene.add_nodes("o", 2, spot=False)
    scene.run(until=900)
    assert not relaxed(scene, "Deployment", "web")
    assert scene.split("web") == {"spot": 2, "on-demand": 2}
    assert scene.lowest("web") == 2


def test_a_pod_that_found_its_place_meanwhile_stays(scene: RestoreScene) -> None:
    """An on-demand node comes while the run still reads: what waited runs when it is deleted."""
    scene.given(deployment("web", 4, notes=FLOOR_OF_TWO), on="s0 s1")
    waiting = {pod.name: pod.uid for pod in scene.pods("web") if not pod.spec.node_name}
    assert len(waiting) == 2

    def place() -> None:
        scene.add_node("o0", spot=False)
        for name, uid in waiting.items():
            scene.cluster.server.bind(("default", name), "o0", uid)

    notes = noting(scene.cluster, asks(Patch, of=Deployment), then=once(place))
    before = {pod.uid for pod in scene.pods("web")}
    scene.run(until=900)

    assert notes
    assert {pod.uid for pod in scene.pods("web")} == before
    assert scene.split("web") == {"spot": 2, "on-demand": 2}
    assert not relaxed(scene, "Deployment", "web")
