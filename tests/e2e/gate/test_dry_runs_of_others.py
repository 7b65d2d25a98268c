"""A webhook of somebody else that makes evictions dry runs, and deletes the pods by itself later.

pod-graceful-drain does so: https://github.com/foriequal0/pod-graceful-drain. It takes the pod out
of its Services when it is asked, so it must not be asked before the replacement is there.
"""

import pytest

from tests.contract.webhooks import Hook, real
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

DRY_RUN = {"op": "add", "path": "/deleteOptions", "value": {"dryRun": ["All"]}}


@pytest.mark.parametrize(
    ("kind", "is_first"),
    [("ValidatingWebhookConfiguration", False), ("MutatingWebhookConfiguration", True)],
)
def test_a_gate_that_mutates_is_asked_first_by_its_name(
    kind: str, site: Site, ground: Ground, *, is_first: bool
) -> None:
    site.add_nodes("a")
    site.run(deployment("single", 1, start="3s"))
    site.add_nodes("b")
    ground.start()
    ground.gate(kind=kind)
    (old,) = (pod["metadata"]["name"] for pod in site.witness.pods(**selector("single")))
    other = Hook(DRY_RUN, sub_resource="eviction")
    with real(site.control_plane, site.namespace, [other], f"pod-graceful-{site.namespace}"):
        site.control_plane.evict(site.namespace, old, fine=(429,))
        assert len(other.requests) == (0 if is_first else 1)
        released = site.witness.ever_released(**selector("single"))
        assert len(released) == (1 if is_first else 0)
        if is_first:
            site.wait_for("its replacement", lambda: site.witness.ready("single") == 2)
            site.control_plane.evict(site.namespace, old)
            assert len(other.requests) == 1
