"""What goes on beside a storm: an observer, EC2's taking of nodes, an autoscaler that adds some."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from bench.lab import sights
from bench.lab.cluster import Cluster
from bench.lab.manifests import NAMESPACE
from bench.lab.sights import Sight
from tests.kit.control_plane import ControlPlane
from tests.kit.moto_server import Aws

type Work = Callable[[Event], None]
"""Goes on until its event is set."""


@contextmanager
def working(*works: Work) -> Iterator[None]:
    """Let others work meanwhile, each in a thread, and tell them to stop in the end."""
    stopping = Event()
    threads = [Thread(target=work, args=(stopping,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join(30)


@dataclass(slots=True)
class Observed:
    """What an observer saw, once it is over."""

    sights: Sequence[Sight] = ()


@contextmanager
def observed(control_plane: ControlPlane, namespace: str = NAMESPACE) -> Iterator[Observed]:
    """An observer watches meanwhile, by default the storm's namespace."""
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        path = Path(folder) / "sights.jsonl"
        command = [
            *(sys.executable, "-m", "bench.lab.observer"),
            *(str(control_plane.kubeconfig), namespace, str(path)),
        ]
        seen = Observed()
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "ready"
            try:
                yield seen
            finally:
                process.stdin.close()
                process.wait(20)
                seen.sights = sights.decode(path.read_bytes())


def taking(cluster: Cluster, stand_in: Aws, noticed: Mapping[str, float], lead: float) -> Work:
    """EC2 terminates each noticed node's instance, and the node's object goes with it.

    ``noticed`` may grow meanwhile: when each node's notice was sent, in seconds since 1970. Its
    deadline is ``lead`` seconds later.
    """

    def take(stopping: Event) -> None:
        instances = {node: instance_id for instance_id, node in cluster.spot.items()}
        while not stopping.wait(0.5):
            now = time.time()  # noqa: TID251 - EC2's own clock
            over = [node for node, at in list(noticed.items()) if at + lead <= now]
            taken = [node for node in over if node in instances]
            if taken:
                stand_in.terminate([instances.pop(node) for node in taken])
                for node in taken:
                    cluster.control_plane.delete("v1", "Node", node)

    return take


def scaling(cluster: Cluster) -> Work:
    """Nodes for whatever is Pending, so many seconds after they were found to be missing."""
    scenario = cluster.scenario

    def scale(stopping: Event) -> None:
        waiting: list[float] = []
        added = 0
        while not stopping.wait(1.0):
            now = time.monotonic()
            ready = [at for at in waiting if at <= now]
            waiting = [at for at in waiting if at > now]
            for name in cluster.late[added : added + len(ready)]:
                cluster.add_idle_node(name)
            added += len(ready)
            needed = -(-cluster.pending() // scenario.per_idle) - len(waiting)
            room = len(cluster.late) - added - len(waiting)
            waiting += [now + scenario.late] * max(0, min(needed, room))

    return scale
