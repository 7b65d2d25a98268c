"""EvictionRequests are tested where Kubernetes has them, switched on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Site
from tests.e2e.placement.webhook import Ground
from tests.e2e.responder.requests import Requests
from tests.e2e.rights import RESPONDER_RIGHTS
from tests.kit.control_plane import ControlPlane, has_eviction_requests


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> ControlPlane:
    """The control plane of these tests; none is started for a Kubernetes without them."""
    if not has_eviction_requests(request.config.getoption("--kube")):
        pytest.skip("this Kubernetes has no EvictionRequests")
    started: ControlPlane = request.getfixturevalue("control_plane_with_eviction_requests")
    return started


@pytest.fixture
def requests(
    site: Site, ground: Ground, rights: None, gate_rights: None, tmp_path: Path
) -> Iterator[Requests]:
    """A gated namespace whose pods name Evenkeel. No webhook is asked about evictions."""
    del rights, gate_rights
    site.control_plane.kubectl("apply", "-k", str(RESPONDER_RIGHTS))
    try:
        with Requests.answered(site, ground, tmp_path) as made:
            yield made
    finally:
        site.control_plane.kubectl("delete", "-k", str(RESPONDER_RIGHTS))
