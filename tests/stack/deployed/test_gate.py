"""The eviction gate as it is deployed: from the API server's review to the pod that is released."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from evenkeel.decisions.drain.deadlines import COMES_BACK
from evenkeel.model import names
from evenkeel_sandbox.observer.following import is_released
from tests.e2e.manifests import deployment, selector
from tests.e2e.witness import Witness
from tests.stack.deployed.conftest import GATE_PATIENCE, Deployed
from tests.stack.deployed.gateway import Gateway, gating, opened

pytestmark = pytest.mark.stack


@pytest.fixture
def gateway(stack: Deployed, namespace: str, tmp_path: Path) -> Iterator[Gateway]:
    """The gate at work in the test's namespace, which is managed."""
    with (
        opened(stack, tmp_path) as (made, authority),
        gating(stack.control_plane, namespace, made, authority, stack.token),
    ):
        yield made


def test_an_eviction_waits_for_its_replacement_through_the_http_api(
    stack: Deployed, namespace: str, gateway: Gateway, witness: Witness
) -> None:
    control_plane = stack.control_plane
    stack.add_node(spot=False)

    def evict(pod: str) -> int:
        return control_plane.evict(namespace, pod, fine=(404, 429))

    control_plane.apply(deployment("one", 1), namespace=namespace)
    control_plane.wait_for("a ready pod", lambda: witness.count("one", selector("one")) == 1)
    (pod,) = witness.pods(**selector("one"))
    name = pod["metadata"]["name"]

    control_plane.wait_for(
        "the API server to ask",
        lambda: evict("nobody") == 404 and gateway.statuses,
    )
    assert evict(name) == 429
    (released,) = filter(is_released, witness.pods(**selector("one")))
    release = json.loads(released["metadata"]["annotations"][names.RELEASE])
    since, until = (datetime.fromisoformat(release[each]) for each in ("since", "deadline"))
    assert until - since == GATE_PATIENCE + COMES_BACK

    control_plane.wait_for(
        "the eviction to pass",
        lambda: evict(name) != 429,
        every=1.0,
    )
    control_plane.wait_for(
        "the pod to be told to go", lambda: len(witness.pods(**selector("one"))) == 1
    )
    assert witness.lowest("one") == 1
    assert set(gateway.statuses) == {200}
    assert not any(stack.token in line for line in stack.log_of("Placement"))
