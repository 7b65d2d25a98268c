"""The extender, asked by a real scheduler, with the rights of manifests/ alone."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from tests.e2e.accounts import kubeconfig_of
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import Runs
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.scheduling.scheduler import SERVE, Scheduler, asking, running
from tests.kit import builders

pytestmark = pytest.mark.controlplane


def test_a_floor_is_held_without_a_webhook(ground: Ground, extended: Scheduler) -> None:
    ground.add_nodes(spot=2, on_demand=2)
    ground.apply(deployment("web", 6, annotations={names.ON_DEMAND: "2"}, schedulerName=PROFILE))
    assert len(on_demand(ground.settled(6))) == 2
    ground.scale("Deployment", "web", 20)
    assert len(on_demand(ground.settled(20))) == 2
    log = ground.log().lower()
    assert "forbidden" not in log + extended.log.read_text().lower()
    assert "without an answer" not in log


@pytest.mark.usefixtures("extended")
def test_a_floor_without_on_demand_nodes_goes_to_spot_after_a_while(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=0)
    ground.apply(deployment("web", 4, annotations={names.ON_DEMAND: "2"}, schedulerName=PROFILE))
    ground.wait_for("two pods that wait", lambda: len(refused(ground)) == 2)

    Runs(ground, terms=Terms(relax_after=timedelta()))()

    assert len(ground.settled(4)) == 4


def refused(ground: Ground) -> list[dict[str, Any]]:
    """What is said of the pods for which the scheduler has found no node."""
    said = (each for pod in ground.pods() for each in pod["status"].get("conditions", ()))
    return [each for each in said if each.get("reason") == "Unschedulable"]


@pytest.mark.usefixtures("extended")
def test_a_doomed_node_gets_none_and_its_pool_gets_the_last(ground: Ground) -> None:
    plane = ground.control_plane
    kinds = {"doomed": "m5.large", "beside": "m5.large", "other": "c5.large"}
    for name, kind in kinds.items():
        labels = {"node.kubernetes.io/instance-type": kind}
        plane.add_node(f"{ground.namespace}-{name}", spot=True, labels=labels)
    now = SystemClock().now()
    notice = builders.notice(deadline=now + timedelta(minutes=2), since=now, cordoned_at=now)
    # Without the cordon and the taint, which the scheduler itself would heed.
    mark = {"metadata": {"annotations": {names.NOTICE: msgspec.json.encode(notice).decode()}}}
    plane.merge("v1", "Node", f"{ground.namespace}-doomed", mark)
    ground.apply(deployment("web", 10, cpu="1", schedulerName=PROFILE))
    nodes = [pod["spec"]["nodeName"].rpartition("-")[2] for pod in ground.settled(10)]
    assert (nodes.count("doomed"), nodes.count("other"), nodes.count("beside")) == (0, 8, 2)


@pytest.mark.usefixtures("extended")
def test_without_the_extender_the_scheduler_goes_on(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=2)
    ground.webhooks[0].kill()
    ground.apply(deployment("web", 6, cpu="15", schedulerName=PROFILE))
    assert on_demand(ground.settled(6)) == [], "the profile is still there"


@pytest.mark.usefixtures("in_cluster")
def test_one_that_may_not_look_is_passed_over(ground: Ground) -> None:
    plane = ground.control_plane
    plane.kubectl("delete", "clusterrolebinding", "evenkeel-extender")
    account = kubeconfig_of(plane, SERVE, ground.folder)
    port = ground.start(kubeconfig=account, options=("--extender",))
    with running(plane, asking(ground, port), ground.folder):
        ground.add_nodes(spot=1, on_demand=1)
        floor = {names.ON_DEMAND: "2"}
        ground.apply(deployment("web", 3, annotations=floor, schedulerName=PROFILE))
        ground.settled(3)
    log = ground.log()
    assert "a watch is refused" in log
    assert "the scheduler goes on without an answer: not all nodes" in log
