"""``python -m bench.lab.extender``: an extender that knows a large cluster.

    serving CERTIFICATE KEY TOKEN NODES PODS RATE

The server, the handler and the extender are those of ``evenkeel serve --extender``; what its
watches would show, this program makes up. It prints its port, and ends with its standard input.
"""

import resource
import sys
import time
from collections.abc import Sequence
from functools import partial
from threading import Event, Thread
from typing import Final

from bench.conditions import peak_megabytes
from evenkeel.adapters.clock import SystemClock
from evenkeel.handlers.requests import Requests, authenticate
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Change, Listing, Relisted
from evenkeel.settings import Mode
from evenkeel_extender import calls
from evenkeel_extender.extender import Extender
from evenkeel_extender.store import SELECTIONS, Store
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.serve.server import WebhookServer, tls_context
from tests.kit import builders

HOME: Final = "shop"
SIZE: Final = 300
ROOM: Final = {"cpu": "8", "memory": "32Gi"}
ASKED: Final = {"cpu": "100m", "memory": "128Mi"}


MOST: Final = 2_000
"""So many pods wait for a node, one after the other."""


def asked_name(number: int) -> str:
    """The name of a pod that waits for its node; its uid is the same and ``-uid``."""
    return f"asked-{number}"


def node_name(number: int) -> str:
    """As EC2 names its nodes."""
    return f"ip-10-{number >> 16}-{number >> 8 & 255}-{number & 255}.eu-central-1.compute.internal"


def workload() -> tuple[Deployment, ReplicaSet]:
    """The Deployment, with a floor, whose pods the scheduler asks about, and its ReplicaSet."""
    floor = {names.ON_DEMAND: "30%"}
    above = builders.deployment(replicas=SIZE, annotations=floor, namespace=HOME)
    return above, builders.replica_set(of=above, replicas=SIZE, namespace=HOME)


def main(arguments: Sequence[str]) -> int:
    """Serve until standard input ends; prints at last the most memory that it had, in MB."""
    certificate, key, token, *numbers = arguments
    nodes, pods, rate = map(int, numbers)
    clock, recorder = SystemClock(), InMemoryRecorder()
    store = Store(WELL_KNOWN, clock)
    _fill(store, nodes, pods)
    extender = Extender(store, WELL_KNOWN, clock, recorder, mode=Mode.ACT, everywhere=False)
    handler = Requests(calls.answerers(extender, recorder), lambda: [token], recorder)
    server = WebhookServer(
        ("127.0.0.1", 0),
        tls_context(certificate, key),
        handler,
        partial(authenticate, tokens=[token]),
        lambda *_: None,
    )
    Thread(target=server.serve_forever, daemon=True).start()
    over = Event()
    changing = Thread(target=_change, args=(store, nodes, rate, over), daemon=True)
    changing.start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    over.set()
    changing.join()
    server.end()
    print(f"{peak_megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss):.0f}", flush=True)
    return 0


def _fill(store: Store, nodes: int, pods: int) -> None:
    """A fifth of the nodes is on-demand; one of a hundred spot nodes is doomed."""
    doomed = builders.notice()
    fleet = [
        builders.node(
            node_name(number),
            spot=number % 5 != 0,
            notice=doomed if number % 125 == 1 else None,
            labels={
                "node.kubernetes.io/instance-type": f"m{number % 20}.large",
                "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
            },
            allocatable=ROOM,
        )
        for number in range(nodes)
    ]
    managed = builders.metadata(HOME, namespace="", labels={names.MANAGED: "true"})
    shown: dict[type[KubernetesObject], list[KubernetesObject]] = {
        each.kind: [] for each in SELECTIONS
    }
    for item in (Namespace(metadata=managed), *workload(), *fleet):
        shown[type(item)].append(item)
    for selection in SELECTIONS:
        listing = Listing(tuple(shown[selection.kind]), "1")
        store.absorb([Relisted(selection, listing)])
    for number in range(pods):
        _show(store, number, number % nodes)
    _, owner = workload()
    for number in range(MOST):
        pod = builders.pod(asked_name(number), of=owner, node="", ready=False, namespace=HOME)
        store.absorb([Change(SELECTIONS[-1], pod)])


def _show(store: Store, number: int, node: int) -> None:
    pod = builders.pod(f"pod-{number}", node=node_name(node), namespace=HOME, requests=ASKED)
    store.absorb([Change(SELECTIONS[-1], pod)])


def _change(store: Store, nodes: int, rate: int, over: Event) -> None:
    """Pods of others move, so many a second."""
    number, began = 0, time.monotonic()
    while not over.wait(max(0.0, began + number / rate - time.monotonic())):
        _show(store, number % (10 * nodes), number * 7 % nodes)
        number += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
