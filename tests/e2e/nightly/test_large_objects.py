"""A tenant fills his namespace with large objects: the processes stay small, the others' pods move.

No quota counts budgets unless somebody sets one for them. There are as many as show what is kept of
them: the API server, its controllers and the scheduler hold each of them, too, many times as large.
"""

import json
import socket
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.nightly.test_reviews import Asking, memory
from tests.e2e.placement.webhook import Ground
from tests.e2e.polling import polling
from tests.kit import moto_server as aws
from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import Manifest, resource
from tests.kit.reviews import of_eviction

pytestmark = pytest.mark.nightly

BUDGETS: Final = 300
SIBLINGS: Final = 300
REVIEWS: Final = 8
POLL: Final = 200 * 1024
SERVE: Final = 150 * 1024
"""kB that the processes may have at most; their containers may have 512 and 256 MiB."""
PATIENCE: Final = 3.0
"""Seconds that the API server waits for the webhook."""
TOO_MUCH: Final = "bytes that are kept of one"
UNREADABLE: Final = "not the answer of a Kubernetes API"
PAUSE: Final = timedelta(seconds=2)
RUNS: Final = 70.0
"""Seconds in which restore runs twice."""


def large_budget(number: int) -> Manifest:
    """60 kB of it are read: a selector of 7,500 values."""
    values = [f"v{each:04}" for each in range(7_500)]
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}
    return resource(
        "PodDisruptionBudget", f"large-{number}", spec={"selector": selector, "maxUnavailable": 1}
    )


def large_pods(count: int) -> Manifest:
    """A Deployment whose pods would like to be off 7,000 nodes: 56 kB of each are read."""
    values = [f"v{each:04}" for each in range(7_000)]
    clause = {"key": "a", "operator": "NotIn", "values": values}
    term = {"weight": 1, "preference": {"matchExpressions": [clause]}}
    liked = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    made = deployment("large", count, annotations={names.ON_DEMAND: "2"})
    made["spec"]["template"]["spec"]["affinity"] = liked
    return made


def make_budgets(plane: ControlPlane, namespace: str, count: int) -> None:
    path = f"apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: plane.request("POST", path, large_budget(n)), range(count)))


@contextmanager
def budgets(plane: ControlPlane, namespace: str, count: int) -> Iterator[None]:
    """So many are there; at the end none."""
    path = f"apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    make_budgets(plane, namespace, count)
    try:
        yield
    finally:
        for n in range(count):
            plane.request("DELETE", f"{path}/large-{n}", fine=(404,))


def test_poll_stays_small_and_the_others_pods_move_beside_large_budgets(
    site: Site, tmp_path: Path
) -> None:
    plane = site.control_plane
    with aws.started() as queues, plane.namespace() as tenant:
        (instance_id,) = queues.launch(1)
        name = queues.dns_names([instance_id])[instance_id]
        provider_id = f"aws:///eu-central-1a/{instance_id}"
        plane.add_node(name, spot=True, provider_id=provider_id)
        plane.label_namespace(site.namespace, names.MANAGED)
        site.apply(budget("web", minAvailable=4))
        site.run(deployment("web", 4))
        plane.apply(deployment("his", 3), namespace=tenant)
        site.add_nodes("b", spot=False)
        with budgets(plane, tenant, BUDGETS), polling(plane, queues, tmp_path / "log") as poll:
            pid = poll.process.pid
            site.let_pass(RUNS)
            queues.send([aws.warning(instance_id, SystemClock().now())])
            site.wait_for("all to run on b", lambda: site.is_settled("web", 4, "b"), 30)
            assert site.witness.lowest("web") == 4
            site.wait_for(
                "his to run on b",
                lambda: all(
                    pod["spec"].get("nodeName") == site.node_name("b") for pod in plane.pods(tenant)
                ),
            )
            most = memory(pid, "VmHWM")
            assert poll.end() == 0
            assert TOO_MUCH in poll.told
            assert UNREADABLE not in poll.told
        assert most < POLL


HEAD: Final = b"GET / HTTP/1.1\r\n" + b"".join(
    b"A-%02d: %s\r\n" % (number, b"x" * 65_000) for number in range(97)
)
"""As much as Python's library takes of a head."""


def send_head(ground: Ground, port: int, until: float) -> None:
    """Send it but for its end, and hold the connection."""
    tls = ssl.create_default_context(cadata=ground.authority.certificate)
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        tls.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(HEAD)
        SystemClock().sleep(timedelta(seconds=max(0.0, until - time.monotonic())))
        secure.sendall(b"\r\n")


def test_serve_stays_small_while_strangers_send_large_heads(ground: Ground) -> None:
    port = ground.start()
    until = time.monotonic() + 10
    with ThreadPoolExecutor(64) as threads:
        list(threads.map(lambda _: send_head(ground, port, until), range(64)))
    most = memory(ground.webhooks[0].process.pid, "VmHWM")
    assert most < SERVE


def asked_again(ground: Ground, port: int, pods: list[str]) -> Asking:
    """Ask about the evictions of pods in turn, as drainers do, which wait between two tries."""
    asking = Asking(ground, port)
    for number in range(REVIEWS):
        review = of_eviction(ground.namespace, pods[number % len(pods)])
        asking.once(json.dumps(review).encode(), "/evictions")
        SystemClock().sleep(PAUSE)
    return asking


def test_serve_stays_small_beside_large_budgets(ground: Ground) -> None:
    plane = ground.control_plane
    plane.label_namespace(ground.namespace, names.GATE)
    ground.add_nodes()
    port = ground.start()
    ground.apply(deployment("web", 2))
    pods = [each["metadata"]["name"] for each in ground.settled(2)]
    with budgets(plane, ground.namespace, BUDGETS):
        asked_again(ground, port, pods[:1])
    most = memory(ground.webhooks[0].process.pid, "VmHWM")
    assert TOO_MUCH in ground.log()
    assert UNREADABLE not in ground.log()
    assert most < SERVE


def test_serve_stays_small_and_in_time_beside_pods_with_large_rules(ground: Ground) -> None:
    plane = ground.control_plane
    plane.label_namespace(ground.namespace, names.GATE)
    ground.add_nodes(spot=6)
    port = ground.start()
    ground.apply(large_pods(SIBLINGS))
    pods = [each["metadata"]["name"] for each in ground.settled(SIBLINGS, every=2)]
    asking = asked_again(ground, port, pods[:3])
    most = memory(ground.webhooks[0].process.pid, "VmHWM")
    assert UNREADABLE not in ground.log()
    assert "asks to evict it" in ground.log()
    assert most < SERVE
    assert median(asking.took) < PATIENCE
