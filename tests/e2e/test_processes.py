"""Reconcilers that die, and reconcilers that do not know of each other."""

import signal
from datetime import timedelta
from functools import partial

import pytest

from evenkeel.flows.drain.lease.wire import DURATION
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.reconciler_process import reconciling

pytestmark = pytest.mark.controlplane

EXPIRED = DURATION + timedelta(seconds=3)
"""After so long a Lease is free: the API server tells both sides its time in whole seconds."""


def test_the_schedule_alone_finishes_the_work_when_the_process_is_killed_in_mid_handover(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 6, start="4s"))
    site.add_nodes("b")

    with reconciling(site, site.warning("a")) as process:
        site.wait_for_releases("web", 3)
        process.kill()
        process.wait(10)
    assert site.released("web")

    # The Lease of the dead process has expired when the schedule comes round.
    evenkeel = site.deploy()
    site.clock.sleep(EXPIRED)
    evenkeel.schedule()
    site.wait_for("all to run on b", lambda: site.is_settled("web", 6, "b"))
    assert site.witness.lowest("web") == 6


def test_a_process_that_was_stopped_for_longer_than_its_lease_evicts_no_pod_when_it_wakes(
    site: Site,
) -> None:
    """It was about to evict pods whose replacements are Ready; another has done it by now."""
    site.apply(budget("single", minAvailable=1))
    site.add_nodes("a")
    site.run(deployment("web", 6, start="4s"), deployment("single", 1))
    site.add_nodes("b")

    with reconciling(site, site.warning("a")) as process:
        site.wait_for_releases("web", 3)
        process.send_signal(signal.SIGSTOP)
        stopped_at = site.clock.now()
        evenkeel = site.deploy()
        until = stopped_at + EXPIRED
        site.clock.sleep(until - site.clock.now())
        evenkeel.schedule()
        for name, replicas in (("web", 6), ("single", 1)):
            site.wait_for(f"{name} to run on b", partial(site.is_settled, name, replicas, "b"))
        before = len(site.witness.departures())
        process.send_signal(signal.SIGCONT)
        site.clock.sleep(timedelta(seconds=3))
        assert len(site.witness.departures()) == before

    assert site.witness.lowest("web") == 6
    assert site.witness.lowest("single") == 1
