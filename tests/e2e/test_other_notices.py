"""Notices of others than the spot market: Auto Scaling, AWS Health, reserved capacity."""

from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from tests.e2e.application import HOOK
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.kit.auto_scaling import REGION, StubAutoScaling

pytestmark = pytest.mark.controlplane

GROUP, TOKEN = "workers", "87654321-4321-4321-4321-210987654321"


def is_cordoned(site: Site, short: str) -> bool:
    return bool(site.node(short)["spec"].get("unschedulable"))


def completed(auto_scaling: StubAutoScaling) -> list[dict[str, str]]:
    return [r for r in auto_scaling.requests if r["Action"] == "CompleteLifecycleAction"]


@pytest.fixture
def auto_scaling() -> StubAutoScaling:
    """A group whose terminations wait for the hook: it knows hook, group, token and instance."""
    stub = StubAutoScaling()
    stub.put_hook(GROUP, HOOK, 300, 3600)
    return stub


def termination(site: Site, auto_scaling: StubAutoScaling, short: str) -> dict[str, Any]:
    """A group scales in: the event, and the group that waits."""
    event = site.sample("lifecycle-action-terminate")
    event["detail"]["EC2InstanceId"] = site.instance_id(short)
    auto_scaling.begin(GROUP, HOOK, TOKEN, site.instance_id(short))
    return event


def test_a_group_that_scales_in_waits_until_its_node_is_empty(
    site: Site, auto_scaling: StubAutoScaling
) -> None:
    site.add_nodes("a", spot=False)
    site.run(deployment("web", 3), deployment("solo", 1))
    site.add_nodes("b", spot=False)
    evenkeel = site.deploy(lifecycle=AutoScaling(REGION, auto_scaling.client()))

    evenkeel.notify(termination(site, auto_scaling, "a"))

    site.wait_for("the group to go on", lambda: completed(auto_scaling))
    assert not site.pods_on("a")
    (asked,) = completed(auto_scaling)
    assert asked["LifecycleActionToken"] == TOKEN
    assert asked["InstanceId"] == site.instance_id("a")
    assert (site.witness.lowest("web"), site.witness.lowest("solo")) == (3, 1)


def test_a_change_that_is_near_drains_its_nodes_and_one_that_is_far_is_a_hint(site: Site) -> None:
    site.add_nodes("near", "far", spot=False)
    site.apply(budget("web", maxUnavailable=0))
    site.run(deployment("web", 2))
    site.add_nodes("b", spot=False)
    evenkeel = site.deploy()
    for short, minutes in (("near", 10), ("far", 600)):
        event = site.sample("scheduled-change-retirement")
        start = site.clock.now() + timedelta(minutes=minutes)
        event["detail"] |= {
            "startTime": format_datetime(start, usegmt=True),
            "affectedEntities": [{"entityValue": site.instance_id(short), "status": "PENDING"}],
        }
        evenkeel.notify(event)

    site.wait_for("both to be cordoned", lambda: all(is_cordoned(site, n) for n in ("near", "far")))
    site.wait_for("the node that ends soon to be empty", lambda: not site.pods_on("near"))
    evenkeel.wait_until_at_rest()
    assert site.is_marked("far")
    assert site.witness.lowest("web") == 2


def test_reserved_capacity_that_is_called_back_is_left_before_its_end(site: Site) -> None:
    site.add_nodes("a", spot=False, is_reserved=True)
    site.run(deployment("web", 2))
    site.add_nodes("b", spot=False)
    evenkeel = site.deploy()
    event = site.sample("capacity-reservation-interruption")
    end = site.clock.now() + timedelta(minutes=2)
    event["detail"] |= {
        "instance-id": site.instance_id("a"),
        "instance-termination-time": end.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }

    evenkeel.notify(event)

    site.wait_for("the pods to be on another node", lambda: site.is_settled("web", 2, "b"))
    assert site.witness.lowest("web") == 2


def test_the_same_warning_about_an_on_demand_instance_is_refused(site: Site) -> None:
    site.add_nodes("a", spot=False)
    site.run(deployment("web", 2))
    evenkeel = site.deploy()
    event = site.sample("capacity-reservation-interruption")
    event["detail"]["instance-id"] = site.instance_id("a")

    evenkeel.notify(event)

    evenkeel.wait_until_quiet()
    assert not site.is_marked("a")
    assert len(site.pods_on("a")) == 2
