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
        (departure,) = [
            departure
            for departure in self.site.witness.departures(**selector(workload))
            if departure.pod["spec"].get("nodeName") == self.site.node_name("a")
        ]
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


def test_a_daemon_stays_when_its_node_dies(end: End) -> None:
    assert end.site.pods_on("a", **selector("agent"))
    assert not end.site.witness.departures(**selector("agent"))


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


@pytest.mark.parametrize(
    ("workload", "reason"),
    [("counting", "TerminationByEvenkeel"), ("plain", "EvictionByEvictionAPI")],
)
def test_a_job_goes_on_when_its_pod_leaves_with_the_condition_of_a_disruption(
    end: End, workload: str, reason: str
) -> None:
    conditions = end.departure(workload).pod["status"]["conditions"]
    disruption = next(c for c in conditions if c["type"] == "DisruptionTarget")
    assert (disruption["status"], disruption["reason"]) == ("True", reason)
    end.site.wait_for(
        "the Job to make a new pod", lambda: len(end.site.witness.pods(**selector(workload))) == 1
    )
    status = end.site.get("batch/v1", "Job", workload)["status"]
    assert not [c for c in status.get("conditions", ()) if c["type"].startswith("Fail")]


def test_a_warning_tells_of_a_bare_pod_when_it_is_lost(end: End) -> None:
    def told() -> bool:
        events = end.site.control_plane.items(
            "v1",
            "Event",
            end.site.namespace,
            "fieldSelector=involvedObject.kind%3DPod,involvedObject.name%3Dalone,type%3DWarning",
        )
        return any(each["reportingComponent"] == "evenkeel" for each in events)

    # Events come at the end of an invocation, and every half minute while it works.
    end.site.wait_for("the Event", told, seconds=60)


def test_the_only_ordinal_goes_at_once_when_its_node_dies(end: End) -> None:
    assert end.departure("db").at < end.deadline - timedelta(seconds=10)
