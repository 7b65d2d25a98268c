"""What keeps pods off nodes, by a real scheduler and real policies: restore sees it, too."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.flows.restore.flow import RunResult
from evenkeel.model import names
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import Runs, all_ready, planned, restore, workload_of
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.manifests import resource
from tests.kit.policies import in_force, needs_mutating, sending

pytestmark = pytest.mark.controlplane

NO_FLOOR = {names.ON_DEMAND: "none"}
SPOT_TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
TEAM = {"example.com/team": "a"}


def uids(ground: Ground) -> set[str]:
    return {pod["metadata"]["uid"] for pod in ground.pods()}


def asked_of_node(ground: Ground, name: str, body: Mapping[str, Any]) -> None:
    """Change a node."""
    ground.control_plane.merge("v1", "Node", name, body)


def label(ground: Ground, *nodes: str) -> None:
    for node in nodes:
        asked_of_node(ground, f"{ground.namespace}-{node}", {"metadata": {"labels": TEAM}})


def test_a_selector_that_a_policy_adds_to_pods_counts(ground: Ground) -> None:
    needs_mutating(ground.control_plane)
    policy = sending(ground.namespace, "team", "web", TEAM)
    with in_force(ground.control_plane, ground.namespace, policy):
        ground.add_nodes(spot=0, on_demand=1)
        label(ground, "demand-0")
        ground.serve()
        ground.apply(deployment("web", 3, annotations=NO_FLOOR, start="200ms"))
        all_ready(ground, 3)
        ground.add_nodes(spot=2, on_demand=0)
        before = uids(ground)

        row = planned(ground)["web"]
        assert (row["action"], row["reason"]) == ("leave", "NoNodeTakesIt")
        assert row["message"] == (
            "no spot node takes one of its pods: its node selector example.com/team=a (2 nodes)"
        )
        assert restore(ground, "--apply").returncode == 1
        assert uids(ground) == before

        label(ground, "spot-0")
        done = restore(ground, "--apply")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert on_demand(all_ready(ground, 3)) == []
        ground.control_plane.merge(
            "apps/v1",
            "Deployment",
            "web",
            {"metadata": {"annotations": {names.ON_DEMAND: "2"}}},
            ground.namespace,
        )
        done = restore(ground, "--apply")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert len(on_demand(all_ready(ground, 3))) == 2


def test_nodes_behind_a_taint_are_not_full(ground: Ground) -> None:
    ground.add_nodes(spot=3, on_demand=1, taints=[SPOT_TAINT])
    ground.serve()
    ground.apply(
        deployment("web", 3, annotations=NO_FLOOR, start="200ms"),
        stateful_set("db", 2, start="200ms"),
    )
    all_ready(ground, 5)
    before = uids(ground)
    for done in (restore(ground, "--apply"), restore(ground, "--apply")):
        assert done.returncode == 1
        assert (
            "no spot node takes one of its pods: the taint spot=true:NoSchedule (3" in done.stdout
        )
    assert uids(ground) == before
    name = f"{ground.namespace}-spot-1"
    asked_of_node(ground, name, {"spec": {"taints": None}})
    done = restore(ground, "--apply")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert {
        pod["spec"]["nodeName"] for pod in ground.pods() if "web" in pod["metadata"]["name"]
    } == {name}


def left(outcome: RunResult) -> dict[str, str]:
    """What restore says of workloads that it leaves."""
    return {workload_of(each): each.message for each in outcome.plan.left}


def test_what_waits_for_something_else_than_room_is_left_and_what_waits_for_room_goes(
    ground: Ground,
) -> None:
    ground.add_nodes(spot=1, on_demand=0)
    ground.serve()
    notes = {names.ON_DEMAND: "all"}
    unbound = resource(
        "PersistentVolumeClaim",
        "data",
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    )
    source = {"persistentVolumeClaim": {"claimName": "data"}}
    ground.apply(
        unbound,
        deployment("room", 1, annotations=notes, start="200ms"),
        deployment("gated", 1, annotations=notes, schedulingGates=[{"name": "example.com/quota"}]),
        deployment("claim", 1, annotations=notes, volumes=[{"name": "data", **source}]),
        deployment("disk", 1, annotations=notes, nodeSelector={"disk": "ssd"}),
    )

    def all_told() -> bool:
        pods = ground.pods()
        return len(pods) == 4 and all(
            any(each["type"] == "PodScheduled" for each in pod["status"].get("conditions", ()))
            for pod in pods
        )

    ground.wait_for("what the scheduler says", all_told)
    run = Runs(ground)
    run.clock.skip(timedelta(minutes=6))
    outcome = run()
    assert [(workload_of(each.decision), each.decision.reason) for each in outcome.done] == [
        ("room", "FloorRelaxed")
    ]
    told = left(outcome)
    assert "(Scheduling is blocked due to non-empty scheduling gates)" in told["gated"]
    assert "pod has unbound immediate PersistentVolumeClaims" in told["claim"]
    assert (
        "no spot node takes one of its floor: its node selector disk=ssd (1 node)" in told["disk"]
    )
