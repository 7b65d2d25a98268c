"""A node dies and nothing else has room: every pod stays as long as it can, and then goes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from evenkeel.model.decision import Verb
from tests.e2e.application import Evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import (
    bare_pod,
    budget,
    daemon_set,
    deployment,
    job,
    selector,
    stateful_set,
)
from tests.e2e.witness import Departure
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

SINCE_THE_WARNING = 105.0
GRACE = timedelta(seconds=2)
EARLIEST = GRACE + timedelta(seconds=2)
"""Before its deadline a pod needs its grace period and a second for the eviction itself; the
third second is for what the evictions beside it take."""


@dataclass(frozen=True)
class End:
    """A site whose node a was lost at the deadline, and who dealt with it."""

    site: Site
    evenkeel: Evenkeel
    deadline: datetime

    def departure(self, workload: str) -> Departure:
        """How the workload's pod on the node went."""
        (departure,) = self.site.departures_from("a", **selector(workload))
        return departure


@pytest.fixture
def end(the_end: End) -> End:
    the_end.site.tell()
    return the_end


@pytest.fixture(scope="module")
def the_end(control_plane: ControlPlane) -> Iterator[End]:
    """The node a, the only one with room, had 15 s left, and they have passed."""
    with control_plane.namespace() as name, Site.open(control_plane, name) as site:
        site.add_nodes("a")
        site.apply(
            budget("guarded", minAvailable=1),
            budget("counting", minAvailable=1),
        )
        site.run(
            deployment("web", 1),
            deployment("guarded", 1, annotations={"evenkeel.dev/handover": "never"}),
            job("counting"),
            job("plain"),
            stateful_set("db", 1),
            bare_pod("alone"),
            daemon_set("agent"),
        )
        evenkeel = site.deploy()
        warning = site.warning("a", ago=SINCE_THE_WARNING)
        deadline = datetime.fromisoformat(warning["time"]) + timedelta(seconds=120)
        evenkeel.notify(warning)
        site.wait_for("the deadline", lambda: site.clock.now() >= deadline)
        yield End(site, evenkeel, deadline)


def test_nothing_evictable_is_left_when_the_last_moment_has_passed(end: End) -> None:
    left = [d for d in end.site.witness.departures() if d.at + GRACE <= end.deadline]
    assert {d.pod["metadata"]["labels"]["app"] for d in left} >= {
        *("web", "guarded", "counting", "plain", "db", "alone")
    }
    assert all(p["metadata"]["labels"]["app"] == "agent" for p in end.site.pods_on("a"))


@pytest.mark.parametrize("workload", ["web", "guarded", "counting", "plain", "alone"])
def test_a_pod_goes_at_its_last_moment_and_not_before_when_nothing_replaces_it(
    end: End, workload: str
) -> None:
    assert end.deadline - EARLIEST <= end.departure(workload).at <= end.deadline


def test_a_budget_holds_until_the_last_moment_when_it_blocks_a_pod(end: End) -> None:
    uid = end.departure("guarded").pod["metadata"]["uid"]
    tried = [d for d in end.evenkeel.recorder.decisions if d.subject.uid == uid and d.write]
    assert tried[0].verb is Verb.EVICT
    assert not tried[0].forced
    assert tried[-1].verb is Verb.DELETE
    assert tried[-1].reason == "BudgetRefusedAtLastMoment"


@pytest.mark.nightly
def test_a_pod_stands_past_that_while_its_replacement_starts(site: Site) -> None:
    """It has 40 s left and a grace period of 30 s, and its replacement needs 15 s to get Ready."""
    site.add_nodes("a")
    site.run(deployment("web", 1, start="15s", grace=30))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a", ago=80))

    site.wait_for("it to be replaced", lambda: site.is_settled("web", 1, "b"))
    assert site.witness.lowest("web") == 1
