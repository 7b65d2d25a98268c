"""What others do to a workload while a drain through the gate is under way."""

from functools import partial

import pytest

from tests.e2e.gate.draining import draining
from tests.e2e.harness import Site
from tests.e2e.manifests import NO_LOSS, budget, deployment, selector
from tests.e2e.placement.webhook import Ground
from tests.e2e.test_meanwhile import evicting

pytestmark = pytest.mark.controlplane


def test_the_workload_follows_its_scale_when_it_is_scaled_up_and_down(
    site: Site, gated: Ground
) -> None:
    del gated
    site.add_nodes("a")
    site.run(deployment("web", 4, start="4s"))
    site.add_nodes("b")
    with draining(site, "a") as (drain,):
        site.wait_for_releases("web", 4)
        site.scale("web", 9)
        site.wait_for("9 new pods", lambda: len(site.pods_on("b")) == 9)
        assert site.witness.lowest("web") == 4
        site.scale("web", 3)
        drain.end()
    site.wait_for("three to run on b", partial(site.is_settled, "web", 3, "b"))
    assert site.witness.lowest("web") == 3


def test_a_rolling_update_completes_without_loss(site: Site, gated: Ground) -> None:
    del gated
    site.add_nodes("a")
    site.run(deployment("web", 3, start="2s", strategy=NO_LOSS))
    site.add_nodes("b")
    with draining(site, "a") as (drain,):
        site.wait_for_releases("web")
        new = {"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}}
        site.merge("apps/v1", "Deployment", "web", new)
        drain.end()

    def is_new() -> bool:
        pods = site.witness.pods(**selector("web"))
        return all(pod["metadata"]["labels"].get("version") == "2" for pod in pods)

    site.wait_for(
        "the new version on b", lambda: site.is_settled("web", 3, "b") and is_new(), seconds=60
    )
    assert site.witness.lowest("web") == 3


def test_the_drain_ends_when_the_workload_is_deleted(site: Site, gated: Ground) -> None:
    del gated
    site.add_nodes("a")
    site.run(deployment("web", 3, start="10s"))
    with draining(site, "a") as (drain,):
        site.wait_for_releases("web", 3)
        site.delete("apps/v1", "Deployment", "web")
        drain.end()
    site.wait_for("no pod to be left", lambda: not site.witness.pods(**selector("web")))


def test_no_workload_dips_when_a_hostile_evictor_hammers_nodes_that_die(
    site: Site, gated: Ground
) -> None:
    """Without the gate it takes as many as the budget allows: tests/e2e/test_meanwhile.py."""
    del gated
    site.add_nodes("a", "b")
    site.apply(budget("web", maxUnavailable=1))
    site.run(deployment("web", 8, start="2s"), deployment("single", 1, start="2s"))
    site.add_nodes("c")
    evenkeel = site.deploy()

    with evicting(site, "a", "b"):
        evenkeel.notify(site.warning("a"), site.warning("b"))
        for name, replicas in (("web", 8), ("single", 1)):
            site.wait_for(
                f"{name} to run on c", partial(site.is_settled, name, replicas, "c"), seconds=60
            )
    evenkeel.wait_until_at_rest()
    assert site.witness.lowest("web") == 8
    assert site.witness.lowest("single") == 1
