"""Drainers and gates that die in the middle of a drain."""

from functools import partial

import pytest

from evenkeel.decisions.drain.eviction_asked import COMES_BACK
from tests.e2e.gate.draining import draining
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane


def test_the_reconciler_finishes_the_drain_when_the_drainer_is_killed(
    site: Site, gated: Ground
) -> None:
    del gated
    site.add_nodes("a")
    site.run(deployment("web", 3, start="4s"))
    site.add_nodes("b")
    evenkeel = site.deploy()
    with draining(site, "a") as (drain,):
        site.wait_for_releases("web", 3)
        drain.kill()
    site.wait_for("three replacements", lambda: site.witness.ready("web") == 6)

    evenkeel.schedule()
    evenkeel.wait_until_at_rest()
    assert len(site.released("web")) == 3

    site.clock.skip(COMES_BACK)
    evenkeel.schedule()
    site.wait_for("all to run on b", partial(site.is_settled, "web", 3, "b"))
    assert site.witness.lowest("web") == 3


def test_another_gate_goes_on_when_one_is_killed_between_release_and_answer(
    site: Site, ground: Ground
) -> None:
    """To that eviction there is no answer, so it passes the webhook, and the budget refuses it."""
    site.add_nodes("a")
    site.apply(budget("single", minAvailable=1))
    site.run(deployment("single", 1, start="3s"))
    site.add_nodes("b")
    ground.start(2, command="tests.e2e.gate.dying_gate")
    ground.gate()
    first, second = ground.webhooks
    with draining(site, "a") as (drain,):
        site.wait_for_releases("single")
        site.wait_for(
            "a gate to die", lambda: {first.process.poll(), second.process.poll()} > {None}
        )
        drain.end()
    site.wait_for("all to run on b", partial(site.is_settled, "single", 1, "b"))
    assert site.witness.lowest("single") == 1
    assert len(site.witness.ever_released(**selector("single"))) == 1
