"""A spot pool at zero, on the real API server with the real scheduler: its node comes late."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import REST
from evenkeel.model import names
from evenkeel.model.request import List
from evenkeel.model.spot_rest import SpotRest
from tests.e2e.cli.commands import evenkeel, started
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import all_ready
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.witness import Witness
from tests.kit.autoscaler import requires_spot
from tests.kit.manifests import resource

pytestmark = pytest.mark.controlplane

SIZE = 4
FLOOR = 1


def waiting(ground: Ground) -> Sequence[dict[str, Any]]:
    """The pods without a node, all of which may go to spot alone."""
    found = [pod for pod in ground.pods() if not pod["spec"].get("nodeName")]
    assert all(map(requires_spot, found))
    return found


def known(ground: Ground) -> SpotRest:
    """What is known of moves without room."""
    (lease,) = ask(ground.control_plane.cluster, List(REST)).items
    return SpotRest.of(lease, ShiftedClock().now() + timedelta(minutes=1))


def planned(ground: Ground, *where: str) -> tuple[str, str]:
    """What ``evenkeel restore`` would do with the workload, and why."""
    done = evenkeel(ground.control_plane, "restore", *where, "-o", "json")
    items = json.loads(done.stdout)["items"]
    (row,) = [each for each in items if each["subject"]["name"] == "web"]
    return row["action"], row["reason"]


def test_a_node_is_made_for_one_pod_which_goes_over_and_then_more_go(ground: Ground) -> None:
    with Witness(ground.control_plane, ground.namespace, ShiftedClock()) as witness:
        ground.add_nodes(spot=0, on_demand=1)
        ground.serve()
        notes = {names.ON_DEMAND: str(FLOOR)}
        ground.apply(deployment("web", SIZE, annotations=notes, start="200ms"))
        all_ready(ground, SIZE)
        assert witness.count("web", {"app": "web"}) == SIZE
        assert planned(ground, "-A") == ("release", "AboveFloor")
        assert planned(ground, "-n", ground.namespace) == ("leave", "NoRoomOnSpot")

        with started(ground.control_plane, "restore", "-A", "--apply") as restoring:
            ground.wait_for("a pod that waits for spot", lambda: waiting(ground))
            for _ in range(30):
                assert len(waiting(ground)) == 1
                assert len(ground.pods()) == SIZE + 1
            ground.add_nodes(spot=1, on_demand=0)  # it comes late
            out, err = restoring.communicate(timeout=120)
        assert (restoring.returncode, err) == (0, ""), out
        assert len(on_demand(all_ready(ground, SIZE))) == FLOOR
        assert witness.lowest("web") == SIZE
    assert (known(ground).failures, out.count("waits for one")) == (0, 1)


def test_no_pod_of_a_lower_priority_goes_for_a_move(ground: Ground) -> None:
    """The scheduler preempts for a pod that may go to full spot nodes alone."""
    important = f"{ground.namespace}-important"
    priority = resource("PriorityClass", important) | {"value": 1000}
    with Witness(ground.control_plane, ground.namespace, ShiftedClock()) as witness:
        ground.control_plane.apply(priority)
        ground.add_nodes(spot=1, on_demand=1)
        ground.serve()
        on_spot = {names.EKS_CAPACITY: "SPOT"}
        ground.apply(deployment("batch", SIZE, cpu="16", nodeSelector=on_spot, start="200ms"))
        all_ready(ground, SIZE)
        web = deployment("web", 2, cpu="8", priorityClassName=important, start="200ms")
        ground.apply(web)
        all_ready(ground, SIZE + 2)
        assert witness.count("batch", {"app": "batch"}) == SIZE
        before = {pod["metadata"]["uid"] for pod in ground.pods()}

        done = evenkeel(ground.control_plane, "restore", "-A", "--apply")

        assert planned(ground, "-A") == ("leave", "NoRoomOnSpot")
        assert "others would have to go for it" in done.stdout
        assert {pod["metadata"]["uid"] for pod in all_ready(ground, SIZE + 2)} == before
        assert witness.lowest("batch") == SIZE
