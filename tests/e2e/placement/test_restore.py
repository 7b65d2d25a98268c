"""``evenkeel restore`` as a person runs it, on the real API server with the real scheduler."""

import json
import subprocess
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope
from evenkeel.model.decision import Verb
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.poll.in_process import InProcessQueue
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.webhook import EVENKEEL, Ground, on_demand
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane

ON_DEMAND = "evenkeel.dev/on-demand"


def restore(ground: Ground, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command about the ground's namespace."""
    return subprocess.run(
        [
            *(*EVENKEEL, "restore", "--kubeconfig", str(ground.control_plane.kubeconfig)),
            *("-n", ground.namespace, *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=ROOT,
    )


def planned(ground: Ground) -> dict[str, Any]:
    """What the command says of each workload, by its name."""
    items = json.loads(restore(ground, "-o", "json").stdout)["items"]
    return {each["subject"]["name"]: each for each in items}


def all_ready(ground: Ground, number: int, *, nowhere: str = "?") -> list[dict[str, Any]]:
    """The pods, once there are so many, all Ready, and none on a node with ``nowhere`` in its name.

    The pods of a node that is gone are Ready until they are found.
    """

    def look() -> list[dict[str, Any]] | None:
        pods = ground.pods()
        ready = [
            pod
            for pod in pods
            for condition in pod.get("status", {}).get("conditions", ())
            if (condition["type"], condition["status"]) == ("Ready", "True")
        ]
        there = any(nowhere in pod["spec"].get("nodeName", "") for pod in pods)
        return pods if len(ready) == len(pods) == number and not there else None

    return ground.wait_for(f"{number} ready pods", look)


def test_what_a_dead_webhook_missed_is_repaired(ground: Ground) -> None:
    ground.add_nodes(spot=3, on_demand=2)
    ground.serve()
    ground.apply(deployment("web", 3, annotations={ON_DEMAND: "50%"}, start="200ms"))
    assert len(on_demand(ground.settled(3))) == 2
    ground.scale("Deployment", "web", 10)
    ground.wait_for("some more pods", lambda: len(ground.pods()) > 4)
    ground.webhooks[0].kill()
    before = all_ready(ground, 10)
    short = 5 - len(on_demand(before))
    ground.unserve()
    ground.serve()

    row = planned(ground)["web"]
    assert (row["action"], row["reason"]) == (
        ("release", "FloorMissing" if short > 0 else "AboveFloor")
        if short
        else ("leave", "AsWanted")
    )
    assert {pod["metadata"]["uid"] for pod in ground.pods()} == {
        pod["metadata"]["uid"] for pod in before
    }

    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(on_demand(all_ready(ground, 10))) == 5
    assert f"{abs(short)} pod" in done.stdout
    assert planned(ground)["web"]["reason"] == "AsWanted"


def test_floors_stand_when_all_spot_dies_and_the_ratios_come_back_with_it(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=3)
    ground.serve()
    ground.apply(deployment("web", 5, annotations={ON_DEMAND: "2"}, start="200ms"))
    ground.apply(stateful_set("db", 3))
    assert len(on_demand(all_ready(ground, 8))) == 2 + 2

    for number in range(2):
        ground.control_plane.delete_node(f"{ground.namespace}-spot-{number}")
    assert len(on_demand(ground.pods())) >= 4
    assert len(on_demand(all_ready(ground, 8, nowhere="-spot-"))) == 8

    ground.add_nodes(spot=2, on_demand=0)
    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    pods = all_ready(ground, 8)
    assert len(on_demand(pods)) == 4
    reasons = [line.split() for line in done.stdout.splitlines()]
    assert sum("AboveFloor:" in words for words in reasons) == 4


def run_once(ground: Ground, clock: ShiftedClock, terms: Terms) -> set[tuple[str, Verb]]:
    """One run of the restore function's flow; what it did, and to which workload."""
    recorder, wake_ups = InMemoryRecorder(), InProcessQueue(clock, "wake-ups")
    scope = Scope(ground.namespace)
    cluster = ground.control_plane.cluster
    flow = RestoreFlow(terms, scope, cluster, wake_ups, clock, recorder, acts=True)
    done = [step.decision for step in flow.run().done]
    return {((each.workload or each.subject).name, each.verb) for each in done}


def test_a_floor_without_on_demand_nodes_goes_to_spot_and_comes_back(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=0)
    ground.serve()
    ground.apply(deployment("web", 4, annotations={ON_DEMAND: "2"}, start="200ms"))

    def unscheduled() -> bool:
        conditions = [c for pod in ground.pods() for c in pod["status"].get("conditions", ())]
        refused = [c for c in conditions if (c["type"], c["status"]) == ("PodScheduled", "False")]
        return len(refused) == 2

    ground.wait_for("two pods without a node", unscheduled)
    clock, terms = ShiftedClock(), Terms(relax_after=timedelta(minutes=1))
    assert run_once(ground, clock, terms) == set()
    clock.skip(timedelta(seconds=70))
    assert run_once(ground, clock, terms) == {("web", Verb.RELAX)}
    clock.skip(timedelta(seconds=30))  # the webhook may have remembered the Deployment

    def placed() -> bool:
        assert run_once(ground, clock, terms) <= {("web", Verb.RELAX)}
        return len([pod for pod in ground.pods() if pod["spec"].get("nodeName")]) == 4

    ground.wait_for("all pods on spot", placed)
    assert on_demand(all_ready(ground, 4)) == []

    ground.add_nodes(spot=0, on_demand=1)
    assert run_once(ground, clock, terms) == {("web", Verb.HOLD)}
    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(on_demand(all_ready(ground, 4))) == 2
