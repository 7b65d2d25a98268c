"""A storm in its midst, as a snapshot: its times are long past on any machine."""

from pathlib import Path

from evenkeel.model import names
from evenkeel_cli import snapshot
from tests.kit.manifests import bare_pod, deployment, job, stateful_set
from tests.kit.scene import NOW, Scene

LONG_AGO = 2020


def write(file: Path) -> None:
    """Two nodes that end, and two that may live on."""
    scene = Scene()
    try:
        for number in (7, 19, 23, 31):
            scene.add_node(f"ip-10-0-1-{number}.eu-central-1.compute.internal")
        scene.apply(
            deployment("web", 9),
            deployment("chat", 6, notes={names.HANDOVER: "never"}),
            stateful_set("postgres", 3),
            job("import"),
            bare_pod("debug-shell"),
        )
        scene.settle(15)
        scene.begin()
        nodes = sorted(obj["metadata"]["name"] for obj in scene.cluster.objects("Node"))
        scene.interrupt(nodes[0])
        scene.interrupt(nodes[1], action="stop")
        scene.recommend(*nodes[2:])
        scene.run(until=4)
        snapshot.write(file, scene.cluster.objects)
    finally:
        scene.close()
    file.write_text(file.read_text().replace(f"{NOW.year}-", f"{LONG_AGO}-"))
