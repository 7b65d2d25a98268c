"""What the webhook adds, and the admission policy.

Pods of Deployments with a floor of 30 % are made through a real API server that asks `evenkeel
serve` over TLS (*with*), in a namespace whose pods the policy places, which counts no floor
(*policy*), and in one for which nothing does (*without*). *paced* are 20 pods a second for 10 s,
from when a creation was due until its answer; *burst* are 500 pods as fast as 8 clients can.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import ceil
from threading import Lock
from typing import Any, Final

from bench.figure import Figure, Mark, spread
from bench.lab import webhook
from bench.lab.cluster import launched, restart_controller_manager
from bench.lab.lab import Lab
from bench.lab.worker import Watched
from tests.e2e.placement.webhook import on_demand
from tests.kit.control_plane import ControlPlane

NOTES: Final = ""
SIZES: Final = ("paced", "burst")
RATE, SECONDS = 20.0, 10
BURST: Final = 500
WARMING: Final = 100
CLIENTS: Final = 8
"""Each has a connection of its own, and creates one pod after the other."""
PERCENT: Final = 30
HASH: Final = "bench"
EMPTYING: Final = 60.0

type Create = Callable[[], object]
"""Creates one pod, and returns when the API server has answered."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """The same creations with the webhook, with the policy and without, on one cluster."""
    with launched() as control_plane, control_plane.namespace() as bare:
        restart_controller_manager(
            control_plane, "--controllers=*,-deployment-controller,-replicaset-controller"
        )
        with (
            control_plane.namespace() as managed,
            control_plane.namespace() as policed,
            webhook.ground(control_plane, policed) as other,
            webhook.ground(control_plane, managed) as ground,
        ):
            ground.add_nodes(spot=6, on_demand=4)
            ground.serve()
            other.police()
            lab.say("the API server asks the webhook, and goes by the policy")
            process = Watched(ground.webhooks[0].process)
            spaces = {"without": bare, "policy": policed, "with": managed}
            for namespace in spaces.values():
                pressed(_workload(control_plane, namespace, "warm", WARMING), WARMING)
                _empty(control_plane, namespace)
            act = _paced if size == "paced" else _burst
            found = {of: act(control_plane, space, of) for of, space in spaces.items()}
            added = [
                Figure(each.name, each.value - bare_one.value, each.unit, of="added")
                for each, bare_one in zip(found["with"], found["without"], strict=False)
                if isinstance(each.value, float) and isinstance(bare_one.value, float)
            ]
            used = webhook.used(control_plane, process)
    return [*found["without"], *found["policy"], *found["with"], *added, *used]


def _paced(control_plane: ControlPlane, namespace: str, of: str) -> Sequence[Figure]:
    pods = round(SECONDS * RATE)
    took = paced(_workload(control_plane, namespace, "paced", pods), pods, RATE)
    _empty(control_plane, namespace)
    return spread("a creation", took, of)


def _burst(control_plane: ControlPlane, namespace: str, of: str) -> Sequence[Figure]:
    seconds, took = pressed(_workload(control_plane, namespace, "burst", BURST), BURST)

    def look() -> Sequence[dict[str, Any]] | None:
        pods = control_plane.items("v1", "Pod", namespace)
        done = len(pods) == BURST and all(pod["spec"].get("nodeName") for pod in pods)
        return pods if done else None

    pods = control_plane.wait_for("all pods to have a node", look, seconds=EMPTYING)
    figures = [Figure("all of them", seconds, "s", of=of), *spread("a creation", took, of)]
    if of == "with":
        floor = ceil(BURST * PERCENT / 100)
        exactly = Mark(most=floor, least=floor)
        figures.append(Figure("pods on on-demand", len(on_demand(pods)), mark=exactly, of=of))
    _empty(control_plane, namespace)
    return figures


def paced(create: Create, number: int, rate: float) -> Sequence[float]:
    """Create pods at a rate, also while earlier ones wait; the seconds of each since it was due.

    So one that waits for a client has this time on its account.
    """
    began = time.monotonic() + 0.05

    def make(turn: int) -> float:
        due = began + turn / rate
        time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
        create()
        return time.monotonic() - due

    return _share(make, number)


def pressed(create: Create, number: int) -> tuple[float, Sequence[float]]:
    """Create pods as fast as the clients can; the seconds of all together, and of each."""

    def make(_: int) -> float:
        began = time.monotonic()
        create()
        return time.monotonic() - began

    began = time.monotonic()
    each = _share(make, number)
    return time.monotonic() - began, each


def _share(make: Callable[[int], float], number: int) -> Sequence[float]:
    """What each turn took; every client takes the next as soon as it is done with one."""
    turns, lock = count(), Lock()

    def work(_: int) -> list[float]:
        took: list[float] = []
        while True:
            with lock:
                turn = next(turns)
            if turn >= number:
                return took
            took.append(make(turn))

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [seconds for share in pool.map(work, range(CLIENTS)) for seconds in share]


def _workload(control_plane: ControlPlane, namespace: str, name: str, replicas: int) -> Create:
    """Make a Deployment with a floor and its ReplicaSet; what creates a pod of it.

    No controller does: those of Deployments and ReplicaSets do not run here.
    """
    labels = {"app": name, "pod-template-hash": HASH}
    requests = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    container = {"name": "app", "image": "registry.k8s.io/pause", "resources": requests}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}

    def make(kind: str, name: str, **metadata: Any) -> Sequence[Mapping[str, Any]]:
        """Create an object; the reference of those that it owns."""
        made = {"apiVersion": "apps/v1", "kind": kind, "spec": spec}
        made |= {"metadata": {"name": name, "namespace": namespace, **metadata}}
        path = f"apis/apps/v1/namespaces/{namespace}/{kind.lower()}s"
        uid = control_plane.request("POST", path, made)["metadata"]["uid"]
        known = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid}
        return [{**known, "controller": True}]

    above = make("Deployment", name, annotations={"evenkeel.dev/on-demand": f"{PERCENT}%"})
    owner = make("ReplicaSet", f"{name}-{HASH}", ownerReferences=above)
    metadata = {"generateName": f"{name}-{HASH}-", "labels": labels, "ownerReferences": owner}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    path = f"api/v1/namespaces/{namespace}/pods"
    return lambda: control_plane.request("POST", path, pod)


def _empty(control_plane: ControlPlane, namespace: str) -> None:
    """Take all pods of a namespace away."""
    path = f"api/v1/namespaces/{namespace}/pods"
    give_up = time.monotonic() + EMPTYING
    while control_plane.items("v1", "Pod", namespace):
        assert time.monotonic() < give_up, f"the pods of {namespace} do not go"
        control_plane.request("DELETE", path, {"gracePeriodSeconds": 0})
