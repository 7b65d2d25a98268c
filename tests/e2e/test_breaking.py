"""Workloads whose pod and replacement cannot run at once: they break before they make."""

from datetime import timedelta

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import RECREATE, deployment, selector, stateful_set, volume
from tests.e2e.witness import was_evicted

pytestmark = pytest.mark.controlplane


def test_ordinals_go_one_at_a_time_when_their_node_is_interrupted(site: Site) -> None:
    site.add_nodes("a")
    site.run(stateful_set("db", 3))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    site.wait_for("all to run on b", lambda: site.is_settled("db", 3, "b"), seconds=60)
    assert site.witness.lowest("db") == 2
    left = [each.pod for each in site.witness.departures() if was_evicted(each.pod)]
    assert [pod["metadata"]["name"] for pod in left] == ["db-2", "db-1", "db-0"]


def test_all_pods_go_at_once_when_two_versions_must_not_meet(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("solo", 3, strategy=RECREATE, start="3s"))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    site.wait_for("all to run on b", lambda: site.is_settled("solo", 3, "b"))
    first, *_, last = site.witness.departures(**selector("solo"))
    assert last.at - first.at < timedelta(seconds=2)
    assert not site.witness.ever_released()


def test_all_pods_go_at_once_when_one_node_alone_can_mount_their_volume(site: Site) -> None:
    site.add_nodes("a")
    site.apply(*volume("data", site.namespace))
    mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    site.run(deployment("store", 2, volumes=mounted, start="3s"))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    site.wait_for("all to run on b", lambda: site.is_settled("store", 2, "b"))
    first, last = site.witness.departures(**selector("store"))
    assert last.at - first.at < timedelta(seconds=2)
    assert not site.witness.ever_released()


def test_a_few_pods_go_at_a_time_when_their_owner_forbids_two_at_once(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 4, annotations={"evenkeel.dev/handover": "never"}))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))

    site.wait_for("all to run on b", lambda: site.is_settled("web", 4, "b"))
    assert site.witness.lowest("web") == 3
    assert not site.witness.ever_released()
