"""Reconcilers that die, and reconcilers that do not know of each other."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.fixtures.control_plane import ROOT

pytestmark = pytest.mark.controlplane


@contextmanager
def reconciling_process(
    site: Site, *events: Mapping[str, Any]
) -> Iterator["subprocess.Popen[str]"]:
    """A process that marks the nodes of these events and then reconciles for ever."""
    command = [sys.executable, "-m", "tests.e2e.reconciler_process"]
    with subprocess.Popen(
        [*command, str(site.control_plane.kubeconfig)], cwd=ROOT, stdin=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.writelines(json.dumps(event) + "\n" for event in events)
            process.stdin.close()
            yield process
        finally:
            process.kill()


def test_the_schedule_alone_finishes_the_work_when_the_process_is_killed_in_mid_handover(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 6, start="4s"))
    site.add_nodes("b")

    with reconciling_process(site, site.warning("a")) as process:
        site.wait_for_releases("web", 3)
        process.kill()
        process.wait(10)
    assert site.released("web")

    # The Lease of the dead process has expired when the schedule comes round.
    evenkeel = site.deploy()
    site.clock.skip(timedelta(minutes=1))
    evenkeel.schedule()
    site.wait_for("all to run on b", lambda: site.is_settled("web", 6, "b"))
    assert site.witness.lowest("web") == 6


def test_nothing_goes_too_many_when_two_reconcilers_work_without_their_lease(site: Site) -> None:
    site.add_nodes("a", "b")
    site.apply(budget("single", minAvailable=1))
    site.run(deployment("web", 10), deployment("single", 1))
    site.add_nodes("c")
    both = site.deploy(forbids_leases=True), site.deploy(forbids_leases=True)
    warnings = site.warning("a"), site.warning("b")

    for evenkeel in both:
        evenkeel.notify(*warnings)

    for name, replicas in (("web", 10), ("single", 1)):
        site.wait_for(f"{name} to run on c", partial(site.is_settled, name, replicas, "c"))
    for evenkeel in both:
        evenkeel.wait_until_at_rest()
        assert evenkeel.cluster.changes
    assert site.witness.lowest("web") == 10
    assert site.witness.lowest("single") == 1
    assert len(site.witness.departures(**selector("web"))) == 10
