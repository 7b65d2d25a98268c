"""A quota allows no second pod beside the old one: pods go in turns."""

from datetime import datetime, timedelta

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, pod_quota, selector

pytestmark = pytest.mark.controlplane


def test_the_next_is_made_as_soon_as_one_that_stops_slowly_is_gone(site: Site) -> None:
    """Its controller has failed for 12 s by then, and would wait for 10 s more by itself."""
    site.add_nodes("a")
    site.apply(pod_quota(2))
    site.run(deployment("web", 2, stop="12s", grace=15))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    site.wait_for("the first to be replaced", lambda: bool(site.pods_on("b", **selector("web"))))
    (departure,), (replacement,) = site.witness.departures(), site.pods_on("b", **selector("web"))
    made = datetime.fromisoformat(replacement["metadata"]["creationTimestamp"])
    assert made < departure.at + timedelta(seconds=12 + 4)
    assert site.witness.lowest("web") == 1
