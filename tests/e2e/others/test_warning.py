"""A node dies while others refuse, undo, deny and take: who is missing, and who was told to go.

Workloads of others' clusters are on one node, and one that nobody meddles with.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from evenkeel.model.request import Delete, Evict
from evenkeel_sandbox.simulator.api.objects import owners_of, uid_of
from tests.e2e.application import Evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector, stateful_set
from tests.e2e.others.neighbours import EVERYTHING, add_bound_pod, add_rollout, adopters
from tests.e2e.others.policed import REFUSED, UNDONE, needs_policy, policies
from tests.kit.control_plane import ControlPlane
from tests.kit.others import WORDS
from tests.kit.policies import denying, in_force

pytestmark = pytest.mark.controlplane

LEFT = 40.0
"""Seconds from the warning to the deadline."""
GRACE = timedelta(seconds=2)


@dataclass(frozen=True)
class End:
    """The site when the node was lost, and who dealt with that."""

    site: Site
    evenkeel: Evenkeel
    deadline: datetime

    def gone(self, app: str) -> list[datetime]:
        """When the pods of a workload that were on the node were told to go."""
        return [each.at for each in self.site.departures_from("a", **selector(app))]


@pytest.fixture
def end(the_end: End) -> End:
    the_end.site.tell()
    return the_end


@pytest.fixture(scope="module")
def the_end(control_plane: ControlPlane) -> Iterator[End]:
    """The node a had so long to live, and that is over."""
    with control_plane.namespace() as name, Site.open(control_plane, name) as site:
        site.add_nodes("a")
        here = {"kubernetes.io/hostname": site.node_name("a")}
        site.run(
            *(deployment(app, 3) for app in (*REFUSED, "own", "plain")),
            deployment("denied", 2),
            deployment("loop", 2, tolerations=EVERYTHING, nodeSelector=here),
            stateful_set("db", 2, tolerations=EVERYTHING),
        )
        add_bound_pod(site, "agent", "a")
        add_rollout(site, "rolled", 3)
        site.apply(*adopters("own"), budget("rolled", maxUnavailable=1))
        site.add_nodes("b", spot=False)
        meanwhile = (*policies(site), denying(name, "denied", beginning="denied-"))
        with in_force(control_plane, name, *meanwhile):
            evenkeel = site.deploy()
            warning = site.warning("a", ago=120 - LEFT)
            deadline = datetime.fromisoformat(warning["time"]) + timedelta(seconds=120)
            evenkeel.notify(warning)
            site.wait_for("the deadline", lambda: site.clock.now() >= deadline, LEFT + 10)
            yield End(site, evenkeel, deadline)


@pytest.mark.parametrize("app", REFUSED)
def test_pods_go_one_at_a_time_when_their_releases_are_not_taken(end: End, app: str) -> None:
    needs_policy(end.site, app)
    assert end.site.witness.lowest(app) == 2
    assert len(end.gone(app)) == 3
    assert max(end.gone(app)) < end.deadline - GRACE - timedelta(seconds=3)


@pytest.mark.parametrize("app", REFUSED)
def test_all_of_them_run_elsewhere_and_none_is_left_over(end: End, app: str) -> None:
    assert end.site.is_settled(app, 3, "b")


def test_it_is_said_with_the_policy_s_words(end: End) -> None:
    told = [d for d in end.evenkeel.recorder.decisions if d.reason == "WriteRefused"]
    refused = [d for d in told if not d.subject.name.startswith(tuple(UNDONE))]
    assert {word for d in refused for word in REFUSED if d.subject.name.startswith(word)} == {
        "invalid",
        "forbidden",
    }
    assert all(WORDS in d.message for d in refused)


@pytest.mark.parametrize("app", UNDONE)
def test_it_is_said_of_what_is_undone(end: End, app: str) -> None:
    needs_policy(end.site, app)
    told = [d for d in end.evenkeel.recorder.decisions if d.reason == "WriteRefused"]
    assert any(d.subject.name.startswith(app) for d in told)


@pytest.mark.parametrize("app", ["own", "plain"])
def test_no_pod_is_missing_when_another_replica_set_selects_them(end: End, app: str) -> None:
    assert end.site.witness.lowest(app) == 3
    assert end.site.is_settled(app, 3, "b")
    released = end.site.witness.ever_released(**selector(app))
    assert len(released) == 3
    assert {owner["kind"] for pod in released for owner in owners_of(pod)} == {"Deployment"}


def test_pods_whose_evictions_are_denied_are_told_to_go_in_time(end: End) -> None:
    gone = end.gone("denied")
    assert len(gone) == 2
    assert max(gone) <= end.deadline - GRACE
    assert min(gone) >= end.deadline - timedelta(seconds=7)
    assert end.site.witness.lowest("denied") == 2


def test_pods_of_an_argo_rollout_are_replaced_before_they_go(end: End) -> None:
    assert end.site.witness.lowest("rolled") == 3
    assert end.site.is_settled("rolled", 3, "b")
    released = end.site.witness.ever_released(**selector("rolled"))
    assert len(released) == 3
    assert {owner["kind"] for pod in released for owner in owners_of(pod)} == {"Rollout"}


def test_a_budget_of_an_argo_rollout_lets_its_pods_go_when_they_are_replaced(end: End) -> None:
    assert len(end.gone("rolled")) == 3
    assert max(end.gone("rolled")) < end.deadline - timedelta(seconds=LEFT / 2)


def test_a_pod_bound_to_its_node_like_a_daemon_set_s_stays(end: End) -> None:
    assert not end.gone("agent")


def test_pods_of_a_deployment_that_come_back_to_the_node_are_told_to_go_once(end: End) -> None:
    writes = [each.request for each in end.evenkeel.cluster.changes]
    told = {each.uid for each in writes if isinstance(each, Evict | Delete)}
    pods = {uid_of(each.pod) for each in end.site.departures_from("a", **selector("loop"))}
    assert len(told & pods) == 2
    assert not end.site.witness.ever_released(**selector("loop"))


def test_pods_that_come_back_to_the_node_are_told_to_go_once(end: End) -> None:
    # The witness would count what kwok does, too, which deletes a pod by its name alone.
    writes = [each.request for each in end.evenkeel.cluster.changes]
    told = {each.uid: each.name for each in writes if isinstance(each, Evict | Delete)}
    assert Counter(name for name in told.values() if name.startswith("db-")) == {
        "db-0": 1,
        "db-1": 1,
    }


def test_no_object_is_written_more_than_twelve_times(end: End) -> None:
    written = Counter(
        str(each.request.reference)  # type: ignore[union-attr] # a write
        for each in end.evenkeel.cluster.changes
    )
    assert max(written.values()) <= 12
