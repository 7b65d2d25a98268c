"""An evictor that comes back later than a replaced pod is kept for it."""

import pytest

from evenkeel.decisions.drain.eviction_asked import COMES_BACK
from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

STAYS = {"metadata": {"annotations": {names.POD_DELETION_COST: "100"}}}
"""Of an old and a new pod the ReplicaSet controller takes the new one; these are equally young."""


def test_a_pod_that_is_asked_for_once_goes_back_and_goes_when_it_is_asked_for_again(
    site: Site, gated: Ground
) -> None:
    del gated
    site.add_nodes("a")
    site.run(deployment("web", 1, start="2s"))
    site.add_nodes("b")
    evenkeel = site.deploy()
    (old,) = (pod["metadata"]["name"] for pod in site.witness.pods(**selector("web")))
    site.merge("v1", "Pod", old, STAYS)

    def there() -> list[str]:
        return [pod["metadata"]["name"] for pod in site.witness.pods(**selector("web"))]

    def ask() -> None:
        with pytest.raises(AssertionError, match="429"):
            site.control_plane.evict(site.namespace, old)
        site.wait_for_releases("web")
        site.wait_for("its replacement", lambda: site.witness.ready("web") == 2)

    ask()
    site.clock.skip(COMES_BACK)
    evenkeel.schedule()
    site.wait_for("it to be back alone", lambda: there() == [old] and not site.released("web"))
    evenkeel.wait_until_at_rest()

    ask()
    evenkeel.schedule()
    site.wait_for("it to be gone", lambda: len(there()) == 1 and there() != [old])
    assert site.witness.lowest("web") == 1
