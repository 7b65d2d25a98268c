"""A tenant does all that keeps plans busy while a node dies: the pods of others move in time."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from threading import Event, Thread

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, budget, deployment
from tests.kit.control_plane import MERGE, ControlPlane
from tests.kit.manifests import Manifest, resource

pytestmark = pytest.mark.nightly

MEMBERS = 300
FORGED = 100
EVERY = 0.2
"""Seconds between two updates of the tenant's pods."""
GANG = {"scheduling.x-k8s.io/pod-group": "all"}
SOON = 30.0
DYING = ("a", "b", "c")


@pytest.fixture
def tenant(site: Site) -> Iterator[str]:
    """Another namespace, in which there are a gang of single replicas and forged releases."""
    site.add_nodes(*DYING, pods=150, cpu="64", memory="256Gi")
    with site.control_plane.namespace() as name:
        site.control_plane.apply(*map(_member, range(MEMBERS)), namespace=name)
        site.wait_for(
            "the gang to run", lambda: _ready(site.control_plane, name) == MEMBERS, seconds=120
        )
        begin = site.clock.now()
        forged = [_forged(site, n, begin + timedelta(seconds=n / 5)) for n in range(FORGED)]
        site.control_plane.apply(*forged, namespace=name)
        yield name


def _member(number: int) -> Manifest:
    made = deployment(f"rank-{number}", 1)
    made["spec"]["template"]["metadata"]["labels"] |= GANG
    return made


def _ready(control_plane: ControlPlane, namespace: str) -> int:
    pods = control_plane.pods(namespace)
    return sum(pod["status"].get("phase") == "Running" for pod in pods)


def _forged(site: Site, number: int, end: object) -> Manifest:
    """A pod that says that it was released, until a time that comes soon after that of another."""
    release = {
        "v": 1,
        "reason": "interruption",
        "since": str(site.clock.now()),
        "deadline": str(end),
        "wanted": 1,
        "controller": f"rank-{number}",
        "controllerUid": f"made-up-{number}",
    }
    made = bare_pod(f"forged-{number}", annotations={names.RELEASE: json.dumps(release)})
    made["metadata"]["labels"][names.RELEASED_FROM] = "made-up"
    return made


@contextmanager
def updates(site: Site, namespace: str) -> Iterator[list[str]]:
    """Meanwhile the tenant writes to one of his pods after the other; the names of those."""
    pods = [pod["metadata"]["name"] for pod in site.control_plane.pods(namespace)]
    stopping, written = Event(), list[str]()

    def update() -> None:
        for number in count():
            if stopping.wait(EVERY):
                return
            name = pods[number % len(pods)]
            change = {"metadata": {"labels": {"at": str(number)}}}
            path = f"api/v1/namespaces/{namespace}/pods/{name}"
            site.control_plane.request("PATCH", path, change, MERGE, fine=(404,))
            written.append(name)

    thread = Thread(target=update, daemon=True)
    thread.start()
    try:
        yield written
    finally:
        stopping.set()
        thread.join(20)


def test_his_gang_his_times_and_his_updates_hold_no_other_up(site: Site, tenant: str) -> None:
    site.apply(budget("web", minAvailable=4))
    site.run(deployment("web", 4))
    site.add_nodes("x", "y", "z", spot=False)
    evenkeel = site.deploy()
    with updates(site, tenant) as written:
        evenkeel.notify(*map(site.warning, DYING))
        settled = partial(site.is_settled, "web", 4, "x", "y", "z")
        site.wait_for("the others' pods to be elsewhere", settled, SOON)
        assert all(site.node(short)["spec"].get("unschedulable") for short in DYING)
        assert len(written) > SOON / 10
    assert site.witness.lowest("web") == 4
    assert evenkeel.recorder.total("PlansFailed") == 0


SELECTORS = 200
TERMS = 24
"""Of each: together they are just below the bound of a namespace."""
HIS = 100
PLANNED_WITHIN = 8.0
"""Seconds from the mark to the last release of others: 3.0 alone and 4.2 beside his selectors on
two cores with ten times as much to do; the wake-up and the first lists take two of them."""


@pytest.fixture(params=[False, True], ids=["alone", "beside his selectors"])
def crowded(site: Site, request: pytest.FixtureRequest) -> Iterator[None]:
    """Pods of another namespace, each with labels of its own, and perhaps what selects by them."""
    site.add_nodes(*DYING, pods=150, cpu="64", memory="256Gi")
    with site.control_plane.namespace() as name:
        site.control_plane.apply(*(deployment(f"his-{n}", 1) for n in range(HIS)), namespace=name)
        site.wait_for(
            "his pods to run", lambda: _ready(site.control_plane, name) == HIS, seconds=120
        )
        if request.param:
            site.control_plane.apply(*map(_selecting, range(SELECTORS)), namespace=name)
        yield


def _selecting(number: int) -> Manifest:
    """A budget or a NetworkPolicy that selects no pod, which its last term alone tells."""
    passed = [{"key": f"k{n}", "operator": "NotIn", "values": ["x"]} for n in range(TERMS - 1)]
    selector = {"matchExpressions": [*passed, {"key": "absent", "operator": "Exists"}]}
    if number % 2:
        spec = {"minAvailable": 1, "selector": selector}
        return resource("PodDisruptionBudget", f"his-{number}", spec=spec)
    return resource("NetworkPolicy", f"his-{number}", spec={"podSelector": selector})


@pytest.mark.usefixtures("crowded")
def test_his_selectors_hold_no_other_s_plan_up(site: Site) -> None:
    site.run(deployment("web", 4))
    site.add_nodes("x", "y", "z", spot=False)
    evenkeel = site.deploy()
    evenkeel.notify(*map(site.warning, DYING))

    def begun() -> bool:
        decided = evenkeel.recorder.decisions
        return sum(d.verb == "release" and d.subject.name.startswith("web-") for d in decided) == 4

    site.wait_for(
        "the nodes to be marked",
        lambda: all(site.node(short)["spec"].get("unschedulable") for short in DYING),
        SOON,
    )
    marked = time.monotonic()
    site.wait_for("the others' pods to be released", begun, SOON)
    assert time.monotonic() - marked < PLANNED_WITHIN
    settled = partial(site.is_settled, "web", 4, "x", "y", "z")
    site.wait_for("the others' pods to be elsewhere", settled, SOON)
    assert site.witness.lowest("web") == 4
    assert evenkeel.recorder.total("PlansFailed") == 0
