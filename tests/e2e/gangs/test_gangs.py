"""A gang of Kubernetes' own when a node dies: the scheduler places all or none, and so it goes."""

from typing import Any

import pytest

from evenkeel.errors import NotFoundError
from evenkeel.model.gang import CoschedulingPodGroup, PodGroup
from evenkeel.model.metrics import Metric
from evenkeel.model.request import List, Listing, Selection
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.unit.adapters.kubernetes.making import Lines

pytestmark = pytest.mark.controlplane

AGO = 100.0
"""How old the warning is when it comes: 20 s are left of its 120."""


def group(site: Site, minimum: int, *, is_one: bool = False) -> dict[str, Any]:
    """The group ``train``; 0: its pods are scheduled one by one."""
    groups = site.control_plane.pod_groups
    assert groups is not None
    policy = {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if is_one:
        is_text = groups.api_version.endswith("v1alpha2")
        spec["disruptionMode"] = "PodGroup" if is_text else {"all": {}}
    api, metadata = groups.api_version, {"name": "train"}
    return {"apiVersion": api, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def member(name: str, replicas: int, **more: Any) -> dict[str, Any]:
    """A Deployment whose pods are of the group."""
    return deployment(name, replicas, cpu="1", schedulingGroup={"podGroupName": "train"}, **more)


def test_where_too_few_stay_those_on_the_dying_node_go_together_and_no_others(site: Site) -> None:
    site.apply(group(site, 3))
    site.add_nodes("a", cpu="2")
    site.apply(member("ps", 1), member("worker", 3, grace=10))
    site.let_pass(2)
    assert not site.pods_on("a"), "the scheduler places the minimum or none"
    site.add_nodes("b", cpu="2")
    site.run(member("ps", 1), member("worker", 3, grace=10))
    site.add_nodes("free", spot=False, cpu="8")
    stay = {pod["metadata"]["uid"] for pod in site.pods_on("b")}
    assert (len(site.pods_on("a")), len(stay)) == (2, 2)
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a", ago=AGO))
    site.wait_for("the node to be empty", lambda: not site.pods_on("a"))
    ready = site.witness.ready
    site.wait_for("the gang", lambda: (ready("ps"), ready("worker")) == (1, 3))
    assert {pod["metadata"]["uid"] for pod in site.pods_on("b")} == stay
    told = [each for each in evenkeel.recorder.decisions if each.reason == "GangBroken"]
    assert len(told) == 2
    departures = site.witness.departures
    gone = [each.at for name in ("ps", "worker") for each in departures(**selector(name))]
    assert len(gone) == 2
    assert (max(gone) - min(gone)).total_seconds() < 1


@pytest.mark.parametrize(
    ("minimum", "is_one"),
    [(3, False), (2, True), (0, True)],
    ids=["gang", "gang, disrupted together", "no gang, disrupted together"],
)
def test_a_group_is_read_and_a_kind_that_is_not_served_is_said(
    site: Site, minimum: int, *, is_one: bool
) -> None:
    site.apply(group(site, minimum, is_one=is_one))
    journal = Lines()
    kubeconfig = str(site.control_plane.kubeconfig)
    with from_kubeconfig(kubeconfig=kubeconfig, journal=journal) as cluster:
        own, other = cluster.perform(
            [List(Selection(kind, site.namespace)) for kind in (PodGroup, CoschedulingPodGroup)]
        )
    assert isinstance(own.result, Listing), own.error
    (found,) = own.result.items
    assert isinstance(found, PodGroup)
    least = None if is_one else minimum
    assert (found.name, found.minimum, found.is_one) == ("train", least, is_one)
    assert isinstance(other.error, NotFoundError)
    assert journal.counts == {Metric.KINDS_NOT_SERVED: 1}
    assert "scheduling.x-k8s.io/v1alpha1" in journal.told[0]
