"""`kubectl drain` through the gate: policies refuse or undo releases, and others adopt pods."""

import subprocess
import time

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.others.neighbours import add_rollout, adopters
from tests.e2e.others.policed import REFUSED, policies
from tests.e2e.placement.webhook import Ground
from tests.kit.others import WORDS
from tests.kit.policies import in_force

pytestmark = pytest.mark.controlplane


def test_a_drain_ends_soon_and_says_what_refuses(site: Site, gated: Ground) -> None:
    """The budget decides, as without the gate: one of three may be missing."""
    site.add_nodes("a")
    site.run(*(deployment(app, 3) for app in (*REFUSED, "own")))
    add_rollout(site, "rolled", 3)
    site.apply(*(budget(app, minAvailable=2) for app in REFUSED))
    site.apply(budget("rolled", maxUnavailable=1))
    site.apply(*adopters("own"))
    site.add_nodes("b")
    with in_force(site.control_plane, site.namespace, *policies(site)):
        began = time.monotonic()
        done = subprocess.run(
            [
                site.control_plane.binaries / "kubectl",
                f"--kubeconfig={site.control_plane.kubeconfig}",
                *("drain", site.node_name("a"), "--timeout=120s"),
            ],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        took = time.monotonic() - began
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert took < 40
    assert WORDS in said
    assert not site.pods_on("a")
    assert all(site.witness.lowest(app) >= 2 for app in REFUSED)
    assert site.witness.lowest("invalid") == 2
    for app in ("own", "rolled"):
        assert site.witness.lowest(app) == 3
        assert len(site.witness.ever_released(**selector(app))) == 3
    del gated
