"""Placement and restore as they are deployed, asserted from the cluster.

The real API server asks for each pod, over TLS, which a test's gateway ends: ministack's API
Gateway speaks http only, and is told of its route by the test (see gateway.py). From there on all
is deployed: the HTTP API, the function, its role and its token for the cluster. Restore is invoked
by name, with its schedule's event: that the schedule calls it is held in
tests/stack/test_stack.py.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_hosting.events import schedule_event
from tests.e2e.manifests import deployment, selector, stateful_set
from tests.e2e.witness import Witness
from tests.stack.deployed.conftest import Deployed
from tests.stack.deployed.gateway import Gateway, configured, opened

pytestmark = pytest.mark.stack


@pytest.fixture
def gateway(stack: Deployed, namespace: str, tmp_path: Path) -> Iterator[Gateway]:
    """The webhook at work in the test's namespace, which is managed."""
    with (
        opened(stack, tmp_path) as (made, authority),
        configured(stack.control_plane, namespace, made, authority, stack.token),
    ):
        yield made


def split(stack: Deployed, namespace: str, app: str) -> Mapping[str, int]:
    """How many pods of a workload are on which capacity type, or on none."""
    nodes = stack.control_plane.items("v1", "Node")
    kind = {
        each["metadata"]["name"]: each["metadata"]["labels"]["eks.amazonaws.com/capacityType"]
        for each in nodes
    }
    return Counter(
        kind.get(pod["spec"].get("nodeName", ""), "none")
        for pod in stack.control_plane.pods(namespace)
        if pod["metadata"]["labels"]["app"] == app
    )


def test_pods_land_on_their_floor_through_the_http_api(
    stack: Deployed, namespace: str, gateway: Gateway
) -> None:
    for spot in (True, False):
        stack.add_node(spot=spot)
    web = deployment("web", 6, annotations={names.ON_DEMAND: "30%"})
    db = stateful_set("db", 3, annotations={names.ON_DEMAND: "majority"})
    stack.control_plane.apply(web, db, namespace=namespace)

    for app, wanted in (("web", {"ON_DEMAND": 2, "SPOT": 4}), ("db", {"ON_DEMAND": 2, "SPOT": 1})):
        stack.control_plane.wait_for(
            f"the pods of {app} to be {wanted}",
            lambda app=app, wanted=wanted: split(stack, namespace, app) == wanted,  # type: ignore[misc]
        )
    assert all(
        names.PLACED in pod["metadata"]["annotations"]
        for pod in stack.control_plane.pods(namespace)
    )
    assert set(gateway.statuses) == {200}
    assert not any(stack.token in line for line in stack.log_of("Placement"))


def asked(gateway: Gateway, path: str) -> int:
    """The status of the answer to a review that asks nothing."""
    review = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}).encode()
    return gateway.ask(path, review).status


def test_a_request_without_the_token_is_not_answered(stack: Deployed, gateway: Gateway) -> None:
    assert asked(gateway, f"/v1/{stack.token[:-1]}") == 401
    assert asked(gateway, f"/v1/{stack.token}") == 400
    assert asked(gateway, f"/v2/{stack.token}") == 404


def test_the_secret_s_token_counts_and_the_one_before_until_the_next_rotation(
    stack: Deployed, gateway: Gateway
) -> None:
    first = stack.token
    stack.rotate_token()
    second = stack.token
    assert [asked(gateway, f"/v1/{token}") for token in (first, second)] == [400, 400]
    stack.rotate_token()
    tokens = (first, second, stack.token)
    assert [asked(gateway, f"/v1/{token}") for token in tokens] == [401, 400, 400]


@pytest.mark.usefixtures("gateway")
def test_restore_begins_a_move_and_handover_finishes_it(
    stack: Deployed, namespace: str, witness: Witness
) -> None:
    control_plane = stack.control_plane
    stack.add_node(spot=False)
    web = deployment("web", 3, annotations={names.ON_DEMAND: "2"})
    control_plane.apply(web, namespace=namespace)
    control_plane.wait_for("three ready pods", lambda: witness.count("web", selector("web")) == 3)
    assert split(stack, namespace, "web") == {"ON_DEMAND": 3}
    stack.add_node()

    stack.invoke("RestoreFunction", schedule_event(SystemClock().now()))

    control_plane.wait_for(
        "one pod to have moved",
        lambda: (
            split(stack, namespace, "web") == {"ON_DEMAND": 2, "SPOT": 1}
            and witness.count("web", selector("web")) == 3
        ),
    )
    assert not any(
        names.RELEASED_FROM in pod["metadata"]["labels"]
        for pod in stack.control_plane.pods(namespace)
    )
    assert witness.lowest("web") == 3


def test_restore_writes_a_template_that_places_its_pods(stack: Deployed, namespace: str) -> None:
    control_plane = stack.control_plane
    control_plane.label_namespace(namespace, names.MANAGED)
    stack.add_node(spot=False)
    notes = {names.ON_DEMAND: "1", names.PLACEMENT: names.BY_TEMPLATE}
    web = deployment("web", 3, annotations=notes)
    control_plane.apply(web, namespace=namespace)
    control_plane.wait_for("three pods", lambda: split(stack, namespace, "web") == {"ON_DEMAND": 3})
    stack.add_node()

    def is_written() -> bool:
        stack.invoke("RestoreFunction", schedule_event(SystemClock().now()))
        written = control_plane.get("apps/v1", "Deployment", "web", namespace)
        return "affinity" in written["spec"]["template"]["spec"]

    control_plane.wait_for("the template to be written", is_written, every=1.0)
