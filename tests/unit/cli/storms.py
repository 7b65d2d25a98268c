"""A storm in its midst, as a snapshot: its times are long past on any machine."""

from pathlib import Path

import msgspec

from evenkeel.adapters.telemetry import decision_log
from evenkeel.model import names
from evenkeel_cli import snapshot
from tests.kit.manifests import RECREATE, bare_pod, deployment, job, resource, stateful_set
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
            resource("Service", "kubernetes", "default"),
        )
        scene.settle(15)
        scene.begin()
        nodes = sorted(obj["metadata"]["name"] for obj in scene.cluster.objects("Node"))
        scene.interrupt(nodes[0])
        scene.interrupt(nodes[1], action="stop")
        scene.recommend(*nodes[2:]).run(until=4)
        snapshot.write(file, scene.cluster.objects)
    finally:
        scene.close()
    file.write_text(file.read_text().replace(f"{NOW.year}-", f"{LONG_AGO}-"))


def write_log(file: Path) -> None:
    """The log of a storm that is over: two nodes have ended."""
    scene = Scene()
    try:
        for number in (7, 19):
            scene.add_node(f"ip-10-0-1-{number}.eu-central-1.compute.internal")
        scene.apply(
            deployment("web", 4),
            deployment("chat", 3, notes={names.HANDOVER: "never"}),
            deployment("mailer", **RECREATE),
            stateful_set("postgres", 2),
            bare_pod("debug-shell"),
        )
        scene.settle(15)
        for number in (40, 41):
            scene.add_node(f"ip-10-0-2-{number}.eu-central-1.compute.internal", spot=False)
        scene.begin()
        scene.interrupt(*(f"ip-10-0-1-{end}.eu-central-1.compute.internal" for end in (7, 19)))
        scene.run(until=200)
        recorder = scene.recorder
        decided = zip(recorder.decisions, recorder.times, strict=True)
        records = [
            *(decision_log.record(each, scene.at(at), "prod", "act") for each, at in decided),
            *(decision_log.count_record(each, "prod") for each in recorder.pod_counts),
        ]
    finally:
        scene.close()
    file.write_bytes(b"\n".join(map(msgspec.json.encode, records)))
