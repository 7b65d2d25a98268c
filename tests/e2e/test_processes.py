"""Reconcilers that die, and reconcilers that do not know of each other."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from evenkeel.flows.drain.leadership import DURATION
from evenkeel.model import names
from tests.e2e.application import Evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane

EXPIRED = DURATION + timedelta(seconds=3)
"""After so long a Lease is free: the API server tells both sides its time in whole seconds."""


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

    with reconciling_process(site, site.warning("a")) as process:
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


@pytest.mark.parametrize("seconds", [15, -15], ids=["ahead", "behind"])
def test_a_process_whose_clock_is_wrong_finds_the_lease_of_another_held(
    site: Site, seconds: int
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 1))

    with reconciling_process(site, site.warning("a")):
        site.wait_for_releases("web", 1)  # there is no node for its replacement
        holder = lease(site)["holderIdentity"]
        site.clock.skip(timedelta(seconds=seconds))
        evenkeel = site.deploy()
        evenkeel.schedule()
        site.wait_for("it to look", lambda: outcomes(evenkeel) == ["LeaseHeld"])
        assert lease(site)["holderIdentity"] == holder


def outcomes(evenkeel: Evenkeel) -> list[object]:
    return [told["outcome"] for line, told in evenkeel.recorder.notes if line == "invocation ended"]


def lease(site: Site) -> Any:
    found = site.control_plane.get(
        *("coordination.k8s.io/v1", "Lease", names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
    )
    return found["spec"]


def test_without_the_right_to_the_lease_no_pod_is_taken_before_its_last_moment(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    site.add_nodes("b")
    evenkeel = site.deploy(forbids_leases=True)
    evenkeel.notify(site.warning("a"))
    site.wait_for("the mark", partial(site.is_marked, "a"))
    site.clock.sleep(timedelta(seconds=4))

    assert not site.released("web")
    assert not site.witness.departures(**selector("web"))
    assert evenkeel.recorder.total("LeaseRefused") > 0
