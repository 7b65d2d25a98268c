"""A gang of Kubernetes' own when a node dies: the scheduler places all or none, and so it goes."""

from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector

pytestmark = pytest.mark.controlplane

AGO = 100.0
"""How old the warning is when it comes: 20 s are left of its 120."""


def group(site: Site, minimum: int, *, is_one: bool = False, **notes: str) -> dict[str, Any]:
    """The group ``train``; 0: its pods are scheduled one by one."""
    groups = site.control_plane.pod_groups
    assert groups is not None
    spec: dict[str, Any] = {
        "schedulingPolicy": {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    }
    if is_one:
        is_text = groups.api_version.endswith("v1alpha2")
        spec["disruptionMode"] = "PodGroup" if is_text else {"all": {}}
    return {
        "apiVersion": groups.api_version,
        "kind": "PodGroup",
        "metadata": {"name": "train", "annotations": notes},
        "spec": spec,
    }


def member(name: str, replicas: int, **more: Any) -> dict[str, Any]:
    """A Deployment whose pods are of the group."""
    return deployment(name, replicas, cpu="1", schedulingGroup={"podGroupName": "train"}, **more)


def begin(site: Site, minimum: int, *, is_one: bool = False, **notes: str) -> None:
    """Four pods of two Deployments on two nodes, two on each; then there is room elsewhere."""
    site.apply(group(site, minimum, is_one=is_one, **notes))
    site.add_nodes("a", cpu="2")
    site.apply(member("ps", 1), member("worker", 3, grace=10))
    site.let_pass(2)
    fit = 2
    placed = fit if minimum <= fit else 0
    assert len(site.pods_on("a")) == placed, "the scheduler places the minimum or none"
    site.add_nodes("b", cpu="2")
    site.run(member("ps", 1), member("worker", 3, grace=10))
    assert (len(site.pods_on("a")), len(site.pods_on("b"))) == (2, 2)
    site.add_nodes("free", spot=False, cpu="8")


def test_where_too_few_stay_those_on_the_dying_node_go_together_and_no_others(site: Site) -> None:
    begin(site, 3)
    stay = {pod["metadata"]["uid"] for pod in site.pods_on("b")}
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a", ago=AGO))
    site.wait_for("the node to be empty", lambda: not site.pods_on("a"), seconds=40)
    site.wait_for("the gang to be whole", lambda: _whole(site), seconds=40)
    assert {pod["metadata"]["uid"] for pod in site.pods_on("b")} == stay
    told = [each for each in evenkeel.recorder.decisions if each.reason == "GangBroken"]
    assert len(told) == 2
    gone = [each.at for name in ("ps", "worker") for each in _departures(site, name)]
    assert len(gone) == 2
    assert (max(gone) - min(gone)).total_seconds() < 1


def test_where_enough_stay_each_is_replaced_before_it_goes(site: Site) -> None:
    begin(site, 2)
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    site.wait_for("the node to be empty", lambda: not site.pods_on("a"), seconds=40)
    site.wait_for("the gang to be whole", lambda: _whole(site), seconds=40)
    assert site.witness.lowest("ps") == 1
    assert site.witness.lowest("worker") == 3


def test_a_group_with_the_basic_policy_is_no_gang(site: Site) -> None:
    begin(site, 0)
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    site.wait_for("the node to be empty", lambda: not site.pods_on("a"), seconds=40)
    site.wait_for("all to be there", lambda: _whole(site), seconds=40)
    assert site.witness.lowest("ps") == 1
    assert site.witness.lowest("worker") == 3
    assert not [each for each in evenkeel.recorder.decisions if "gang" in each.message]


@pytest.mark.parametrize(
    ("minimum", "is_one", "notes"),
    [
        pytest.param(3, False, {names.GANG_AT_NOTICE: "all"}, id="annotation"),
        pytest.param(2, True, {}, id="disruptionMode of a gang"),
        pytest.param(0, True, {}, id="disruptionMode without a gang"),
    ],
)
def test_whose_owner_says_so_goes_whole(
    site: Site, *, minimum: int, is_one: bool, notes: dict[str, str]
) -> None:
    """Enough would stay of the gang of two; its disruptionMode says that none is to."""
    begin(site, minimum, is_one=is_one, **notes)
    before = {pod["metadata"]["uid"] for node in ("a", "b") for pod in site.pods_on(node)}
    site.deploy().notify(site.warning("a", ago=AGO))
    site.wait_for(
        "all four to be others",
        lambda: _whole(site) and not before & {pod["metadata"]["uid"] for pod in _pods(site)},
        seconds=60,
    )


def test_a_recommendation_leaves_a_gang(site: Site) -> None:
    begin(site, 1)
    evenkeel = site.deploy()
    evenkeel.notify(site.recommendation("a"))
    site.wait_for("the node to be marked", lambda: site.is_marked("a"))
    evenkeel.wait_until_at_rest()
    assert len(site.pods_on("a")) == 2
    assert {each.reason for each in evenkeel.recorder.decisions} >= {"Gang"}


def _pods(site: Site) -> list[Any]:
    return [pod for name in ("ps", "worker") for pod in site.witness.pods(**selector(name))]


def _whole(site: Site) -> bool:
    return (site.witness.ready("ps"), site.witness.ready("worker")) == (1, 3)


def _departures(site: Site, name: str) -> list[Any]:
    return list(site.witness.departures(**selector(name)))
