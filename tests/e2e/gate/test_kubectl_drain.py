"""`kubectl drain` on a real API server, through the gate and without it."""

from functools import partial

import pytest

from tests.e2e.gate.draining import draining
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

BARE = [f"bare-{number}" for number in range(5)]
GUARDED = [f"guarded-{number}" for number in range(5)]
"""Single replicas, and single replicas whose budget allows no disruption."""


def ten_singles(site: Site) -> None:
    """They run on a; b has room."""
    site.add_nodes("a", pods=20)
    site.apply(*(budget(name, minAvailable=1) for name in GUARDED))
    site.run(*(deployment(name, 1, start="2s") for name in (*BARE, *GUARDED)))
    site.add_nodes("b", pods=20)


def test_single_replicas_never_reach_zero(site: Site, gated: Ground) -> None:
    del gated
    ten_singles(site)
    with draining(site, "a") as (drain,):
        drain.end()
    assert {name: site.witness.lowest(name) for name in (*BARE, *GUARDED)} == dict.fromkeys(
        (*BARE, *GUARDED), 1
    )
    assert not site.pods_on("a")


def test_without_the_gate_they_do_and_those_with_budgets_block_the_drain(site: Site) -> None:
    ten_singles(site)
    with draining(site, "a", seconds=5) as (drain,):
        drain.end(well=False)
    assert {name: site.witness.lowest(name) for name in BARE} == dict.fromkeys(BARE, 0)
    assert len(site.pods_on("a")) == len(GUARDED)


def test_two_drains_at_once_take_no_pod_too_many(site: Site, gated: Ground) -> None:
    del gated
    site.add_nodes("a", "b")
    site.run(deployment("web", 6, start="2s"))
    assert 0 < len(site.pods_on("a")) < 6
    site.add_nodes("c")
    with draining(site, "a", "b") as drains:
        for drain in drains:
            drain.end()
    site.wait_for("all to run on c", partial(site.is_settled, "web", 6, "c"))
    assert site.witness.lowest("web") == 6
