"""Pods that choose the profile ``evenkeel`` by their schedulerName."""

import pytest

from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.scheduling.scheduler import Scheduler

pytestmark = pytest.mark.controlplane


def test_its_pods_prefer_spot_and_go_elsewhere_when_it_is_full(
    ground: Ground, profile: Scheduler
) -> None:
    """The nodes on demand are empty and in a zone of their own: all that spreads is for them."""
    for number in range(2):
        for kind, zone in (("spot", "a"), ("demand", "b")):
            name = f"{ground.namespace}-{kind}-{number}"
            ground.control_plane.add_node(name, spot=kind == "spot", cpu="64", zone=zone)
    ground.apply(deployment("web", 16, cpu="7", schedulerName=PROFILE))
    assert on_demand(ground.settled(16)) == []
    ground.scale("Deployment", "web", 20)
    assert len(on_demand(ground.settled(20))) == 2, "spot has room for 18"
    assert "forbidden" not in profile.log.read_text().lower()


@pytest.mark.usefixtures("profile")
def test_pods_of_the_cluster_s_own_scheduler_are_spread_as_ever(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=2)
    ground.apply(deployment("web", 8, cpu="1"))
    assert len(on_demand(ground.settled(8))) == 4


@pytest.mark.usefixtures("profile")
def test_the_webhook_and_the_profile_agree(ground: Ground) -> None:
    """What the webhook requires is kept, and what it prefers the profile prefers."""
    ground.add_nodes(spot=2, on_demand=2)
    ground.serve()
    floor = {names.ON_DEMAND: "2"}
    ground.apply(deployment("web", 6, annotations=floor, schedulerName=PROFILE))
    assert len(on_demand(ground.settled(6))) == 2
