"""What manifests/serve, manifests/poll and manifests/scheduler put into the cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.model import names
from tests.e2e.accounts import SYSTEM, applied, kubeconfig_of
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

NAME = "evenkeel-serve"


@pytest.fixture
def served(control_plane: ControlPlane, ground: Ground, rights: None) -> Iterator[None]:
    """What docs/placement.md applies."""
    del ground, rights
    with applied(control_plane, "serve"):
        yield


@pytest.mark.parametrize("folder", ["serve", "poll", "scheduler/profile"])
@pytest.mark.usefixtures("rights")
def test_its_pods_are_allowed_and_keep_off_spot(ground: Ground, folder: str) -> None:
    component = folder.partition("/")[0]
    ground.add_nodes(spot=2, on_demand=1)
    plane = ground.control_plane
    query = f"labelSelector=app.kubernetes.io/component%3D{component}"

    def running() -> list[str]:
        pods = plane.items("v1", "Pod", SYSTEM, query)
        nodes = [pod["spec"].get("nodeName", "") for pod in pods]
        return nodes if len(nodes) == 2 and all(nodes) else []

    with applied(plane, folder):
        nodes = ground.wait_for("both pods to have a node", running)
    assert all("-demand-" in node for node in nodes)


@pytest.mark.usefixtures("served")
def test_the_api_server_calls_its_service_and_its_account_may_do_all_it_does(
    ground: Ground, gate_rights: None, tmp_path: Path
) -> None:
    """A process plays the container: there is no network of pods here, so the Service leads out."""
    del gate_rights
    plane = ground.control_plane
    plane.kubectl("delete", "service", NAME, "-n", SYSTEM)
    plane.kubectl(
        "create", "service", "externalname", NAME, "--external-name=localhost", "-n", SYSTEM
    )
    ground.add_nodes()
    account = kubeconfig_of(plane, NAME, tmp_path)
    ground.serve(kubeconfig=account, host=f"{NAME}.{SYSTEM}.svc")
    ground.apply(deployment("web", 6, annotations={names.ON_DEMAND: "2"}))
    ground.apply(deployment("typo", 1, annotations={names.ON_DEMAND: "tow"}))
    assert len(on_demand(ground.settled(7))) == 2 + 1
    ground.gate(f"{NAME}.{SYSTEM}.svc")
    pod = ground.pods()[0]["metadata"]["name"]
    ground.wait_for("the eviction to wait", lambda: _is_deferred(ground, pod))
    assert "forbidden" not in ground.log().lower()
    plane.kubectl("delete", "service", NAME, "-n", SYSTEM)


def _is_deferred(ground: Ground, pod: str) -> bool:
    """Whether the eviction of a pod that can be handed over waits, as a dry run tells."""
    return ground.control_plane.evict(ground.namespace, pod, dry_run=True, fine=(429,)) == 429
