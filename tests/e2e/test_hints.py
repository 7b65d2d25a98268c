"""Rebalance recommendations: a hint moves what it can, within its share, and never by force."""

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment

pytestmark = pytest.mark.controlplane


def is_cordoned(site: Site, short: str) -> bool:
    return bool(site.node(short)["spec"].get("unschedulable"))


def test_one_of_two_nodes_is_drained_when_hints_may_have_a_tenth_of_four(site: Site) -> None:
    shorts = ("a", "b", "c", "d")
    site.add_nodes(*shorts)
    site.run(deployment("web", 8))
    before = {short: {p["metadata"]["uid"] for p in site.pods_on(short)} for short in shorts}
    assert before["a"]
    assert before["b"]
    evenkeel = site.deploy()

    evenkeel.notify(site.recommendation("a", ago=1), site.recommendation("b"))

    site.wait_for("the older hint's node to be empty", lambda: not site.pods_on("a"))
    evenkeel.wait_until_at_rest()
    assert is_cordoned(site, "a")
    assert site.is_marked("b")
    assert not is_cordoned(site, "b")
    assert before["b"] <= {p["metadata"]["uid"] for p in site.pods_on("b")}
    assert site.witness.lowest("web") == 8


def test_a_pod_stays_when_a_hint_meets_a_budget_that_allows_no_disruption(site: Site) -> None:
    site.add_nodes("a")
    site.apply(budget("web", maxUnavailable=0))
    site.run(deployment("web", 2))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.recommendation("a"))

    site.wait_for("the cordon", lambda: is_cordoned(site, "a"))
    evenkeel.wait_until_at_rest()
    assert len(site.pods_on("a")) == 2
    assert not site.witness.ever_released()


def test_a_warning_is_carried_through_when_a_hint_came_before_it(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    evenkeel = site.deploy()
    evenkeel.notify(site.recommendation("a"))
    site.wait_for_releases("web", 2)

    evenkeel.notify(site.warning("a", ago=105))

    site.wait_for("all to be told to go", lambda: not site.pods_on("a"))
    assert len(site.witness.departures()) >= 2
    assert not site.released("web")
