"""The webhook with the rights of manifests/rbac and no others: enough for all that it does."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.adapters.kubernetes import from_kubeconfig
from evenkeel.flows.placement.claims import sweep
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment, job, stateful_set
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.test_rights import MANIFESTS, kubeconfig_of
from tests.fixtures.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

ON_DEMAND = "evenkeel.dev/on-demand"


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Path]:
    """That of a member of placement's group alone, and its rights."""
    control_plane.kubectl("apply", "-k", str(MANIFESTS))
    yield kubeconfig_of(control_plane, "evenkeel-placement", tmp_path)
    for kind in ("clusterrolebinding", "clusterrole"):
        control_plane.kubectl("delete", kind, "-l", "app.kubernetes.io/name=evenkeel")


def test_nothing_that_it_does_is_refused(ground: Ground, kubeconfig: Path) -> None:
    ground.add_nodes()
    ground.serve(kubeconfig=kubeconfig)
    ground.apply(deployment("web", 6, annotations={ON_DEMAND: "2"}))
    ground.apply(deployment("typo", 1, annotations={ON_DEMAND: "tow"}))
    ground.apply(stateful_set("db", 3))
    counted = job("batch")
    counted["metadata"]["annotations"] = {ON_DEMAND: "1"}
    ground.apply(counted)
    assert len(on_demand(ground.settled(11))) == 2 + 2 + 1
    told = ground.wait_for(
        "the warning",
        lambda: [
            each
            for each in ground.control_plane.items("v1", "Event", ground.namespace)
            if each["reason"] == "BadFloor"
        ],
    )
    assert told[0]["involvedObject"]["name"] == "typo"
    assert "forbidden" not in ground.log().lower()
    clock = ShiftedClock()
    clock.skip(timedelta(minutes=3))
    with from_kubeconfig(kubeconfig=str(kubeconfig)) as cluster:
        assert sweep(cluster, clock) == 3
