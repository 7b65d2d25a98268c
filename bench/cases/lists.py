"""How large a list of pods is.

A page of 500 pods of two containers each, with environment, probes and managed fields, as a real
API server sends it: *as asked for* is how Evenkeel asks. The others are what else there is to ask
for: without compression, in protobuf, and metadata alone, which lacks what a pod requests and its
node. The time of the API server is that of its processor.
"""

import os
import random
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.figure import Figure
from bench.lab.lab import Lab
from evenkeel.adapters.kubernetes.wire import METADATA_ONLY, PAGE, page
from evenkeel.flows.restore.compact import Compactor
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from tests.kit.control_plane import ControlPlane, Options
from tests.kit.manifests import deployment

NOTES: Final = ""
SIZES: Final = ("a page of pods",)
AS_ASKED: Final = "as asked for"
EVERYTHING: Final = List(Selection(Pod), kept=Compactor().compact)
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
WAYS: Final[Mapping[str, Mapping[str, str]]] = {
    AS_ASKED: page(EVERYTHING, Pod.resource).headers,
    "JSON": {"Accept": "application/json"},
    "protobuf": {"Accept": PROTOBUF},
    "protobuf, compressed": {"Accept": PROTOBUF, "Accept-Encoding": "gzip"},
    "metadata alone": {"Accept": METADATA_ONLY},
}
DEPLOYMENTS: Final = 20
NODES: Final = 5
ROUNDS: Final = 20


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Make the pods, and ask for them in each way."""
    random_ = random.Random(size)  # noqa: S311 - hides nothing
    with ControlPlane.launch(Options(unlimited=True)) as control_plane:
        for number in range(NODES):
            control_plane.add_node(f"n{number}", cpu="64")
        control_plane.apply(
            *(_workload(random_, n) for n in range(DEPLOYMENTS)), namespace="default"
        )
        control_plane.wait_for(
            f"{PAGE} pods", lambda: _are_running(control_plane), seconds=300, every=2
        )
        lab.say(f"{PAGE} pods run")
        server = _api_server(control_plane)
        return [each for way in WAYS for each in _asked(control_plane, server, way)]


def _are_running(control_plane: ControlPlane) -> bool:
    pods = control_plane.pods("default")
    running = [each for each in pods if each["status"].get("phase") == "Running"]
    return len(running) == PAGE


def _asked(control_plane: ControlPlane, server: int, way: str) -> Sequence[Figure]:
    target = page(EVERYTHING, Pod.resource).target.removeprefix("/")
    before = _cpu_seconds(server)
    sizes = [control_plane.size(target, WAYS[way]) for _ in range(ROUNDS)]
    spent = (_cpu_seconds(server) - before) / ROUNDS
    return [
        Figure("bytes", sizes[-1], of=way),
        Figure("bytes of a pod", sizes[-1] / PAGE, of=way),
        Figure("API server", 1000 * spent, "ms", of=way),
    ]


def _workload(random_: random.Random, number: int) -> dict[str, Any]:
    """A Deployment whose pods are as large as many are."""

    def word(length: int) -> str:
        return "".join(random_.choices(string.ascii_lowercase + string.digits, k=length))

    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    containers = [
        {
            "name": name,
            "image": f"123456789012.dkr.ecr.eu-central-1.amazonaws.com/{word(12)}:{word(10)}",
            "env": [{"name": f"SETTING_{word(6).upper()}", "value": word(24)} for _ in range(12)],
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
            "livenessProbe": probe,
            "readinessProbe": probe,
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
        }
        for name in ("app", "proxy")
    ]
    found = deployment(f"app-{number}", PAGE // DEPLOYMENTS)
    template = found["spec"]["template"]
    template["metadata"]["annotations"] = {"checksum/config": word(64)}
    template["spec"]["containers"] = containers
    template["spec"]["volumes"] = [{"name": "config", "emptyDir": {}}]
    return found


def _api_server(control_plane: ControlPlane) -> int:
    """The process of the API server."""
    folder = str(control_plane.kubeconfig.parent).encode()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            command = (process / "cmdline").read_bytes()
            if b"kube-apiserver" in command.split(b"\0")[0] and folder in command:
                return int(process.name)
    raise AssertionError("the API server's process is not found")


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
