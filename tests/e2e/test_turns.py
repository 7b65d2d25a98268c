"""A quota allows no second pod beside the old one: pods go in turns."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, pod_quota, selector
from tests.kit.queueing import GATED

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


def test_gated_pods_come_in_the_place_of_those_before(site: Site) -> None:
    """A queue lets in no more pods than there were: none comes beside those that are released."""

    def lets_in(ready: Callable[[], bool]) -> bool:
        """Let the queue look at the pods."""
        pods = site.witness.pods(**selector("web"))
        gated = [pod for pod in pods if pod["spec"].get("schedulingGates")]
        if gated and len(pods) - len(gated) < 3:
            opened = {"spec": {"schedulingGates": None}}
            site.merge("v1", "Pod", gated[0]["metadata"]["name"], opened)
        return ready()

    def are_ready() -> bool:
        return site.witness.count("web", selector("web")) == 3

    site.add_nodes("a")
    site.apply(deployment("web", 3, **GATED))
    site.wait_for("the queue to let three in", lambda: lets_in(are_ready))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    replaced = partial(site.is_settled, "web", 3, "b")
    site.wait_for("all to be replaced", lambda: lets_in(replaced))
    assert site.witness.lowest("web") == 2
