"""A spot pool at zero, on the real API server with the real scheduler: its node comes late."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import REST, Scope
from evenkeel.model import names
from evenkeel.model.request import List
from evenkeel.model.spot_rest import SpotRest
from evenkeel_cli.journal import Journal
from evenkeel_cli.restoring.real import Restoring
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment
from tests.e2e.placement.test_restore import all_ready
from tests.e2e.placement.webhook import EVENKEEL, Ground, on_demand
from tests.e2e.witness import Witness
from tests.kit.autoscaler import requires_spot
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane

SIZE = 4
FLOOR = 1


@pytest.fixture
def witness(ground: Ground) -> Iterator[Witness]:
    """It watches a workload that belongs on spot but for one pod, where no spot node is."""
    with Witness(ground.control_plane, ground.namespace, ShiftedClock()) as made:
        ground.add_nodes(spot=0, on_demand=2)
        ground.serve()
        ground.apply(
            deployment("web", SIZE, annotations={names.ON_DEMAND: str(FLOOR)}, start="200ms")
        )
        all_ready(ground, SIZE)
        assert made.count("web", {"app": "web"}) == SIZE
        yield made


def waiting(ground: Ground) -> Sequence[dict[str, Any]]:
    """The pods without a node, all of which may go to spot alone."""
    found = [pod for pod in ground.pods() if not pod["spec"].get("nodeName")]
    assert all(map(requires_spot, found))
    return found


def known(ground: Ground) -> SpotRest:
    """What is known of moves without room."""
    (lease,) = ask(ground.control_plane.cluster, List(REST)).items
    return SpotRest.of(lease, ShiftedClock().now() + timedelta(minutes=1))


def planned(ground: Ground, *where: str) -> dict[str, Any]:
    """What ``evenkeel restore`` says of the workload."""
    command = [*EVENKEEL, "restore", "--kubeconfig", str(ground.control_plane.kubeconfig)]
    text = subprocess.run(
        [*command, *where, "-o", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    ).stdout
    found = [each for each in json.loads(text)["items"] if each["subject"]["name"] == "web"]
    (row,) = found
    assert isinstance(row, dict)
    return row


def test_a_node_is_made_for_one_pod_which_goes_over_and_then_more_go(
    ground: Ground, witness: Witness
) -> None:
    row = planned(ground, "-A")
    assert (row["action"], row["reason"]) == ("release", "AboveFloor")
    assert planned(ground, "-n", ground.namespace)["reason"] == "NoRoomOnSpot"
    command = [*EVENKEEL, "restore", "-A", "--apply", "--kubeconfig"]
    restoring = subprocess.Popen(
        [*command, str(ground.control_plane.kubeconfig)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        ground.wait_for("a pod that waits for spot", lambda: waiting(ground))
        for _ in range(30):
            assert len(waiting(ground)) == 1
            assert len(ground.pods()) == SIZE + 1
        ground.add_nodes(spot=1, on_demand=0)  # it comes late
        out, err = restoring.communicate(timeout=120)
    finally:
        restoring.kill()
    assert (restoring.returncode, err) == (0, ""), out
    assert len(on_demand(all_ready(ground, SIZE))) == FLOOR
    assert witness.lowest("web") == SIZE
    assert (known(ground).failures, out.count("waits for one")) == (0, 1)


def test_where_none_comes_the_pod_goes_back_and_a_later_node_is_room(
    ground: Ground, witness: Witness
) -> None:
    before = {pod["metadata"]["uid"] for pod in ground.pods()}
    clock, patience = ShiftedClock(), timedelta(seconds=10)

    def restore() -> Restoring:
        made = Restoring(
            ground.control_plane.cluster,
            clock,
            Terms(patience=patience),
            Scope(),
            Journal(clock, lambda _: None),
        )
        made.act()
        return made

    first = restore()
    assert [each.reason for each in first.rolled_back] == ["DeadlinePassed"]
    assert {pod["metadata"]["uid"] for pod in all_ready(ground, SIZE)} == before
    clock.skip(timedelta(seconds=30))
    assert restore().moved == 0
    rest = known(ground)
    assert rest.failures == 1
    assert rest.until - rest.since == timedelta(minutes=5)
    web = ground.control_plane.get("apps/v1", "Deployment", "web", ground.namespace)
    assert names.COOLDOWN not in web["metadata"]["annotations"]

    ground.add_nodes(spot=1, on_demand=0)
    assert restore().rolled_back == []
    assert len(on_demand(all_ready(ground, SIZE))) == FLOOR
    assert witness.lowest("web") == SIZE
