"""A rebalance recommendation in others' clusters: no workload has fewer pods than it had."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from evenkeel.decisions.drain import route
from evenkeel.model import names
from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulator.api.objects import owners_of
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector, stateful_set, volume
from tests.e2e.others.neighbours import EVERYTHING, add_bound_pod, add_rollout, adopters
from tests.e2e.others.policed import REFUSED, UNDONE, needs_policy, policies
from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import volume as mounting
from tests.kit.policies import denying, in_force

pytestmark = pytest.mark.controlplane

LASTS = 6.0
"""Seconds in which a StatefulSet's pod went and came back many times."""
BACK = ("db", "pinned", "loop")
"""What replaces their pods comes to the same node."""
NOWHERE = ("large", "zoned", "stored")
"""No other node takes their pods: no room, another zone, a volume in another zone."""
REPLICAS = {
    **dict.fromkeys(REFUSED, 3),
    **dict.fromkeys(NOWHERE, 1),
    "own": 3,
    "rolled": 3,
    "denied": 2,
    "db": 2,
    "loop": 2,
    "pinned": 1,
    "agent": 1,
}
HERE, THERE = "eu-central-1a", "eu-central-1b"


@pytest.fixture
def hinted(the_hinted: Site) -> Site:
    the_hinted.tell()
    return the_hinted


@pytest.fixture(scope="module")
def the_hinted(control_plane: ControlPlane) -> Iterator[Site]:
    """The node a is recommended to be replaced, and has not been for a while."""
    with control_plane.namespace() as name, Site.open(control_plane, name) as site:
        site.add_nodes("a", zone=HERE, cpu="12")
        here = {"kubernetes.io/hostname": site.node_name("a")}
        site.apply(*volume("stored", name, zone=HERE))
        site.run(
            *(deployment(app, 3) for app in (*REFUSED, "own")),
            deployment("denied", 2),
            deployment("loop", 2, tolerations=EVERYTHING, nodeSelector=here),
            stateful_set("db", 2, tolerations=EVERYTHING),
            stateful_set("pinned", 1, nodeSelector=here),
            stateful_set("large", 1, cpu="5"),
            stateful_set("zoned", 1, nodeSelector={names.ZONE: HERE}),
            stateful_set("stored", 1, **mounting("stored")),
            stateful_set("free", 1),
        )
        add_bound_pod(site, "agent", "a")
        add_rollout(site, "rolled", 3)
        site.apply(*adopters("own"))
        site.add_nodes("b", spot=False, zone=THERE, cpu="3")
        meanwhile = (*policies(site), denying(name, "denied", beginning="denied-"))
        with (
            pytest.MonkeyPatch.context() as patch,
            in_force(control_plane, name, *meanwhile),
        ):
            patch.setattr(route, "SETTLES", timedelta())  # as if all had run for hours
            evenkeel = site.deploy()
            evenkeel.notify(site.recommendation("a"))
            site.wait_for("own to run on b", lambda: site.is_settled("own", 3, "b"))
            site.wait_for("free to run on b", lambda: site.is_settled("free", 1, "b"))
            site.wait_for("rolled to run on b", lambda: site.is_settled("rolled", 3, "b"))
            site.let_pass(LASTS)
            yield site


@pytest.mark.parametrize("app", REPLICAS)
def test_no_workload_has_fewer_pods_than_it_had(hinted: Site, app: str) -> None:
    assert hinted.witness.lowest(app) == REPLICAS[app]


@pytest.mark.parametrize("app", [*BACK, *NOWHERE, "agent"])
def test_a_pod_that_can_be_nowhere_else_or_not_be_handed_over_stays(hinted: Site, app: str) -> None:
    assert not hinted.witness.departures(**selector(app))
    assert not hinted.witness.ever_released(**selector(app))


@pytest.mark.parametrize("app", [each for each in REFUSED if each not in UNDONE])
def test_a_pod_whose_release_is_refused_stays_as_it_was(hinted: Site, app: str) -> None:
    assert len(hinted.pods_on("a", **selector(app))) == 3
    assert len(hinted.witness.pods(**selector(app))) == 3
    gone = {d.pod["spec"].get("nodeName") for d in hinted.witness.departures(**selector(app))}
    assert hinted.node_name("a") not in gone


@pytest.mark.parametrize("app", UNDONE)
def test_a_pod_whose_release_is_undone_in_part_is_put_back(hinted: Site, app: str) -> None:
    """Its ReplicaSet has made another meanwhile, and deletes the one or the other."""
    needs_policy(hinted, app)
    pods = hinted.witness.pods(**selector(app))
    assert len(pods) == 3
    assert {owner["kind"] for pod in pods for owner in owners_of(pod)} == {"ReplicaSet"}
    assert not any(map(is_released, pods))
    assert len(hinted.witness.departures(**selector(app))) <= 3
